// From what was selected in a panel to the expression of the next one.

import { exactText, unitOf } from "../units/amount";
import { parts, testedDimension, text, value } from "./syntax";

/** A part of a picture that somebody pointed at. */
export interface Selection {
  /**
   * Seconds since the run's start; from the end of the interval before to the end of the last, or,
   * if `exact`, just the bounds themselves: they were typed, or columns are shorter than intervals.
   */
  time: { from: number; to: number; exact?: boolean } | null;
  /** Numbers, from and up to but without. */
  numbers: { dimension: string; unit: string; from: number; to: number } | null;
  /** One word for each of these dimensions. */
  words: { dimension: string; word: string }[];
}

export const NOTHING: Selection = { time: null, numbers: null, words: [] };

/** Whether anything is selected. */
export function isEmpty(s: Selection): boolean {
  return s.time === null && s.numbers === null && s.words.length === 0;
}

/** The number with the fewest decimals between two. */
export function roundestBetween(low: number, high: number): number {
  for (let decimals = 0; decimals <= 9; decimals++) {
    const step = 10 ** -decimals;
    const candidate = Math.ceil(low / step) * step;
    if (candidate <= high) return Number(candidate.toFixed(decimals));
  }
  return (low + high) / 2;
}

/** Shares of an interval after its due end within which a bound is put. */
const AFTER = [0.05, 0.12] as const;

/**
 * The predicate of a stretch of time. It takes the intervals that end after `from`, up to the one
 * that ends at `to`. Samples are due at those times and taken a little later, so each bound lies
 * some time after one; not much, for where single events are asked for it is their time that counts.
 */
export function timePredicate(from: number, to: number, every: number): string {
  const bound = (end: number): number => roundestBetween(end + every * AFTER[0], end + every * AFTER[1]);
  return timeRange(from <= 0 ? 0 : bound(from), bound(to));
}

function timeRange(from: number, to: number): string {
  return `time in ${trim(from)}s..${trim(to)}s`;
}

function trim(seconds: number): string {
  return String(Number(seconds.toFixed(9)));
}

/** The predicates of a selection, in the order time last. */
export function predicates(s: Selection, every: number | null): string[] {
  const found = s.words.map(({ dimension, word }) => `${dimension} = ${value(word)}`);
  if (s.numbers) {
    const { dimension, unit } = s.numbers;
    const base = unitOf(unit).base;
    // A cell has its lower edge, but not its upper one, so `in a..b` would be one too much.
    if (Number.isFinite(s.numbers.from)) {
      found.push(`${dimension} >= ${exactText(s.numbers.from, base)}`);
    }
    if (Number.isFinite(s.numbers.to)) found.push(`${dimension} < ${exactText(s.numbers.to, base)}`);
  }
  if (s.time && (s.time.exact || !every)) found.push(timeRange(s.time.from, s.time.to));
  else if (s.time && every) found.push(timePredicate(s.time.from, s.time.to, every));
  return found;
}

/**
 * The expression that breaks just the selection down by `by`. Older predicates stay, but for
 * those that a new one of the same dimension narrows; `null` if `expr` cannot be read.
 */
export function drill(expr: string, s: Selection, by: string[], every: number | null): string | null {
  const old = parts(expr);
  if (!old) return null;
  return text({ ...old, by, where: narrowed(old.where, s, every) });
}

/** What to keep of `where`, with the selection added. */
export function narrowed(where: string[], s: Selection, every: number | null): string[] {
  const replaced = new Set<string>(s.words.map((w) => w.dimension));
  if (s.numbers) replaced.add(s.numbers.dimension);
  // A time that was chosen before still holds: both are kept, and both must.
  const kept = where.filter((predicate) => !replaced.has(testedDimension(predicate)));
  return [...kept, ...predicates(s, every)];
}

/** Dimensions that the next panel may be broken down by: all but those that are fixed already. */
export function choices(expr: string, s: Selection, dimensions: string[]): string[] {
  const fixed = new Set(s.words.map((w) => w.dimension));
  for (const predicate of parts(expr)?.where ?? []) {
    if (/^[\p{L}\p{N}_-]+\s*==?\s/u.test(predicate)) fixed.add(testedDimension(predicate));
  }
  return dimensions.filter((dimension) => !fixed.has(dimension));
}

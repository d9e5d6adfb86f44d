// Which times an expression keeps: what it leaves out was observed, and is no gap.

import type { Stretch } from "../api/types";
import { parseAmount } from "../units/amount";
import { parts } from "./syntax";

/** The predicate in its dimension, operator and values. */
const PREDICATE = /^(time|phase)\s*(<=|>=|<|>|==?|\bin\b)\s*(.+)$/u;
const VALUES = /"(?:[^"]|"")*"|'(?:[^']|'')*'|[^,\s][^,]*/g;

/** A value without its quotes. */
function word(value: string): string {
  const quote = value[0];
  if (value.length < 2 || (quote !== '"' && quote !== "'") || !value.endsWith(quote)) return value;
  return value.slice(1, -1).replaceAll(quote + quote, quote);
}

/** The stretches that a predicate keeps; `null` if it tests no time, or in another way. */
function stretches(predicate: string, phases: readonly (Stretch & { name: string })[]): Stretch[] | null {
  const [, dimension, operator, written] = PREDICATE.exec(predicate) ?? [];
  if (!dimension || !operator || !written) return null;
  const values = (written.match(VALUES) ?? []).map((value) => word(value.trim()));
  const isList = operator === "in" || operator.startsWith("=");
  if (dimension === "phase") return isList ? phases.filter((phase) => values.includes(phase.name)) : null;
  const ends = (isList ? values : values.slice(0, 1)).map((value) => {
    const [low, high] = isList ? value.split("..") : operator.startsWith(">") ? [value, ""] : ["", value];
    return { from: low ? parseAmount(low) : -Infinity, to: high ? parseAmount(high) : high === undefined ? null : Infinity };
  });
  return ends.every((end): end is Stretch => end.from !== null && end.to !== null) ? ends : null;
}

/**
 * Whether an expression keeps intervals of a column. An interval is kept by its end, so that one
 * which begins just before the end of a stretch is not. Seconds since the run's start.
 */
export function keeps(expr: string, phases: readonly (Stretch & { name: string })[], every: number): (from: number, to: number) => boolean {
  const tests = (parts(expr)?.where ?? []).flatMap((predicate) => {
    const found = stretches(predicate, phases);
    return found ? [found] : [];
  });
  return (from, to) => {
    const first = from + Math.min(every, to - from) / 2;
    return tests.every((kept) => kept.some((stretch) => to > stretch.from && first < stretch.to));
  };
}

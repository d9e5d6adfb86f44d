// The rows of a legend and the lines of a plot, made of answers.

import type { Answer, Group, Maybe, Run } from "../api/types";
import { middles, steps } from "../plot/columns";
import type { Line } from "../plot/lines";
import { otherColour, seriesColour, seriesDash } from "../plot/palette";
import { unitOf } from "../units/amount";
import type { Unit } from "../units/amount";
import type { Panel } from "../sheet/worksheet";

/** One group of one run, as the legend tells it. */
export interface Row {
  /** What tells it from all others in this panel, also when more or fewer groups are left over. */
  id: string;
  label: string;
  /** The groups' values, by dimension, for drilling down; empty for the rest. */
  words: { dimension: string; word: string }[];
  run: Run;
  other: boolean;
  /** How many groups it stands for. */
  count: number;
  total: Maybe;
  mean: Maybe;
  max: Maybe;
  line: Line | null;
  right: boolean;
  unit: Unit;
  bucket: number;
}

/** The name of a group: its words, or the statistic itself. */
function labelOf(group: Group, answer: Answer): string {
  if (group.label) return group.label;
  return group.key.length > 0 ? group.key.join(" ") : (answer.expr.split(/\s/)[0] ?? answer.expr);
}

/** Legend rows of answers, the first answer's first. */
export function rowsOf(answers: Answer[], runs: Run[], zero: (run: Run) => number, dark: boolean, right: boolean, before: number): Row[] {
  // The same group has the same colour in each run.
  const places = new Map<string, number>();
  return answers.flatMap((answer, i) => {
    const run = runs[i]!;
    // Columns end at round times; the run begins and ends within the first and last.
    const ends = (answer.times ?? []).map((t) => Math.min(t, run.seconds) - zero(run));
    const from = Math.max(0, answer.from) - zero(run);
    const at = middles(ends, from, answer.bucket);
    const edges = steps(ends, from, answer.bucket);
    const prefix = (right ? "→ " : "") + (runs.length > 1 ? `${run.id} · ` : "");
    const unit = unitOf(answer.value_unit);
    const make = (label: string, colour: string, dash: number[], series: Group["series"] | null): Line | null =>
      series && { label: prefix + label, colour, dash, at, steps: edges, mean: series.mean, min: series.min, max: series.max, right, weight: series.weight };
    const rows: Row[] = (answer.groups ?? []).map((group) => {
      const label = labelOf(group, answer);
      const place = places.get(label) ?? places.set(label, places.size).get(label)!;
      const dash = i > 0 ? seriesDash(8 * i) : seriesDash(place + before);
      return {
        id: prefix + label,
        label: prefix + label,
        words: answer.key.map(({ dimension }, k) => ({ dimension, word: group.key[k] ?? "" })),
        run,
        other: false,
        count: 1,
        total: group.total,
        mean: group.mean,
        max: group.max,
        line: make(label, seriesColour(place + before, dark), dash, group.series),
        right,
        unit,
        bucket: answer.bucket,
      };
    });
    const others = answer.others;
    if (others && others.count > 0) {
      // Of gauges and ratios the rest has no sum: it is only counted.
      const mean = others.series?.mean ?? null;
      const series = mean && { mean, min: others.series?.min ?? mean, max: others.series?.max ?? mean };
      rows.push({
        id: `${prefix}other ()`,
        label: `${prefix}other (${others.count})`,
        words: [],
        run,
        other: true,
        count: others.count,
        total: others.total ?? null,
        mean: others.mean ?? null,
        max: series ? greatest(series.max) : null,
        line: make("other", otherColour(dark), i > 0 ? seriesDash(8 * i) : [], series),
        right,
        unit,
        bucket: answer.bucket,
      });
    }
    return rows;
  });
}

function greatest(values: Maybe[]): Maybe {
  return values.reduce<Maybe>((a, b) => (b === null ? a : a === null ? b : Math.max(a, b)), null);
}

/** Whether a row is drawn. Something isolated that is no longer there hides nothing. */
export function isShown(row: Row, panel: Panel, all: Row[]): boolean {
  if (panel.isolate !== null && all.some((r) => r.id === panel.isolate)) return row.id === panel.isolate;
  return !panel.hidden.includes(row.id);
}

/** Whether a panel stacks its lines: sums of several groups do, where nobody said otherwise. */
export function isStacked(panel: Panel, answers: Answer[]): boolean {
  if (panel.kind === "stack") return answers.every((answer) => answer.kind !== "ratio" && answer.kind !== "peak");
  const only = answers.length === 1 ? answers[0]! : null;
  return panel.kind === "auto" && only?.kind === "sum" && only.key.length > 0 && (only.groups?.length ?? 0) > 1;
}

/** Seconds of the columns in which any of these rows has a number. */
function covered(rows: Row[]): number {
  const [first] = rows;
  const edges = first?.line?.steps ?? [];
  return (first?.line?.at ?? []).reduce((sum, _, i) => {
    const isKnown = rows.some((row) => (row.line?.mean[i] ?? null) !== null);
    return isKnown ? sum + edges[2 * i + 1]! - edges[2 * i]! : sum;
  }, 0);
}

/**
 * All rows as one: what the parts sum to, and that by the time they cover, of which each part may
 * have its own. `null` where a sum means nothing, as of two runs.
 */
export function wholeOf(rows: Row[], answer: Answer): { total: Maybe; mean: Maybe } | null {
  const oneRun = rows.every((row) => row.run === rows[0]?.run);
  if (answer.kind !== "sum" || rows.length < 2 || !oneRun) return null;
  const add = (values: Maybe[]): Maybe => (values.some((v) => v === null) ? null : values.reduce<number>((a, b) => a + b!, 0));
  const total = add(rows.map((row) => row.total));
  // Mostly all parts were observed together: then that is known exactly.
  const each = rows.flatMap((row) => (row.total && row.mean ? [row.total / row.mean] : []));
  const [least, most] = [Math.min(...each), Math.max(...each)];
  const seconds = each.length > 0 && most - least <= 1e-6 * most ? most : covered(rows);
  return { total, mean: total !== null && seconds > 0 ? total / seconds : null };
}

// Answers that a report carries, cut to what is visible and merged to what the pixels can show.
// What cannot be told exactly from the columns of the answer becomes "not known".

import type { Answer, Fold, Group, Heat, Maybe, Quantiles, Series } from "./types";

/** Columns that are merged into one, and how long each of them is. */
interface Bin {
  columns: number[];
  seconds: number[];
  end: number;
}

/**
 * Takes the columns with these edges that lie in a stretch, whole as the server does (a part of one
 * would be a guess), and merges them to at most `width` bins. The run ends at `end`.
 */
export function bins(edges: readonly number[], from: number, to: number, width: number, end = Infinity): Bin[] {
  const seen: { column: number; seconds: number; end: number }[] = [];
  for (let i = 0; i + 1 < edges.length; i++) {
    const overlap = Math.min(edges[i + 1]!, to) - Math.max(edges[i]!, from);
    const seconds = Math.min(edges[i + 1]!, end) - Math.max(edges[i]!, 0);
    if (overlap > 1e-9 && seconds > 0) seen.push({ column: i, seconds, end: edges[i + 1]! });
  }
  const each = Math.max(1, Math.ceil(seen.length / Math.max(width, 1)));
  const found: Bin[] = [];
  for (let i = 0; i < seen.length; i += each) {
    const part = seen.slice(i, i + each);
    found.push({
      columns: part.map((p) => p.column),
      seconds: part.map((p) => p.seconds),
      end: part[part.length - 1]!.end,
    });
  }
  return found;
}

/** What a column counts for in a mean: its time; of a ratio what it was divided by. */
function weightOf(series: Series, column: number, seconds: number): number {
  return series.weight ? (series.weight[column] ?? 0) : seconds;
}

/** The value of a bin: its mean, least and greatest; `null` where all of it is a gap. */
export function mergeSeries(series: Series, all: Bin[]): Series {
  const merged: Series = { mean: [], min: [], max: [], ...(series.weight ? { weight: [] } : {}) };
  for (const bin of all) {
    let sum = 0;
    let weights = 0;
    let min: Maybe = null;
    let max: Maybe = null;
    bin.columns.forEach((column, i) => {
      const mean = series.mean[column] ?? null;
      if (mean === null) return;
      const weight = weightOf(series, column, bin.seconds[i]!);
      sum += mean * weight;
      weights += weight;
      const low = series.min[column] ?? mean;
      const high = series.max[column] ?? mean;
      min = min === null ? low : Math.min(min, low);
      max = max === null ? high : Math.max(max, high);
    });
    merged.mean.push(weights > 0 ? sum / weights : null);
    merged.weight?.push(weights);
    merged.min.push(min);
    merged.max.push(max);
  }
  return merged;
}

/** Sums of a series over what is visible: amount, mean, least, greatest. */
export function sums(series: Series, all: Bin[], kind: Answer["kind"]): Pick<Group, "total" | "mean" | "min" | "max"> {
  let total = 0;
  let weights = 0;
  for (const bin of all) {
    bin.columns.forEach((column, i) => {
      const mean = series.mean[column] ?? null;
      if (mean === null) return;
      const weight = weightOf(series, column, bin.seconds[i]!);
      total += mean * weight;
      weights += weight;
    });
  }
  const merged = mergeSeries(series, all);
  const known = (list: Maybe[]): number[] => list.filter((v): v is number => v !== null);
  const none = weights === 0;
  return {
    total: kind === "sum" && !none ? total : null,
    // A ratio's mean is a ratio of sums: without what it was divided by it is not known.
    mean: none || kind === "peak" || (kind === "ratio" && !series.weight) ? null : total / weights,
    min: none ? null : known(merged.min).reduce((a, b) => Math.min(a, b), Infinity),
    max: none ? null : known(merged.max).reduce((a, b) => Math.max(a, b), -Infinity),
  };
}

/** The edges of an answer's columns, from their ends. */
export function edgesOf(answer: Answer): number[] {
  const times = answer.times ?? [];
  const first = times[0];
  return first === undefined ? [] : [Math.max(answer.from, first - answer.bucket), ...times];
}

const UNKNOWN: Quantiles = {
  events: null,
  min: null,
  p50: null,
  p90: null,
  p99: null,
  "p99.9": null,
  max: null,
  mean: null,
};

function resampleHeat(heat: Heat, all: Bin[]): Heat {
  const width = heat.times.length - 1;
  const rows = heat.edges.length - 1;
  const cells: Maybe[] = [];
  let total = 0;
  let greatest = 0;
  for (let row = 0; row < rows; row++) {
    for (const bin of all) {
      let sum: Maybe = null;
      for (const column of bin.columns) {
        const cell = heat.cells[row * width + column] ?? null;
        if (cell !== null) sum = (sum ?? 0) + cell;
      }
      cells.push(sum);
      total += sum ?? 0;
      greatest = Math.max(greatest, sum ?? 0);
    }
  }
  const first = all[0] ? heat.times[all[0].columns[0]!]! : 0;
  return { ...heat, times: [first, ...all.map((bin) => bin.end)], cells, total, greatest };
}

function foldOf(heat: Heat): Fold {
  const width = heat.times.length - 1;
  const amounts = heat.edges.slice(0, -1).map((_, row) => {
    let sum = 0;
    for (let c = 0; c < width; c++) sum += heat.cells[row * width + c] ?? 0;
    return sum;
  });
  return { edges: heat.edges, amounts, quantiles: UNKNOWN };
}

/** An answer over a part of its time, with at most `width` columns. The run ends at `end`. */
export function resample(answer: Answer, from: number, to: number, width: number, end = Infinity): Answer {
  const whole = from <= answer.from + 1e-6 && to >= answer.to - 1e-6;
  if (answer.shape === "heat" && answer.heat) {
    const all = bins(answer.heat.times, from, to, width, end);
    const heat = resampleHeat(answer.heat, all);
    if (whole) return { ...answer, heat: { ...answer.heat, ...heat } };
    return { ...answer, ...stretch(answer.heat.times, all), heat, fold: foldOf(heat), caveat: partial(answer) };
  }
  const edges = edgesOf(answer);
  const all = bins(edges, from, to, width, end);
  const groups = (answer.groups ?? []).map((group) => ({
    ...group,
    ...(whole ? {} : sums(group.series, all, answer.kind)),
    series: mergeSeries(group.series, all),
  }));
  let others = answer.others ?? null;
  const mean = others?.series?.mean;
  if (others && mean) {
    const series = { mean, min: others.series?.min ?? mean, max: others.series?.max ?? mean };
    const known = whole ? {} : sums(series, all, answer.kind);
    others = { ...others, ...known, series: mergeSeries(series, all) };
  }
  return { ...answer, ...stretch(edges, all), groups, others, times: all.map((bin) => bin.end) };
}

/** From where to where columns were taken. */
function stretch(edges: readonly number[], all: Bin[]): Partial<Pick<Answer, "from" | "to">> {
  const [first, last] = [all[0], all[all.length - 1]];
  return first && last ? { from: edges[first.columns[0]!]!, to: last.end } : {};
}

/** What is left out above a heat map is only known of the whole run. */
function partial(answer: Answer): string {
  const said = answer.caveat ? `${answer.caveat}; ` : "";
  return `${said}quantiles and what lies above are told for the whole time only`;
}

// Columns of lines as they are drawn: where each stands, stacked, smoothed.

import type { Maybe } from "../api/types";

/** The middle of each column, from the columns' ends. */
export function middles(ends: readonly number[], from: number, bucket: number): number[] {
  return ends.map((end, i) => {
    const begin = i > 0 ? Math.max(ends[i - 1]!, end - bucket * 1.5) : Math.max(from, end - bucket);
    return (begin < end ? begin + end : 2 * end) / 2;
  });
}

/** Two places a column, its begin and its end, so that a line through them has steps. */
export function steps(ends: readonly number[], from: number, bucket: number): number[] {
  return ends.flatMap((end, i) => {
    const begin = i > 0 ? Math.max(ends[i - 1]!, end - bucket * 1.5) : Math.max(from, end - bucket);
    return [Math.min(begin, end), end];
  });
}

/** Each value twice, for those places. */
export function twice(values: readonly Maybe[]): Maybe[] {
  return values.flatMap((v) => [v, v]);
}

/** Each series on those before it; a column is a gap where all of them have one. */
export function stacked(series: readonly (readonly Maybe[])[]): Maybe[][] {
  const length = series[0]?.length ?? 0;
  const gap = Array.from({ length }, (_, i) => series.every((s) => (s[i] ?? null) === null));
  const height = new Array<number>(length).fill(0);
  return series.map((s) =>
    gap.map((isGap, i) => {
      if (isGap) return null;
      height[i]! += s[i] ?? 0;
      return height[i]!;
    }),
  );
}

/**
 * The mean over `seconds` around the middle of each column, of those that are no gaps, each by its
 * length, or of ratios by `divisors`, which they were divided by; a gap stays one. `edges` are begin
 * and end of each column.
 */
export function smoothed(times: readonly number[], edges: readonly number[], values: readonly Maybe[], seconds: number, divisors?: readonly Maybe[]): Maybe[] {
  const half = seconds / 2;
  const known = (i: number): boolean => (values[i] ?? null) !== null;
  const length = (i: number): number => (divisors ? (divisors[i] ?? 0) : edges[2 * i + 1]! - edges[2 * i]!);
  const weight = (i: number): number => (known(i) ? length(i) : 0);
  const amount = (i: number): number => (values[i] ?? 0) * weight(i);
  let first = 0;
  let end = 0;
  let sum = 0;
  let weights = 0;
  return values.map((here, i) => {
    for (; end < values.length && times[end]! <= times[i]! + half; end++) {
      sum += amount(end);
      weights += weight(end);
    }
    for (; first < end && times[first]! < times[i]! - half; first++) {
      sum -= amount(first);
      weights -= weight(first);
    }
    return here === null || !(weights > 0) ? null : sum / weights;
  });
}

/** The column whose stretch holds a time, by the columns' middles; -1 if none is near. */
export function columnAt(places: readonly number[], at: number, bucket: number): number {
  let low = 0;
  let high = places.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < at) low = middle + 1;
    else high = middle;
  }
  const near = low > 0 && at - places[low - 1]! < places[low]! - at ? low - 1 : low;
  const place = places[near];
  return place !== undefined && Math.abs(place - at) <= bucket ? near : -1;
}

/** Two lists of columns as one, in order of time, for lines of several runs in one plot. */
export function joined(sets: { at: number[]; series: Maybe[][] }[]): { at: number[]; series: (Maybe | undefined)[][] } {
  const places = [...new Set(sets.flatMap((set) => set.at))].sort((a, b) => a - b);
  const index = new Map(places.map((at, i) => [at, i]));
  const series = sets.flatMap((set) =>
    set.series.map((values) => {
      // Where another run has a column this one has neither a value nor a gap.
      const row = new Array<Maybe | undefined>(places.length).fill(undefined);
      values.forEach((v, i) => (row[index.get(set.at[i]!)!] = v));
      return row;
    }),
  );
  return { at: places, series };
}

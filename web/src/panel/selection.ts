// From a place in a picture to what it selects: times on the worksheet's clock, numbers at the
// edges of buckets.

import type { Answer, Run } from "../api/types";
import { roundestBetween } from "../expr/drill";
import type { Selection } from "../expr/drill";
import { lastNotAbove } from "../plot/heat";
import type { HeatImage } from "../plot/heat";
import type { Dragged } from "../plot/timeplot";
import { roundest, unitOf } from "../units/amount";

/** Where a picture's times come from: its run, and the moment of the run that is the clock's zero. */
export interface Clock {
  run: Pick<Run, "started" | "seconds" | "every">;
  zero: number;
}

/** A heat map that was pointed at. */
export interface HeatPicture extends Clock {
  image: Pick<HeatImage, "times" | "edges" | "columns" | "ruler">;
  answer: Pick<Answer, "from" | "to" | "bucket" | "key">;
}

/** Nobody points at a time more exactly than this share of what was dragged. */
const POINTED = 0.002;

/**
 * A bound that was dragged to: the roundest number in the bucket that holds it, since nobody points
 * more exactly than that. One without an end stays without.
 */
export function roundBound(edges: readonly number[], at: number, unit: string): number {
  if (!Number.isFinite(at)) return at;
  const bucket = Math.min(Math.max(0, lastNotAbove(edges, at)), edges.length - 2);
  return roundest(edges[bucket]!, edges[bucket + 1]!, unitOf(unit).base);
}

/** Numbers widened to the edges of the buckets they lie in. */
function snapped(edges: readonly number[], from: number, to: number): [number, number] {
  const low = Math.max(0, lastNotAbove(edges, from));
  const high = edges.findIndex((edge) => edge >= to);
  return [edges[low]!, high < 0 ? Infinity : edges[Math.max(high, low + 1)]!];
}

/**
 * A stretch of the worksheet's clock. As long as an interval or longer it is widened to whole
 * intervals; in a shorter one single events count, so it stays as it is but for `slack` seconds.
 */
function stretch(from: number, to: number, { run, zero }: Clock, slack: number): NonNullable<Selection["time"]> {
  const [first, last] = [from + zero, to + zero];
  const { every } = run;
  if (every !== null && to - from >= every) return wholeSamples(first, last, every, Date.parse(run.started) / 1000, zero);
  const round = (edge: number): number => roundestBetween(edge - slack, edge + slack);
  return { from: Math.max(0, round(first)) - zero, to: round(last) - zero, exact: true };
}

/** The intervals that a stretch lies in: they end at whole multiples of their length on the wall clock. */
function wholeSamples(from: number, to: number, every: number, started: number, zero: number): NonNullable<Selection["time"]> {
  // The start is known to the millisecond.
  const slack = 0.002;
  const first = Math.floor((from + started + slack) / every) * every - started;
  const last = Math.ceil((to + started - slack) / every) * every - started;
  return { from: Math.max(0, first) - zero, to: last - zero };
}

/** The stretch that somebody dragged over lines, or that is in view. */
export function pointedStretch(from: number, to: number, clock: Clock): Selection["time"] {
  return stretch(from, to, clock, (to - from) * POINTED);
}

/** The time of a rectangle, in whole columns; none if it takes in all that the run has. */
function columnsTime(from: number, to: number, heat: HeatPicture): Selection["time"] {
  const { times, columns } = heat.image;
  const [first, end] = snapped(times, from, to);
  const last = Number.isFinite(end) ? end : times[columns]!;
  const { answer, run } = heat;
  if (first <= times[0]! && last >= times[columns]! && answer.from <= 0 && answer.to >= run.seconds) return null;
  if (run.every === null || answer.bucket >= run.every * 0.99) return { from: first, to: last };
  return stretch(first, last, heat, answer.bucket / 4);
}

/**
 * A rectangle widened to whole cells. One that was dragged to an end of the axis has no limit
 * there: what lies above the picture belongs to it.
 */
export function rectangleSelection(area: Pick<Dragged, "from" | "to" | "low" | "high">, heat: HeatPicture): Selection {
  const { edges, ruler } = heat.image;
  const key = heat.answer.key.find((k) => k.number !== null);
  const unit = key?.number ?? "count";
  const [low, high] = ruler.dragged(area.low, area.high);
  const numbers = key && { dimension: key.dimension, unit, from: roundBound(edges, low, unit), to: roundBound(edges, high, unit) };
  return { time: columnsTime(area.from, area.to, heat), numbers: numbers ?? null, words: [] };
}

/** A single cell: its own edges, as its tip tells them. */
export function cellSelection(cell: { column: number; row: number }, heat: HeatPicture): Selection {
  const { times, edges } = heat.image;
  const key = heat.answer.key.find((k) => k.number !== null);
  const numbers = key && { dimension: key.dimension, unit: key.number ?? "count", from: edges[cell.row]!, to: edges[cell.row + 1]! };
  return { time: columnsTime(times[cell.column]!, times[cell.column + 1]!, heat), numbers: numbers ?? null, words: [] };
}

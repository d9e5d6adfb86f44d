// The difference of two heat maps: both are brought onto one grid, as rates, and subtracted.

import type { Heat } from "../api/types";
import { Ruler } from "../units/ruler";

/** Amounts per second on a grid; positive where the second run has more. */
export interface Difference {
  times: number[];
  edges: number[];
  log: boolean;
  cells: Float64Array;
  /** Whether there is a number for both in each column. */
  gaps: boolean[];
  most: number;
  totals: [number, number];
}

/** How much of each bucket falls into which cells: `[cell, part]`. */
export function overlaps(
  edges: readonly number[],
  cells: readonly number[],
  place: (value: number) => number,
): [number, number][][] {
  return edges.slice(0, -1).map((edge, i) => {
    const from = place(edge);
    const to = place(edges[i + 1]!);
    const parts: [number, number][] = [];
    for (let c = 0; c + 1 < cells.length; c++) {
      const low = Math.max(from, place(cells[c]!));
      const high = Math.min(to, place(cells[c + 1]!));
      if (high > low && to > from) parts.push([c, (high - low) / (to - from)]);
    }
    return parts;
  });
}

/** Equal steps along an axis. */
function grid(ruler: Ruler, steps: number): number[] {
  return Array.from({ length: steps + 1 }, (_, i) =>
    i === 0 ? ruler.lower : i === steps ? ruler.upper : ruler.value(i / steps),
  );
}

/** A heat map spread over other cells; what is between is divided by overlap, so sums stay. */
export function spread(heat: Heat, times: number[], edges: number[], ruler: Ruler): Float64Array {
  const columns = times.length - 1;
  const result = new Float64Array(columns * (edges.length - 1));
  const across = overlaps(heat.times, times, (t) => t);
  const up = overlaps(heat.edges, edges, (v) => Math.max(0, ruler.share(v)));
  const width = heat.times.length - 1;
  for (let row = 0; row < heat.edges.length - 1; row++) {
    for (let column = 0; column < width; column++) {
      const amount = heat.cells[row * width + column] ?? 0;
      if (amount === 0) continue;
      for (const [y, partY] of up[row]!) {
        for (const [x, partX] of across[column]!) {
          result[y * columns + x]! += amount * partY * partX;
        }
      }
    }
  }
  return result;
}

/** `b` less `a`. `shift` is what to take from each one's times to bring them onto one clock. */
export function difference(a: Heat, b: Heat, shift: [number, number]): Difference {
  const [first, second] = [moved(a, shift[0]), moved(b, shift[1])];
  const ends = (list: number[]): [number, number] => [list[0]!, list[list.length - 1]!];
  const [a0, a1] = ends(first.times);
  const [b0, b1] = ends(second.times);
  const span = [Math.min(a0, b0), Math.max(a1, b1)] as const;
  const columns = Math.min(Math.max(first.times.length, second.times.length) - 1, 1000);
  const times = grid(Ruler.linear(...span), columns);
  const [ea, eb] = [ends(a.edges), ends(b.edges)];
  const all = [Math.min(ea[0], eb[0]), Math.max(ea[1], eb[1])];
  const log = a.log || b.log;
  const least = [...a.edges, ...b.edges].filter((e) => e > 0).reduce((x, y) => Math.min(x, y), Infinity);
  const ruler = log ? Ruler.log(all[0]!, all[1]!, least) : Ruler.linear(all[0]!, all[1]!);
  const edges = grid(ruler, Math.min(Math.max(a.edges.length, b.edges.length) - 1, 120));
  const before = spread(first, times, edges, ruler);
  const after = spread(second, times, edges, ruler);
  const gaps = times.slice(0, -1).map((t, i) => {
    const middle = (t + times[i + 1]!) / 2;
    return !(covers(first, middle) && covers(second, middle));
  });
  const seconds = times[1]! - times[0]!;
  const cells = after.map((amount, i) => (gaps[i % columns] ? 0 : (amount - before[i]!) / seconds));
  let most = 0;
  for (const cell of cells) most = Math.max(most, Math.abs(cell));
  return { times, edges, log, cells, gaps, most, totals: [a.total, b.total] };
}

function moved(heat: Heat, by: number): Heat {
  return { ...heat, times: heat.times.map((t) => t - by) };
}

/** Whether the heat map has a column without a gap at this time. */
function covers(heat: Heat, at: number): boolean {
  const width = heat.times.length - 1;
  const column = heat.times.findIndex((t, i) => i < width && t <= at && at < heat.times[i + 1]!);
  return column >= 0 && heat.cells[column] !== null;
}

import { describe, expect, it } from "vitest";

import type { Heat } from "../api/types";
import { Ruler } from "../units/ruler";
import { columnAt, joined, middles, smoothed, stacked, steps } from "./columns";
import { difference } from "./difference";
import { evenStretches, isEven, packed, paint, rowOfLine } from "./image";
import { heatColour } from "./palette";
import { shadesOf } from "./shades";
import { mixed, valueRange } from "./lines";

function heat(more: Partial<Heat> = {}): Heat {
  const edges = [1e-5, 1e-4, 1e-3, 1e-2];
  return {
    times: [0, 1, 2, 3, 4],
    edges,
    log: true,
    cells: [5, 0, null, 2, 50, 40, null, 60, 0, 1, null, 0],
    hidden: { amount: 0, share: 0, events: 0 },
    total: 158,
    greatest: 60,
    ...more,
  };
}

describe("palettes", () => {
  const cells = [0, null, 1, 1, 10, 100, 1000];

  it("linear grows with the amount", () => {
    const shades = shadesOf(cells, "linear");
    expect([shades.share(1000), shades.share(500), shades.share(0)]).toEqual([1, 0.5, 0]);
  });

  it("log grows with its logarithm", () => {
    const shades = shadesOf(cells, "log");
    expect([1, 10, 100, 1000].map((a) => Number(shades.share(a).toFixed(9)))).toEqual([0, 0.333333333, 0.666666667, 1]);
    expect(shades.amount(1 / 3)).toBeCloseTo(10, 9);
  });

  it("rank takes even steps, however far apart amounts are", () => {
    const shades = shadesOf([3, 3, 4, 1e9, 5], "rank");
    expect([3, 4, 5, 1e9].map((a) => shades.share(a))).toEqual([0, 1 / 3, 2 / 3, 1]);
    expect([0, 1 / 3, 2 / 3, 1].map((s) => shades.amount(s))).toEqual([3, 4, 5, 1e9]);
  });

  it("nothing, and one amount only, have colours too", () => {
    for (const palette of ["linear", "log", "rank"] as const) {
      expect(Number.isFinite(shadesOf([], palette).share(5))).toBe(true);
      expect(shadesOf([7, 7], palette).share(7)).toBe(1);
    }
  });

  it("areas are mixed with the paper, however its colour is written", () => {
    expect(mixed("#000000", "#fff", 0.5)).toBe("#808080");
    expect(mixed("#102030", "#ffffff", 1)).toBe("#102030");
  });

  it("darkens on white and lightens on black, in even steps", () => {
    const light = (share: number, dark: boolean): number => {
      const [r, g, b] = heatColour(share, dark).map((c) => (c / 255) ** 2.2) as [number, number, number];
      return 116 * Math.cbrt(0.2126 * r + 0.7152 * g + 0.0722 * b) - 16;
    };
    for (const dark of [false, true]) {
      const steps = Array.from({ length: 10 }, (_, i) => (light((i + 1) / 10, dark) - light(i / 10, dark)) * (dark ? 1 : -1));
      for (const step of steps) expect(step).toBeGreaterThan(2);
    }
  });
});

describe("the image of a heat map", () => {
  it("has the lowest row at the bottom, and nothing where nothing was", () => {
    const map = heat();
    const ruler = Ruler.forEdges(map.edges, true);
    expect(isEven(map.edges, ruler)).toBe(true);
    const lines = rowOfLine(map.edges, ruler, 400);
    expect([...lines]).toEqual([2, 1, 0]);
    const pixels = new Uint32Array(12);
    paint(pixels, map, 4, lines, () => 1, packed(() => [1, 2, 3]));
    const full = 0xff030201;
    expect([...pixels]).toEqual([0, full, 0, 0, full, full, 0, full, full, 0, 0, full]);
  });

  it("rows of uneven height keep their places", () => {
    const edges = [0, 1, 10, 100];
    const lines = rowOfLine(edges, Ruler.linear(0, 100), 100);
    expect(lines).toHaveLength(100);
    expect(lines[0]).toBe(2);
    expect(lines[95]).toBe(1);
    expect(lines[99]).toBe(0);
  });

  it("columns of one width are drawn at once", () => {
    expect(evenStretches([0, 1, 2, 3])).toEqual([{ first: 0, end: 3 }]);
    expect(evenStretches([0, 0.4, 1.4, 2.4, 2.9])).toEqual([
      { first: 0, end: 1 },
      { first: 1, end: 3 },
      { first: 3, end: 4 },
    ]);
    expect(evenStretches([])).toEqual([]);
    const ragged = [0, 3, 4, 9, 9.5, 11];
    const all = evenStretches(ragged).flatMap((s) => Array.from({ length: s.end - s.first }, (_, i) => s.first + i));
    expect(all).toEqual([0, 1, 2, 3, 4]);
  });
});

describe("the difference of two heat maps", () => {
  const sum = (cells: Iterable<number>): number => [...cells].reduce((a, b) => a + b, 0);
  const full = heat({ cells: [5, 0, 1, 2, 50, 40, 3, 60, 0, 1, 7, 0] });

  it("of a map with itself is nothing", () => {
    expect(difference(full, full, [0, 0]).most).toBeLessThan(1e-9);
  });

  it("keeps what there is more, whatever the cells", () => {
    const other = heat({ edges: [2e-5, 3e-4, 2e-3, 3e-2], times: [0, 0.8, 2.2, 3, 4], cells: full.cells.map((c) => (c ?? 0) * 3) });
    const d = difference(full, other, [0, 0]);
    const seconds = d.times[1]! - d.times[0]!;
    expect(sum(d.cells) * seconds).toBeCloseTo(sum(full.cells.map((c) => c ?? 0)) * 2, 6);
  });

  it("is a gap where one of them has one, or is not there", () => {
    const d = difference(heat(), full, [0, 0]);
    expect(d.gaps).toEqual([false, false, true, false]);
    expect(difference(full, full, [0, -2]).gaps.filter(Boolean).length).toBeGreaterThan(0);
  });
});

describe("columns of lines", () => {
  it("parts are stacked to the whole; a gap of all is a gap, a gap of one counts nothing", () => {
    expect(stacked([[1, null, 2, null], [3, 4, null, null]])).toEqual([
      [1, 0, 2, null],
      [4, 4, 2, null],
    ]);
    expect(stacked([])).toEqual([]);
  });

  it("smoothing keeps gaps, and the mean of what is steady", () => {
    const times = [0, 1, 2, 3, 4];
    const edges = times.flatMap((t) => [t - 0.5, t + 0.5]);
    expect(smoothed(times, edges, [2, 2, 2, 2, 2], 2)).toEqual([2, 2, 2, 2, 2]);
    expect(smoothed(times, edges, [0, 6, null, 6, 0], 2)).toEqual([3, 3, null, 3, 3]);
  });

  it("smoothing counts a column by its length", () => {
    expect(smoothed([0.1, 0.6], [0, 0.2, 0.2, 1], [10, 0], 4)).toEqual([2, 2]);
  });

  it("smoothing a ratio counts a column by what it was divided by", () => {
    const edges = [0, 1, 1, 2, 2, 3];
    expect(smoothed([0.5, 1.5, 2.5], edges, [1, 10, null], 4, [9, 1, null])).toEqual([1.9, 1.9, null]);
  });

  it("stand in the middle of their intervals, also after a gap", () => {
    expect(middles([1, 2, 3], 0, 1)).toEqual([0.5, 1.5, 2.5]);
    expect(middles([1, 9], 0, 1)[1]).toBeCloseTo(8.25, 9);
  });

  it("have a step each where they are wide", () => {
    expect(steps([1, 2, 3.5], 0.4, 1)).toEqual([0.4, 1, 1, 2, 2, 3.5]);
    expect(steps([1, 9], 0, 1)).toEqual([0, 1, 7.5, 9]);
  });

  it("are found by time, but not far away", () => {
    const at = [0.5, 1.5, 2.5, 9.5];
    expect([0, 0.9, 1.1, 2.6, 5, 9].map((t) => columnAt(at, t, 1))).toEqual([0, 0, 1, 2, -1, 3]);
    expect(columnAt([], 3, 1)).toBe(-1);
  });

  it("of several runs are joined without making gaps", () => {
    const { at, series } = joined([
      { at: [1, 2], series: [[10, null]] },
      { at: [1.5, 2], series: [[30, 40]] },
    ]);
    expect(at).toEqual([1, 1.5, 2]);
    expect(series).toEqual([[10, undefined, null], [undefined, 30, 40]]);
  });

  it("have zero on their axis, unless it is a log axis or means nothing", () => {
    const unit = (base: "count" | "celsius") => ({ base, rate: false });
    expect(valueRange(5, 10, false, unit("count"))[0]).toBe(0);
    expect(valueRange(-5, -1, false, unit("count"))[1]).toBe(0);
    expect(valueRange(0, 0, false, unit("count"))).toEqual([0, 1]);
    expect(valueRange(40, 60, false, unit("celsius"))).toEqual([39, 61]);
    expect(valueRange(1, 100, true, unit("count"))[0]).toBeGreaterThan(0);
  });
});

import { describe, expect, it } from "vitest";

import { predicates } from "../expr/drill";
import type { Selection } from "../expr/drill";
import { Ruler } from "../units/ruler";
import { cellSelection, pointedStretch, rectangleSelection } from "./selection";
import type { HeatPicture } from "./selection";

/** Buckets of the histogram grid: their edges are no round numbers. */
const EDGES = [8.192e-6, 3.2768e-5, 1.31072e-4, 2.35519e-4, 2.66239e-4, 2.99007e-4, 9.99423e-4, 1.398101e-1];

/** One interval a column; the run began a quarter of a second after a whole one. */
function heat(zero: number, columns = 16): HeatPicture {
  const times = Array.from({ length: columns + 1 }, (_, i) => (i === 0 ? 0 : i - 0.25) - zero);
  return {
    image: { times, edges: EDGES, columns, ruler: Ruler.forEdges(EDGES, true) },
    answer: { from: 0, to: 15.75, bucket: 1, key: [{ dimension: "latency", number: "seconds" }] },
    run: { started: "2026-11-22T15:37:03.250Z", seconds: 15.7, every: 1 },
    zero,
  };
}

/** The predicates in the run's own time, as the menu has them. */
function words(selection: Selection, { run, zero }: Pick<HeatPicture, "run" | "zero">): string[] {
  const time = selection.time && { ...selection.time, from: selection.time.from + zero, to: selection.time.to + zero };
  return predicates({ ...selection, time }, run.every);
}

describe("a click on a cell", () => {
  it("takes just that cell, each one of them", () => {
    const map = heat(0);
    for (let row = 0; row + 1 < EDGES.length; row++) {
      const { numbers, time } = cellSelection({ column: 9, row }, map);
      expect([numbers!.from, numbers!.to]).toEqual([EDGES[row], EDGES[row + 1]]);
      expect([time!.from, time!.to]).toEqual([8.75, 9.75]);
    }
    expect(words(cellSelection({ column: 9, row: 4 }, map), map)).toEqual(["latency >= 266.239us", "latency < 299.007us", "time in 8.8s..9.8s"]);
  });
});

describe("a rectangle", () => {
  it("takes the same intervals whatever runs are aligned to", () => {
    const taken = [0, 6.6180339, -2.5].map((zero) => {
      const map = { ...heat(zero), answer: { ...heat(zero).answer, bucket: 0.1 } };
      return words(rectangleSelection({ from: 9.1 - zero, to: 11.7 - zero, low: 0, high: 1 }, map), map);
    });
    expect(taken).toEqual([["time in 8.8s..11.8s"], ["time in 8.8s..11.8s"], ["time in 8.8s..11.8s"]]);
  });

  it("has no bound where it ends at an end of the axis", () => {
    const { numbers } = rectangleSelection({ from: 2, to: 3, low: 0.001, high: 0.5 }, heat(0));
    expect(numbers!.from).toBe(-Infinity);
    expect(numbers!.to).toBeGreaterThan(0);
  });
});

describe("a stretch of lines", () => {
  it("within an interval is taken as it was pointed at", () => {
    for (const [from, to] of [[3.2, 3.3], [3.2, 3.4], [8.1, 8.15]] as const) {
      for (const zero of [0, 1.5]) {
        const clock = { run: heat(0).run, zero };
        const time = pointedStretch(from - zero, to - zero, clock);
        expect(words({ time, numbers: null, words: [] }, clock)).toEqual([`time in ${from}s..${to}s`]);
      }
    }
  });

  it("of an interval and more takes the intervals it lies in", () => {
    const clock = { run: heat(0).run, zero: 0 };
    expect(words({ time: pointedStretch(3.2, 5.9, clock), numbers: null, words: [] }, clock)).toEqual(["time in 2.8s..6.8s"]);
  });
});

import { describe, expect, it } from "vitest";

import type { Loss, OwnCost, Run } from "../api/types";
import { costWords, factsOf, missingOf } from "./header";

const cost: OwnCost = { cpu_share: 0.0133, memory: 37e6, bytes_written: 0, late: 0, dropped: 0 };
const words = (loss: Partial<Loss>[]): string => costWords(cost, missingOf({ own_cost: cost, loss: loss as Loss[] }));

describe("the corner", () => {
  it("says that nothing is lost only where nothing is left out", () => {
    expect(words([])).toMatch(/^1\.33 % of a CPU · .* · nothing lost$/);
    expect(words([{ dropped: 0, weight: 2 }])).toMatch(/ · events left out$/);
    expect(words([{ dropped: 3, weight: 4 }, { dropped: 2, weight: null }])).toMatch(/ · 5 lost · events left out$/);
  });
});

describe("the line below the name", () => {
  const run = { name: "r", host: "h", seconds: 5, started: "2026-11-20T09:14:03Z", dated: true, live: true, end: "recording" } as Run;
  it("says live only while the server answers", () => {
    expect(factsOf(run, false)).toEqual(["live", expect.any(String), "recording"]);
    expect(factsOf(run, true)).toEqual(["server gone", expect.any(String)]);
    expect(factsOf({ ...run, live: false, end: "ok" }, false)).toEqual(["h", "5 s", expect.any(String), null]);
  });
});

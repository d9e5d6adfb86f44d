import { describe, expect, it } from "vitest";

import { evaluate } from "../../dev/answers";
import { address, readRefusal } from "./http";
import { ReportProvider } from "./report";
import { bins, mergeSeries, resample } from "./resample";
import type { Answer } from "./types";

const ask = { run: 0, from: 0, to: 600, width: 600, rows: 60, top: 8, outliers: 0, seconds: 600 };
const lines = evaluate({ ...ask, expr: "disk.bytes by device" });
const heat = evaluate({ ...ask, expr: "disk.ios by latency" });

describe("an answer cut and merged in the page", () => {
  it("over all of its time is as it was", () => {
    const same = resample(lines, 0, 600, 600);
    expect(same.times).toEqual(lines.times);
    expect(same.groups).toEqual(lines.groups);
    expect(resample(heat, 0, 600, 600).heat).toEqual(heat.heat);
  });

  it("merged keeps amounts, means, least and greatest", () => {
    const half = resample(lines, 0, 600, 100);
    expect(half.times).toHaveLength(100);
    lines.groups!.forEach((group, i) => {
      expect(half.groups![i]!.total).toBe(group.total);
      const greatest = (series: Answer["groups"]): number => Math.max(...series![i]!.series.max.map((v) => v ?? -Infinity));
      expect(greatest(half.groups)).toBe(greatest(lines.groups));
    });
    const cells = resample(heat, 0, 600, 100).heat!.cells.reduce<number>((a, b) => a + (b ?? 0), 0);
    expect(cells).toBe(heat.heat!.cells.reduce<number>((a, b) => a + (b ?? 0), 0));
  });

  it("of a part tells the sums of just that part, as asking for it would", () => {
    const cut = resample(lines, 100, 200, 600);
    const asked = evaluate({ ...ask, expr: "disk.bytes by device", from: 100, to: 200 });
    expect(cut.times).toEqual(asked.times);
    asked.groups!.forEach((group, i) => {
      expect(cut.groups![i]!.total).toBeCloseTo(group.total!, 3);
      expect(cut.groups![i]!.mean).toBeCloseTo(group.mean!, 3);
      expect(cut.groups![i]!.max).toBe(group.max);
    });
  });

  it("says that quantiles of a part are not known", () => {
    const cut = resample(heat, 100, 200, 600);
    expect(cut.fold!.quantiles.p99).toBeNull();
    expect(cut.caveat).toContain("whole time");
    expect(heat.fold!.quantiles.p99).not.toBeNull();
  });

  it("a ratio has no mean of a part, since means of ratios lie", () => {
    const ratio = evaluate({ ...ask, expr: "disk.mean_latency by device" });
    expect(resample(ratio, 100, 200, 600).groups![0]!.mean).toBeNull();
    expect(resample(ratio, 0, 600, 600).groups![0]!.mean).not.toBeNull();
  });

  it("a ratio that tells what it was divided by is of the sums", () => {
    const series = { mean: [1, 10, 4, null], min: [1, 10, 4, null], max: [1, 10, 4, null], weight: [9, 1, 2, null] };
    const ratio: Answer = { ...lines, kind: "ratio", from: 0, to: 8, bucket: 2, times: [2, 4, 6, 8], others: null, groups: [{ ...lines.groups![0]!, total: null, mean: 2, series }] };
    const merged = resample(ratio, 0, 8, 2).groups![0]!.series;
    expect([merged.mean, merged.weight]).toEqual([[1.9, 4], [10, 2]]);
    expect(resample(ratio, 0, 4, 9).groups![0]!.mean).toBe(1.9);
  });

  it("a column counts whole or not at all, up to the end of the run", () => {
    const counted = (from: number, to: number): number[] => bins([-1, 1, 3, 5], from, to, 9, 4.5).map((b) => b.seconds[0]!);
    expect(counted(0, 4.5)).toEqual([1, 2, 1.5]);
    expect(counted(2, 2.5)).toEqual([2]);
    expect(counted(2, 3.1)).toEqual([2, 1.5]);
  });

  it("a gap stays one", () => {
    const all = bins([0, 1, 2, 3, 4], 0, 4, 2);
    expect(mergeSeries({ mean: [null, null, 1, null], min: [null, null, 0, null], max: [null, null, 2, null] }, all)).toEqual({ mean: [null, 1], min: [null, 0], max: [null, 2] });
    expect(bins([], 0, 1, 5)).toEqual([]);
  });
});

describe("a report", () => {
  const report = new ReportProvider({ runs: [], catalog: { subjects: [], operators: [] }, answers: { "a|disk.bytes by device": lines } });

  it("answers what it carries", async () => {
    const answer = await report.evaluate({ run: "a", expr: "disk.bytes by device", from: 0, to: 300, width: 50 });
    expect(answer.times!.length).toBeLessThanOrEqual(50);
  });

  it("says what it does not", async () => {
    await expect(report.evaluate({ run: "a", expr: "cpu.time", from: 0, to: 1, width: 5 })).rejects.toMatchObject({ message: "`cpu.time` is not in this report" });
    await expect(report.events()).rejects.toMatchObject({ message: expect.stringContaining("not in this report") as string });
  });
});

describe("the server's refusals", () => {
  it("are told in its own words, with their place", () => {
    const refusal = readRefusal(400, `{"error":{"message":"no such","hint":"try","at":[3,9]}}`);
    expect([refusal.message, refusal.hint, refusal.at, refusal.unreachable]).toEqual(["no such", "try", [3, 9], false]);
  });

  it("that are no JSON are told by their status", () => {
    expect(readRefusal(502, "<html>").message).toBe("the server answered with status 502");
    expect(readRefusal(401, "").hint).toContain("sonde view");
  });

  it("addresses leave out what is undefined", () => {
    expect(address("eval", { run: "a", expr: "disk.ios where file = \"ä&b\"", scale: undefined })).toBe("/api/v1/eval?run=a&expr=disk.ios+where+file+%3D+%22%C3%A4%26b%22");
  });
});

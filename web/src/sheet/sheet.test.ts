import { describe, expect, it } from "vitest";

import type { Run } from "../api/types";
import { decode, encode } from "./address";
import { alignments, boundsOf, zeroOf } from "./clock";
import { firstSheet } from "./first";
import { within } from "./view";
import { brief, empty, MOST_PANELS, panelOf, read } from "./worksheet";

describe("the worksheet in the address", () => {
  const sheet = {
    ...empty(["a", "b"]),
    from: 1.5,
    to: 80,
    align: "phase:steady",
    panels: [
      panelOf("disk.ios by latency where file = \"/srv/ä b\"", { palette: "rank", outliers: 0, run: "a-b" }),
      panelOf("disk.bytes by device", { right: "cpu.utilisation", isolate: "sda read", hidden: ["x"], top: 32, beside: true }),
    ],
  };

  it("comes back the same, packed and plain", async () => {
    const packed = await encode(sheet);
    expect(packed).toMatch(/^w=d\.[\w-]+$/);
    expect(await decode(`#${packed}`)).toEqual(sheet);
    const plain = btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(sheet)))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    expect(await decode(`#w=j.${plain}`)).toEqual(sheet);
  });

  it("stays short, for links that are sent by mail", async () => {
    const many = { ...sheet, panels: Array.from({ length: 10 }, (_, i) => panelOf(`disk.ios by latency where device = sd${i}`)) };
    expect((await encode(many)).length).toBeLessThan(400);
  });

  it("damaged ones are none, and harm nothing", async () => {
    const good = await encode(sheet);
    for (const bad of ["", "#", "#w=", "#w=d.", "#w=j.e30", "#w=x.abc", good.slice(0, 40), `${good.slice(0, 30)}AAAA${good.slice(34)}`, "#w=j.!!"]) {
      expect(await decode(bad), bad).toBeNull();
    }
  });

  it("one that would unpack without end is refused", async () => {
    const long = { ...sheet, panels: [panelOf("x".repeat(3000000))] };
    expect(await decode(`#${await encode(long)}`)).toBeNull();
  });
});

describe("what somebody else wrote", () => {
  it("is read as far as it makes sense", () => {
    const found = read({ v: 1, runs: ["a", 3], from: 9, to: 2, panels: [{ expr: "disk.ios", kind: "pie", outliers: 0.3, palette: 7, top: -4 }, { no: 1 }, null, "x"] })!;
    expect(found.runs).toEqual(["a"]);
    expect([found.from, found.to]).toEqual([null, null]);
    expect(found.panels).toEqual([panelOf("disk.ios")]);
  });

  it("is none if it is of another version or kind", () => {
    for (const bad of [null, 3, "x", [], {}, { v: 2, panels: [] }, { v: 1 }]) expect(read(bad)).toBeNull();
  });

  it("has no more panels than a page can bear", () => {
    expect(read({ v: 1, panels: Array(1000).fill({ expr: "disk.ios" }) })?.panels).toHaveLength(MOST_PANELS);
  });

  it("hides the rest of the groups once, however many it was written to be", () => {
    const hidden = ["sda", "other (21)", "other (18)", "→ other (3)", "a · other (4)", "another (5)"];
    const found = read({ v: 1, panels: [{ expr: "disk.ios", hidden, isolate: "other (7)" }] })!.panels[0]!;
    expect(found.hidden).toEqual(["sda", "other ()", "→ other ()", "a · other ()", "another (5)"]);
    expect(found.isolate).toBe("other ()");
  });

  it("leaves out what is as usual", () => {
    expect(brief({ ...empty(["a"]), panels: [panelOf("disk.ios")] })).toMatchObject({ panels: [{ expr: "disk.ios" }] });
  });
});

describe("time", () => {
  const run = (more: Partial<Run>): Run => ({ id: "a", seconds: 100, phases: [], subjects: {}, ...more }) as unknown as Run;

  it("a view stays within what there is, and keeps its length", () => {
    const bounds = { from: 0, to: 100 };
    expect(within({ from: -10, to: 20 }, bounds)).toEqual({ from: 0, to: 30 });
    expect(within({ from: 90, to: 120 }, bounds)).toEqual({ from: 70, to: 100 });
    expect(within({ from: -50, to: 500 }, bounds)).toEqual(bounds);
    const point = within({ from: 40, to: 40 }, bounds);
    expect(point.to).toBeGreaterThan(point.from);
  });

  it("runs are brought onto one clock by their phases", () => {
    const a = run({ phases: [{ name: "steady", from: 10, to: 90 }] });
    const b = run({ id: "b", seconds: 50, phases: [{ name: "steady", from: 25, to: 50 }, { name: "end", from: 40, to: 50 }] });
    expect(alignments([a, b]).map((x) => x.value)).toEqual(["start", "phase:steady"]);
    expect([zeroOf(a, "phase:steady"), zeroOf(b, "phase:steady"), zeroOf(b, "start")]).toEqual([10, 25, 0]);
    expect(boundsOf([a, b], "phase:steady")).toEqual({ from: -25, to: 90 });
    expect(boundsOf([], "start").to).toBeGreaterThan(0);
  });

  it("a run opens with what it can answer", () => {
    const sheet = firstSheet([run({ subjects: { cpu: ["mode"], disk: ["device", "op"] } })]);
    expect(sheet.panels.map((panel) => panel.expr)).toEqual(["disk.bytes by device, op", "cpu.time by mode"]);
    expect(firstSheet([run({})]).panels).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";

import { CATALOG } from "../../dev/catalog";
import { Refusal } from "../api/provider";
import { RIGHT_AXIS } from "../plot/timeplot";
import { panelOf } from "../sheet/worksheet";
import { notDrawn, ofRight, refusalOfRight, rightOf, rightRoom } from "./secondaxis";

const right = "cpu.utilisation by mode";

describe("the second axis", () => {
  it("is drawn beside lines, and told where it is not", () => {
    const [lines, heat] = [panelOf("disk.bytes", { right }), panelOf("disk.ios by latency", { right })];
    expect([rightOf(lines, CATALOG), notDrawn(lines, CATALOG)]).toEqual([right, ""]);
    expect([rightOf(heat, CATALOG), notDrawn(heat, CATALOG)]).toEqual([null, `Only lines have a second axis: ${right} is not drawn.`]);
    expect(rightOf({ ...lines, kind: "events" }, CATALOG)).toBeNull();
    expect(refusalOfRight("disk.ios by latency", CATALOG)?.message).toContain("by latency it is a heat map");
    expect(refusalOfRight(right, CATALOG)).toBeNull();
  });

  it("is at fault itself: no word of the first expression is marked", () => {
    const found = ofRight("cpu.utilsation", new Refusal("no statistic utilsation", "did you mean utilisation?", [4, 14], 400)) as Refusal;
    expect(found).toMatchObject({ message: "second axis, `cpu.utilsation`: no statistic utilsation", hint: "did you mean utilisation?", at: null, status: 400 });
    const gone = new Refusal("the server cannot be reached");
    expect(ofRight("x.y", gone)).toBe(gone);
  });

  it("has its room in all panels, so that times line up", () => {
    expect(rightRoom([panelOf("disk.ios by latency"), panelOf("disk.bytes", { right })], CATALOG)).toBe(RIGHT_AXIS);
    expect(rightRoom([panelOf("disk.ios by latency", { right }), panelOf("disk.bytes")], CATALOG)).toBeNull();
  });
});

import { describe, expect, it } from "vitest";

import { amount, columnDigits, columnScale, digits, exactText, parseAmount, roundest, unitOf } from "./amount";
import { Ruler } from "./ruler";
import { clock, elapsed, timeStep, timeTicks } from "./time";

const bytes = unitOf("bytes");
const count = unitOf("count");
const seconds = unitOf("seconds");

describe("amounts print as everywhere in Sonde", () => {
  // The same cases as in crates/run/src/unit.rs.
  it.each([
    [0, "bytes/s", "0 B/s"],
    [4096, "bytes/s", "4.00 KiB/s"],
    [1023.9, "bytes", "1.00 KiB"],
    [0.00125, "seconds", "1.25 ms"],
    [0.73, "ratio", "73.0 %"],
    [812, "count", "812"],
    [81234, "count/s", "81.2k/s"],
    [2.5, "watts", "2.50 W"],
    [NaN, "count/s", "-"],
    [0.00002, "ratio", "0.002 %"],
    [0.000002, "ratio", "<0.001 %"],
  ])("%d %s", (value, unit, text) => expect(amount(value, unitOf(unit))).toBe(text));

  it("tells what is not known from zero", () => {
    expect(amount(null, bytes)).toBe("-");
    expect(digits(null)).toBe("-");
    expect(digits(0)).toBe("0");
  });

  it("gives a column the unit that shows most of its values", () => {
    const gib = 1073741824;
    expect(columnScale([1.5 * gib, 8192], bytes).suffix).toBe("MiB");
    expect(columnScale([1.5 * gib, 0.7 * gib], bytes).suffix).toBe("GiB");
    expect(columnScale([150 * gib, 8192], bytes).suffix).toBe("GiB");
    expect(columnScale([1.04, 0.01], seconds).suffix).toBe("ms");
    expect(columnScale([3197], count).suffix).toBe("");
    expect(columnDigits(5, columnScale([3197, 5], count), count)).toBe("5");
    expect(columnDigits(null, columnScale([1], count), count)).toBe("-");
  });
});

describe("amounts are read as they are written", () => {
  it.each([
    ["10ms", 0.01],
    ["4KiB", 4096],
    ["1GB", 1e9],
    ["1.5k", 1500],
    ["35%", 0.35],
    ["1e6", 1e6],
    ["1e3s", 1e3],
  ])("%s", (text, value) => expect(parseAmount(text)).toBeCloseTo(value, 12));
  it.each(["ms", "", "10xs", "1..2", "constructor", "3 toString"])("%j is none", (text) => expect(parseAmount(text)).toBeNull());

  it("bounds read back as exactly the same number", () => {
    for (const value of [0.01, 0.08, 0.04412408237572875, 1.5e-7, 4096, 65536, 1e15 + 1, 0.010485760, 3]) {
      for (const base of ["seconds", "bytes", "count"] as const) expect(parseAmount(exactText(value, base))).toBe(value);
    }
    expect(exactText(0.08, "seconds")).toBe("80ms");
    expect(exactText(65536, "bytes")).toBe("64KiB");
    expect(exactText(0.00025, "seconds")).toBe("250us");
  });

  it("a dragged bound is the roundest number of its bucket", () => {
    expect(roundest(0.0432, 0.0441, "seconds")).toBe(0.044);
    expect(roundest(0.8, 0.84, "seconds")).toBe(0.8);
    expect(roundest(3900, 4200, "bytes")).toBe(4096);
    expect(roundest(0.0001011, 0.0001041, "seconds")).toBeCloseTo(0.000102, 12);
    expect(roundest(5, 5, "count")).toBe(5);
    expect(roundest(-Infinity, 3, "count")).toBe(-Infinity);
    for (let i = 0; i < 2000; i++) {
      const low = 1e-6 * 1.016 ** i * 0.7;
      const found = roundest(low, low * 1.016, "seconds");
      expect(found >= low && found < low * 1.016, `${low}: ${found}`).toBe(true);
    }
  });
});

describe("axes", () => {
  const texts = (ruler: Ruler, unit: ReturnType<typeof unitOf>, wanted = 5): string[] => ruler.ticks(unit, wanted).map((tick) => tick.text);

  it("have round ticks in one unit", () => {
    expect(texts(Ruler.linear(0, 85000), unitOf("count/s"))).toEqual(["0", "20k/s", "40k/s", "60k/s", "80k/s"]);
    expect(texts(Ruler.linear(0, 0.0024), seconds)).toEqual(["0", "0.5 ms", "1.0 ms", "1.5 ms", "2.0 ms"]);
    expect(texts(Ruler.log(1e-5, 2, 1e-5), seconds, 8)).toEqual(["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]);
  });

  it("places and values are inverse, with and without a band for zero", () => {
    for (const ruler of [Ruler.linear(-5, 20), Ruler.log(1e-5, 2, 1e-5), Ruler.log(0, 4e9, 4096)]) {
      for (const share of [0, 0.03, 0.2, 0.5, 0.99, 1]) expect(ruler.share(ruler.value(share))).toBeCloseTo(share, 9);
    }
    expect(Ruler.log(0, 4e9, 4096).share(0)).toBe(0);
  });

  it("survive senseless stretches", () => {
    for (const [low, high] of [[0, 0], [5, 5], [NaN, NaN], [0, Infinity]] as const) {
      expect(Ruler.linear(low, high).ticks(bytes, 5).length).toBeLessThan(101);
    }
  });
});

describe("times", () => {
  it("read as people say them", () => {
    expect(elapsed(0, 1)).toBe("0 s");
    expect(elapsed(-0.02, 0.1)).toBe("0.0 s");
    expect(elapsed(-0.2, 0.1)).toBe("-0.2 s");
    expect(elapsed(7.25, 0.1)).toBe("7.3 s");
    expect(elapsed(59.96, 0.1)).toBe("1:00.0");
    expect(elapsed(90, 1)).toBe("1:30");
    expect(elapsed(3725, 1)).toBe("1:02:05");
    expect(elapsed(-90, 1)).toBe("-1:30");
    expect(elapsed(86400 * 2 + 3600 * 3, 60)).toBe("2 d 3 h");
  });

  it("ticks are round and not more than wanted", () => {
    expect(timeTicks(0, 600, 6)).toEqual([0, 120, 240, 360, 480, 600]);
    for (const span of [1e-4, 0.3, 7, 3600, 9e5, 4e8]) expect(span / timeStep(span, 7)).toBeLessThanOrEqual(7);
  });

  it("a start that is no date gives no clock", () => expect(clock("yesterday", 5)).toBe(""));
});

describe("a drag along an axis", () => {
  it("has no bound at an end of it", () => {
    const ruler = Ruler.log(1e-5, 0.14, 1e-5);
    expect(ruler.dragged(0, 1)).toEqual([-Infinity, Infinity]);
    expect(ruler.dragged(0.25, 0.75)).toEqual([ruler.value(0.25), ruler.value(0.75)]);
  });
});

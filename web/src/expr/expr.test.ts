import { describe, expect, it } from "vitest";

import { CATALOG } from "../../dev/catalog";
import { complete } from "./complete";
import { choices, drill, NOTHING, predicates, timePredicate } from "./drill";
import type { Selection } from "./drill";
import { keeps } from "./kept";
import { parts, text, tokens, value } from "./syntax";

describe("an expression is taken apart", () => {
  it("and put together again", () => {
    for (const expr of [
      "disk.bytes",
      "disk.bytes by device, op",
      "disk.ios by latency where device = sda and op in read, write",
      `file.opens by path where process = "a b, c" and path ~ "^/srv and more"`,
      "other.iostat.%util by instance where time in 10s..40s",
    ]) {
      expect(text(parts(expr)!)).toBe(expr);
    }
  });

  it("keeps `and` and `where` within quotes", () => {
    const found = parts(`file.ops where file = "x where y and ""z""" and op = read`)!;
    expect(found.where).toEqual([`file = "x where y and ""z"""`, "op = read"]);
  });

  it("reads as much of a bad one as is there", () => {
    expect(parts("")).toBeNull();
    expect(parts("disk")).toBeNull();
    expect(parts("disk.bytes where file = \"never closed")?.where).toHaveLength(1);
    expect(parts("disk.bytes by")?.by).toEqual([]);
  });

  it("covers every character that is no blank", () => {
    for (const expr of ["disk.ios by latency where latency>=10ms", "((( ..,, == \"", "a.b where c in 1..2, 3"]) {
      const covered = tokens(expr).map((t) => t.text).join("");
      expect(covered).toBe(tokens(expr).some((t) => t.text.includes(" ")) ? covered : expr.replaceAll(" ", ""));
    }
  });

  it("puts words in quotes where they need them", () => {
    expect(value("sda")).toBe("sda");
    expect(value("(other)")).toBe("(other)");
    expect(value(`a "b" c`)).toBe(`"a ""b"" c"`);
    expect(value("")).toBe(`""`);
    expect(value("1..2")).toBe(`"1..2"`);
  });
});

describe("drilling down", () => {
  const selection: Selection = {
    time: { from: 11.727, to: 40.727 },
    numbers: { dimension: "latency", unit: "seconds", from: 0.01, to: 0.08 },
    words: [],
  };

  it("keeps just what was selected", () => {
    expect(drill("disk.ios by latency where device = sda", selection, ["process"], 1)).toBe(
      "disk.ios by process where device = sda and latency >= 10ms and latency < 80ms and time in 11.8s..40.8s",
    );
  });

  it("a range that has no end has no predicate there", () => {
    const open: Selection = { ...NOTHING, numbers: { dimension: "latency", unit: "seconds", from: 0.04, to: Infinity } };
    expect(predicates(open, 1)).toEqual(["latency >= 40ms"]);
    expect(predicates({ ...open, numbers: { ...open.numbers!, from: -Infinity } }, 1)).toEqual([]);
  });

  it("a second selection of numbers replaces the first, one of time adds to it", () => {
    const expr = "disk.ios by latency where latency >= 1ms and time in 5s..90s";
    expect(drill(expr, selection, ["file"], 1)).toBe("disk.ios by file where time in 5s..90s and latency >= 10ms and latency < 80ms and time in 11.8s..40.8s");
  });

  it("time bounds take just the intervals that end in the stretch", () => {
    for (const [first, every] of [[0.273, 1], [0, 1], [0.0421, 0.1], [7.9, 10], [0.340869893, 0.01]] as const) {
      const due = Array.from({ length: 60 }, (_, i) => first + (i + 1) * every);
      // Samples are taken a little late.
      const ends = due.map((end, i) => end + every * 0.04 * ((i % 7) / 7));
      const [from, to] = [due[9]!, due[29]!];
      const [low, high] = /in (.+)s\.\.(.+)s$/.exec(timePredicate(from, to, every))!.slice(1).map(Number) as [number, number];
      expect(ends.filter((end) => end >= low && end <= high)).toEqual(ends.slice(10, 30));
    }
  });

  it("words are quoted, and fixed dimensions are not offered again", () => {
    const words: Selection = { ...NOTHING, words: [{ dimension: "file", word: "/srv/my file" }] };
    expect(drill("disk.bytes by file", words, ["process"], null)).toBe(`disk.bytes by process where file = "/srv/my file"`);
    expect(choices("disk.bytes by file where device = sda", words, ["device", "file", "op"])).toEqual(["op"]);
  });

  it("what cannot be read is not drilled into", () => expect(drill("nonsense", selection, ["op"], 1)).toBeNull());
});

describe("times that an expression keeps", () => {
  const phases = [{ name: "warm", from: 0, to: 4 }, { name: "a, b", from: 6, to: 9 }];
  /** Of ten intervals of a second, the ends of those that are kept. */
  const ends = (where: string): number[] => {
    const kept = keeps(`disk.ios by latency where ${where}`, phases, 1);
    return Array.from({ length: 10 }, (_, i) => i + 1).filter((end) => kept(end - 1, end));
  };
  const all = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

  it("are those of its predicates, all of them", () => {
    expect(ends("time in 2.05s..4.05s")).toEqual([3, 4]);
    expect(ends("time in 0..1.1s, 8.1s..9.1s")).toEqual([1, 9]);
    expect(ends("time >= 8.05s and op = read")).toEqual([9, 10]);
    expect(ends("time < 2.1s")).toEqual([1, 2]);
    expect(ends(`phase = "a, b"`)).toEqual([7, 8, 9]);
    expect(ends(`phase in warm, "a, b" and time in 3.1s..7.1s`)).toEqual([4, 7]);
  });

  it("are all where it tests none, or as is not known here", () => {
    for (const where of ["op = read", "phase != warm", "time in x..y", "timeout in 1s..2s"]) expect(ends(where), where).toEqual(all);
  });
});

describe("completion", () => {
  const run = null;
  const at = (expr: string): string[] => complete(expr, expr.length, CATALOG, run).map((s) => s.text);

  it("follows the language", () => {
    expect(at("")).toContain("disk.");
    expect(at("di")).toEqual(["disk."]);
    expect(at("disk.")).toContain("mean_latency");
    expect(at("disk.by")[0]).toBe("bytes");
    expect(at("disk.bytes ")).toEqual(["by", "where"]);
    expect(at("disk.bytes by de")[0]).toBe("device");
    expect(at("disk.bytes by device, o")).toContain("op");
    expect(at("disk.bytes by device ")).toEqual(["where"]);
    expect(at("disk.bytes where ")).toContain("latency");
    expect(at("disk.bytes where latency ")).toContain(">=");
    expect(at("disk.bytes where latency > 1ms ")).toEqual(["and"]);
    expect(at("disk.bytes where op = ")).toEqual([]);
  });

  it("replaces just the word at the cursor", () => {
    const [first] = complete("disk.by by device", 7, CATALOG, run);
    expect([first!.from, first!.to, first!.text]).toEqual([5, 7, "bytes"]);
  });

  it("puts what the run does not have last, and says so", () => {
    const known = { subjects: { disk: ["device"] } } as never;
    const found = complete("disk.bytes by ", 14, CATALOG, known);
    // Time is the axis of all: nothing is broken down by it.
    expect(found.map((s) => s.text)).not.toContain("time");
    expect(complete("disk.bytes where ", 17, CATALOG, known).map((s) => s.text)).toContain("time");
    expect(found[0]).toMatchObject({ text: "device", known: true });
    expect(found.find((s) => s.text === "file")?.known).toBe(false);
  });
});

import { describe, expect, it } from "vitest";

import { evaluate } from "../../dev/answers";
import { CATALOG } from "../../dev/catalog";
import type { Provider } from "../api/provider";
import type { Answer, Group, Maybe, Run } from "../api/types";
import { NOTHING } from "../expr/drill";
import { Page } from "../page";
import { difference } from "../plot/difference";
import type { Store } from "../sheet/store";
import { View } from "../sheet/view";
import { empty, panelOf } from "../sheet/worksheet";
import { linesOf } from "../chrome/output";
import { runOfNext } from "./drillmenu";
import { eventsQuestion, numbersFirst, sorted } from "./events";
import { percent } from "./heatlegend";
import { numberDimension, questionOf, runsToAsk } from "./load";
import type { Loaded } from "./load";
import type { Shown } from "./picture";
import { countedWords } from "./counted";
import { isShown, isStacked, rowsOf, wholeOf } from "./rows";
import { canSmooth, smoothWords } from "./smooth";
import { bucketTable, csv, field, stepOf, tableOf } from "./table";
import { levelled, shortName } from "./tree";

const ask = { run: 0, from: 0, to: 600, width: 300, rows: 60, top: 8, outliers: 0, seconds: 600 };
const run = { id: "a", name: "a", seconds: 600, every: 1 } as Run;
const other = { ...run, id: "b", name: "b" };
const rows = (answers: Answer[], runs = [run]) => rowsOf(answers, runs, () => 0, false, false, 0);

describe("a legend", () => {
  const answer = evaluate({ ...ask, expr: "disk.bytes by process" });

  it("has parts that sum to the whole, `other` with them", () => {
    const found = rows([answer]);
    const whole = evaluate({ ...ask, expr: "disk.bytes" }).groups![0]!;
    expect(found.at(-1)!.label).toBe("other (34)");
    const sum = wholeOf(found, answer)!;
    // The made-up processes differ in their waves, so that the whole is near, the sum exact.
    const parts = [...answer.groups!.map((g) => g.total!), answer.others!.total!].reduce((a, b) => a + b, 0);
    expect(sum.total).toBeCloseTo(parts, 3);
    expect(sum.total! / whole.total!).toBeGreaterThan(0.5);
  });

  it("has a mean of the whole by the time that it covers, not that of each part", () => {
    const series = (mean: Maybe[]): Group["series"] => ({ mean, min: mean, max: mean });
    const part = (label: string, total: number, mean: number, columns: Maybe[]): Group => ({ key: [label], label, total, mean, min: mean, max: mean, series: series(columns) });
    const phases = { ...answer, from: 0, times: [2, 4, 6, 8], bucket: 2, key: [{ dimension: "phase", number: null }], others: null, groups: [part("a", 40, 10, [10, 10, null, null]), part("b", 120, 60, [null, null, null, 60])] };
    expect(wholeOf(rows([phases]), phases)).toEqual({ total: 160, mean: 160 / 6 });
    // Parts that were observed together, in a part of the last column.
    const together = { ...phases, groups: [part("a", 70, 10, [10, 10, 10, 10]), part("b", 14, 2, [2, 2, 2, 2])] };
    expect(wholeOf(rows([together]), together)).toEqual({ total: 84, mean: 12 });
  });

  it("says of which time its numbers are, where that is more than is in view", () => {
    const told = (from: number, to: number, zero = 0): string => countedWords({ from: -0.4, to: 5.6, bucket: 1 }, { seconds: 5.5 }, zero, { from, to });
    expect(told(0, 5.5)).toBe("");
    expect(told(0, 3)).toBe("Its numbers are of whole columns, 0.0 s to 5.5 s.");
    expect(told(-1, 2, 2)).toBe("Its numbers are of whole columns, -2.0 s to 3.5 s.");
    // Beyond the run there is nothing to count.
    expect(told(-3, 9)).toBe("");
  });

  it("a ratio has no whole", () => {
    const ratio = evaluate({ ...ask, expr: "disk.mean_latency by device" });
    expect(wholeOf(rows([ratio]), ratio)).toBeNull();
    expect(isStacked(panelOf("x"), [ratio])).toBe(false);
    expect(isStacked(panelOf("x"), [answer])).toBe(true);
  });

  it("the same group has the same colour in two runs, and another dash", () => {
    const device = evaluate({ ...ask, expr: "disk.bytes by device" });
    const found = rows([device, { ...device, groups: [...device.groups!].reverse() }], [run, other]);
    const [a, b] = ["a · sda", "b · sda"].map((label) => found.find((row) => row.label === label)!.line!);
    expect(a!.colour).toBe(b!.colour);
    expect(a!.dash).not.toEqual(b!.dash);
  });

  it("isolates one, unless it is gone", () => {
    const found = rows([answer]);
    const shown = (isolate: string): number => found.filter((row) => isShown(row, panelOf("x", { isolate }), found)).length;
    expect(shown("fio[1200]")).toBe(1);
    expect(shown("gone")).toBe(found.length);
  });
});

describe("hidden groups", () => {
  it("stay hidden when another number of them is left over", () => {
    const answer = evaluate({ ...ask, expr: "disk.bytes by process" });
    const fewer = { ...answer, others: { ...answer.others!, count: 18 } };
    const panel = panelOf("x", { hidden: [rows([answer]).at(-1)!.id] });
    const found = rows([fewer]);
    expect([found.at(-1)!.label, isShown(found.at(-1)!, panel, found)]).toEqual(["other (18)", false]);
  });
});

describe("questions", () => {
  it("are on the run's own clock, and within it", () => {
    const question = questionOf(panelOf("disk.ios"), "disk.ios", run, 100, { from: -150, to: 20 }, { width: 801.4, height: 240 })!;
    expect([question.from, question.to, question.width, question.rows]).toEqual([0, 120, 801, 80]);
    expect(questionOf(panelOf("x"), "x", run, 0, { from: 700, to: 800 }, { width: 5, height: 5 })).toBeNull();
  });

  it("know a heat map by its number dimension", () => {
    expect(numberDimension("disk.ios by latency where op = read", CATALOG)).toBe("latency");
    expect(numberDimension("disk.ios by device, op", CATALOG)).toBeNull();
    expect(numberDimension("nonsense", CATALOG)).toBeNull();
  });
});

describe("tables", () => {
  it("a name is never a formula of a spreadsheet, and commas stay within", () => {
    expect(field("=1+2")).toBe("'=1+2");
    expect(field('a "b", c')).toBe('"a ""b"", c"');
    expect(field(null)).toBe("");
    expect(csv({ heads: [{ text: "time", unit: "s" }, { text: "a,b", unit: "" }], rows: [[1, "x"], [null, -2]] })).toBe('time (s),"a,b"\r\n1,x\r\n,-2\r\n');
  });

  it("buckets have shares that sum to one", () => {
    const table = bucketTable(evaluate({ ...ask, expr: "disk.ios by latency" }));
    expect(table.rows.reduce((sum, row) => sum + Number(row[3]), 0)).toBeCloseTo(1, 9);
    expect(table.heads[0]).toEqual({ text: "latency from", unit: "seconds" });
  });

  it("of lines have the ends of columns, each to be told from the next", () => {
    const lines = evaluate({ ...ask, expr: "disk.bytes by op", from: 100, to: 110 });
    const table = tableOf({ shape: "lines", loaded: { answers: [lines] }, rows: rows([lines]) } as unknown as Shown, panelOf("x"));
    expect(table.rows.map((row) => row[0])).toEqual(lines.times);
    expect([stepOf([0, 1, 2]), stepOf([0.2, 0.21, 0.22]), stepOf([])]).toEqual([0.1, expect.closeTo(0.001, 9) as number, 0.1]);
  });

  it("what lies above a heat map is a row without an end, and counts as a part", () => {
    const answer = evaluate({ ...ask, expr: "disk.ios by latency", outliers: 0.05 });
    const { hidden, total } = answer.heat!;
    expect(hidden.amount).toBeGreaterThan(0);
    const table = bucketTable(answer);
    const last = table.rows.at(-1)!;
    expect([last[0], last[1]]).toEqual([answer.heat!.edges.at(-1), null]);
    expect(last[2]).toBeCloseTo(hidden.amount, 6);
    expect(table.rows.reduce((sum, row) => sum + Number(row[2]), 0)).toBeCloseTo(total, 6);
    expect(table.rows.reduce((sum, row) => sum + Number(row[3]), 0)).toBeCloseTo(1, 9);
  });

  it("of events have time and numbers first", () => {
    const column = (name: string, kind: "word" | "number" | "time") => ({ name, kind, unit: null });
    const events = { columns: [column("op", "word"), column("latency", "number"), column("time", "time")], rows: [["read", 5, 1]], matched: 1, table: "x", sampled: 1 };
    expect(numbersFirst(events)).toMatchObject({ columns: [{ name: "time" }, { name: "latency" }, { name: "op" }], rows: [[1, 5, "read"]] });
  });

  it("are sorted by numbers and by words; what is not known comes last", () => {
    const events = [[3, "b10"], [null, "b9"], [20, null]];
    expect(sorted(events, 0, true).map((r) => r[0])).toEqual([20, 3, null]);
    expect(sorted(events, 0, false).map((r) => r[0])).toEqual([3, 20, null]);
    expect(sorted(events, 1, false).map((r) => r[1])).toEqual(["b9", "b10", null]);
  });
});

describe("several runs", () => {
  const runs: Run[] = [{ ...run, title: "a", phases: [] }, { ...other, title: "b", phases: [{ name: "steady", from: 25, to: 90 }] }];
  const page = (align: string): Page => {
    const found = new Page({} as Provider, { now: { ...empty(["a", "b"]), align } } as unknown as Store, new View(), () => undefined);
    found.catalog = CATALOG;
    found.runs = { version: "", live: false, runs };
    return found;
  };
  const time = { ...NOTHING, time: { from: 1, to: 4 } };
  const words = { ...NOTHING, words: [{ dimension: "op", word: "read" }] };
  const pair = panelOf("disk.ios by latency", { run: "a-b" });

  it("events are asked of each", () => {
    const panel = panelOf("disk.ios by device", { kind: "events" });
    const questions = runsToAsk(page("start"), panel).map((one) => eventsQuestion(page("start"), panel, one, { from: 0, to: 9 }, "latency"));
    expect(questions.map((question) => question?.run)).toEqual(["a", "b"]);
  });

  it("a selected time is of one clock: where clocks differ, of the first run alone", () => {
    const all = panelOf("disk.bytes by op");
    expect(runOfNext(page("start"), all, time, all.expr)).toBeNull();
    expect(runOfNext(page("phase:steady"), all, time, all.expr)).toBe("a");
    expect(runOfNext(page("phase:steady"), all, words, all.expr)).toBeNull();
    expect(runOfNext(page("phase:steady"), pair, time, pair.expr)).toBe("a");
  });

  it("what leads on from one run's heat map stays with that run", () => {
    expect(runOfNext(page("start"), panelOf("disk.ios by latency"), time, "disk.ios by op")).toBe("a");
  });

  it("only heat maps are subtracted", () => {
    expect(page("start").isDifference(pair)).toBe(true);
    expect(runOfNext(page("start"), pair, time, "disk.ios by latency where op = read")).toBe("a-b");
    expect(runOfNext(page("start"), pair, time, "disk.ios by process")).toBeNull();
    const lines = panelOf("disk.ios by process", { run: "a-b" });
    expect(page("start").isDifference(lines)).toBe(false);
    expect(page("start").runsOf(lines).map((one) => one.id)).toEqual(["a", "b"]);
  });

  it("the table of a difference has differences", () => {
    const answer = evaluate({ ...ask, expr: "disk.ios by latency" });
    const twice = { ...answer.heat!, cells: answer.heat!.cells.map((cell) => cell && cell * 2) };
    const table = tableOf({ shape: "difference", loaded: { answers: [answer] }, difference: difference(answer.heat!, twice, [0, 0]) } as unknown as Shown, pair);
    expect(table.heads.map((head) => head.text)).toEqual(["latency from", "below", "difference"]);
    const { total, hidden } = answer.heat!;
    const sum = table.rows.reduce((all, row) => all + Number(row[2]), 0);
    expect(sum / (total - hidden.amount)).toBeCloseTo(1, 6);
  });
});

describe("levels", () => {
  it("names are told without what the level above says", () => {
    expect([shortName("/srv/a", "/srv"), shortName("/srv", "/"), shortName("sda", "md0"), shortName("/", "")]).toEqual(["a", "srv", "sda", "/"]);
    expect([levelled(["op", "file"]), levelled(["op"])]).toEqual(["file", null]);
  });
});

describe("words", () => {
  it("say that lines are smoothed, and over what", () => {
    const loaded = (kind: Answer["kind"]): Loaded => ({ range: { from: 0, to: 1 }, runs: [], answers: [{ kind, bucket: 6 } as Answer], right: [] });
    const panel = panelOf("x", { smooth: 5 });
    expect(smoothWords(panel, loaded("sum"))).toBe("Smoothed: each point is the mean over 5.00 s around it.");
    expect(smoothWords(panel, loaded("ratio"))).toBe("Smoothed: each point is the mean over 5.00 s around it; of a ratio, of its sums.");
    expect(smoothWords(panelOf("x"), loaded("sum"))).toBe("");
    expect(smoothWords({ ...panel, kind: "table" }, loaded("sum"))).toBe("");
    expect([canSmooth(panelOf("disk.bytes"), CATALOG), canSmooth(panelOf("disk.ios by latency"), CATALOG)]).toEqual([true, false]);
  });

  it("a share that is something is never 0 %", () => {
    expect([percent(0), percent(0.000001), percent(0.12345)]).toEqual(["0 %", "<0.001 %", "12.3 %"]);
  });

  it("lines of an output keep their times", () => {
    const part = { text: "a\r\nb\nc\n", offset: 0, next: 7, total: 7 };
    expect(linesOf({ ...part, lines: [{ line: 0, at: 1 }, { line: 2, at: null }] })).toEqual([{ text: "a", at: 1 }, { text: "b", at: 1 }, { text: "c", at: null }]);
    expect(linesOf({ ...part, lines: null }).map((line) => line.at)).toEqual([null, null, null]);
    expect(linesOf({ text: "", offset: 0, next: 0, total: 0, lines: [] })).toEqual([]);
  });
});

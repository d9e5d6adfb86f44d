// Answers of the made-up machine, in the form of the HTTP API.

import type { Answer, Events, Group, Maybe, Series } from "../src/api/types";
import { parts, testedDimension } from "../src/expr/syntax";
import { parseAmount } from "../src/units/amount";
import { BUBBLE, hash, inGap, iosBetween, valueAt, WORDS } from "./machine";
import { CATALOG } from "./catalog";

export class Refused extends Error {
  constructor(
    message: string,
    readonly hint: string | null,
    readonly at: [number, number] | null,
    readonly status = 400,
  ) {
    super(message);
  }
}

interface Ask {
  expr: string;
  run: number;
  from: number;
  to: number;
  width: number;
  rows: number;
  top: number;
  outliers: number;
  seconds: number;
}

/** Intervals that end within the stretch, in bins of at most `width`. */
function columns(ask: Ask): { ends: number[]; each: number } {
  const first = Math.floor(ask.from) + 1;
  const last = Math.min(Math.ceil(ask.to), ask.seconds);
  const each = Math.max(1, Math.ceil((last - first + 1) / ask.width));
  const ends: number[] = [];
  for (let t = first; t <= last; t += each) ends.push(Math.min(t + each - 1, last));
  return { ends, each };
}

/** The bounds that predicates set to a dimension. */
function bounds(where: string[], dimension: string): [number, number] {
  let [low, high] = [0, Infinity];
  for (const predicate of where) {
    if (testedDimension(predicate) !== dimension) continue;
    const [, operator, value] = /^\S+\s*(<=|>=|<|>|in|=)\s*(.+)$/.exec(predicate) ?? [];
    const range = /^(.+)\.\.(.+)$/.exec(value ?? "");
    if (range) [low, high] = [Math.max(low, parseAmount(range[1]!) ?? 0), Math.min(high, parseAmount(range[2]!) ?? Infinity)];
    else if (operator?.startsWith(">")) low = Math.max(low, parseAmount(value!) ?? 0);
    else if (operator?.startsWith("<")) high = Math.min(high, parseAmount(value!) ?? Infinity);
  }
  return [low, high];
}

function wordTests(where: string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const predicate of where) {
    const equal = /^(\S+)\s*==?\s*"?([^"]+)"?$/.exec(predicate);
    if (equal) found.set(equal[1]!, equal[2]!);
  }
  return found;
}

/** The answer to an expression, or why there is none. */
export function evaluate(ask: Ask): Answer {
  const found = parts(ask.expr);
  const subject = CATALOG.subjects.find((s) => s.name === found?.subject);
  if (!found || !subject) {
    const word = ask.expr.split(/[.\s]/)[0] ?? "";
    throw new Refused(`\`${word}\` is no subject`, "did you mean disk?", [0, word.length]);
  }
  const measure = [...subject.measures, ...subject.derived].find((m) => m.name === found.measure);
  if (!measure) {
    const at = found.subject.length + 1;
    throw new Refused(`${found.subject} has no measure \`${found.measure}\``, subject.measures.map((m) => m.name).join(", "), [at, at + found.measure.length]);
  }
  for (const by of found.by) {
    if (!subject.dimensions.some((d) => d.name === by)) {
      const at = ask.expr.indexOf(by);
      throw new Refused(`${found.subject} has no dimension \`${by}\``, null, [at, at + by.length]);
    }
  }
  const number = found.by.find((by) => subject.dimensions.find((d) => d.name === by)?.number);
  if (number && found.by.length > 1) {
    throw new Refused("a heat map has one number dimension and no words beside it", `${found.subject}.${found.measure} by ${number}`, null);
  }
  if (found.by.includes("offset")) {
    throw new Refused("this run does not have disk.ios by offset", "record it with `sonde record --detail events`", null);
  }
  const kind = measure.kind ?? "ratio";
  const common = {
    expr: ask.expr,
    unit: measure.unit,
    value_unit: kind === "sum" ? `${measure.unit}/s` : measure.unit,
    kind,
    help: measure.help,
    table: found.subject,
    caveat: null,
    stands_for: 1,
    from: ask.from,
    to: ask.to,
    key: found.by.map((dimension) => ({ dimension, number: dimension === number ? "seconds" : null })),
  };
  return number ? { ...common, ...heat(ask, found.where) } : { ...common, ...lines(ask, found, kind) };
}

type Body = Omit<Answer, "expr" | "unit" | "value_unit" | "kind" | "help" | "table" | "caveat" | "stands_for" | "from" | "to" | "key">;

function lines(ask: Ask, found: NonNullable<ReturnType<typeof parts>>, kind: string): Body {
  const { ends, each } = columns(ask);
  const statistic = `${found.subject}.${found.measure}`;
  const tests = wordTests(found.where);
  const [low, high] = bounds(found.where, "latency");
  const [timeLow, timeHigh] = bounds(found.where, "time");
  // What a latency test leaves, as a share; of the made bubble only one process is the cause.
  const slow = low >= 0.1;
  const dimensions = [...found.by, ...[...tests.keys()].filter((d) => d in WORDS)];
  const keys = found.by.reduce<string[][]>((all, by) => all.flatMap((key) => (WORDS[by] ?? [["-", 1]]).map(([word]) => [...key, word])), [[]]);
  const groups = keys.map((key): Group => {
    const words = [...key, ...[...tests].filter(([d]) => d in WORDS).map(([, word]) => word)];
    const at = (t: number): number => {
      if (t < timeLow || t > timeHigh) return 0;
      if (low > 0 || high < Infinity) {
        const chosen = slow ? (keys[0] === key ? 0.96 : 0.04 / Math.max(keys.length - 1, 1)) : 1 / keys.length;
        return iosBetween(Math.max(low, 1e-9), Math.min(high, 100), t, ask.run) * (found.by.length ? chosen : 1);
      }
      return valueAt(statistic, words, dimensions, t, ask.run);
    };
    const series: Series = { mean: [], min: [], max: [] };
    const values: number[] = [];
    for (const end of ends) {
      const inside = Array.from({ length: each }, (_, i) => end - i).filter((t) => t > 0 && !inGap(t)).map(at);
      values.push(...inside);
      const none = inside.length === 0;
      series.mean.push(none ? null : inside.reduce((a, b) => a + b, 0) / inside.length);
      series.min.push(none ? null : Math.min(...inside));
      series.max.push(none ? null : Math.max(...inside));
    }
    const total = values.reduce((a, b) => a + b, 0);
    const many = values.length || 1;
    return { key, label: key.join(" "), total: kind === "sum" ? total : null, mean: total / many, min: Math.min(...values), max: Math.max(...values), series };
  });
  groups.sort((a, b) => (b.mean ?? 0) - (a.mean ?? 0));
  const kept = groups.filter((g) => (g.mean ?? 0) > 0 || groups.length === 1);
  const rest = kept.slice(ask.top);
  const add = (pick: (g: Group) => Maybe): Maybe => rest.reduce<number>((a, g) => a + (pick(g) ?? 0), 0);
  const others = rest.length > 0 && kind === "sum"
    ? { count: rest.length, total: add((g) => g.total), mean: add((g) => g.mean), series: sumSeries(rest) }
    : null;
  return { shape: "lines", bucket: each, times: ends, groups: kept.slice(0, ask.top), others };
}

function sumSeries(groups: Group[]): Series {
  const sum = (name: "mean" | "min" | "max"): Maybe[] =>
    groups[0]!.series[name].map((_, i) => (groups[0]!.series.mean[i] === null ? null : groups.reduce((a, g) => a + (g.series[name][i] ?? 0), 0)));
  return { mean: sum("mean"), min: sum("mean"), max: sum("mean") };
}

function heat(ask: Ask, where: string[]): Body {
  const { ends, each } = columns(ask);
  const [low, high] = bounds(where, "latency");
  const [timeLow, timeHigh] = bounds(where, "time");
  const least = Math.max(3e-5, low * 0.999);
  let most = Math.min(3, high);
  const of = (from: number, to: number, t: number): number => (t < timeLow || t > timeHigh || inGap(t) ? 0 : iosBetween(Math.max(from, low), Math.min(to, high), t, ask.run));
  const sum = (from: number, to: number): number => ends.reduce((a, end) => a + (to > from ? of(from, to, end) : 0), 0) * each;
  // The axis ends where no more than the allowed share lies above.
  const total = sum(1e-9, 100);
  while (most > least * 4 && sum(most / 1.25, 100) <= total * ask.outliers) most /= 1.25;
  const rows = ask.rows;
  const edges = Array.from({ length: rows + 1 }, (_, i) => least * (most / least) ** (i / rows));
  const cells: Maybe[] = [];
  for (let r = 0; r < rows; r++) {
    for (const end of ends) {
      const inside = Array.from({ length: each }, (_, i) => end - i);
      if (inside.every(inGap)) cells.push(null);
      else cells.push(inside.reduce((a, t) => a + (edges[r + 1]! <= low || edges[r]! >= high ? 0 : of(edges[r]!, edges[r + 1]!, t)), 0));
    }
  }
  const amounts = edges.slice(1).map((_, r) => ends.reduce((a, _e, c) => a + (cells[r * ends.length + c] ?? 0), 0));
  const all = amounts.reduce((a, b) => a + b, 0);
  const hidden = Math.max(0, Math.round(sum(most, 100)));
  const quantile = (q: number): number => {
    let seen = 0;
    const place = amounts.findIndex((a) => (seen += a) >= q * all);
    return edges[Math.max(place, 0) + 1]!;
  };
  const first = (ends[0] ?? each) - each;
  return {
    shape: "heat",
    bucket: each,
    heat: { times: [first, ...ends], edges, log: true, cells, hidden: { amount: hidden, share: total > 0 ? hidden / total : 0, events: hidden }, total: all + hidden, greatest: cells.reduce<number>((a, b) => Math.max(a, b ?? 0), 0) },
    fold: {
      edges,
      amounts,
      quantiles: { events: all, min: quantile(1e-9), p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99), "p99.9": quantile(0.999), max: edges[rows]!, mean: quantile(0.6) },
    },
  };
}

/** The slowest events of the made bubble and of everything else. */
export function events(where: string, limit: number): Events {
  const [low] = bounds(where.split(" and "), "latency");
  const many = low > 0.1 ? 148 : 10_920_044;
  const rows = Array.from({ length: Math.min(limit, many) }, (_, i) => {
    const t = BUBBLE.from + hash(i, 3) * (BUBBLE.to - BUBBLE.from);
    return [t, "nvme0n1", i % 9 === 0 ? "write" : "read", 0.9 / (1 + i * 0.02), 0.88 / (1 + i * 0.02), 0.0002 + hash(i) * 0.0003, 4096 * (1 + (i % 4)), i % 11 === 0 ? "postgres[911]" : "fio[1200]", i % 5 === 0 ? null : "/srv/data/base.img"];
  });
  const column = (name: string, unit: string | null, kind: "word" | "number" | "time"): Events["columns"][number] => ({ name, unit, kind });
  return {
    columns: [column("time", "seconds", "time"), column("device", null, "word"), column("op", null, "word"), column("latency", "seconds", "number"), column("queue_time", "seconds", "number"), column("service_time", "seconds", "number"), column("size", "bytes", "number"), column("process", null, "word"), column("file", null, "word")],
    rows,
    matched: many,
    table: "disk_event",
    sampled: 1,
  };
}

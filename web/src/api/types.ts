// The answers of the HTTP API, version 1, as they come over the wire. Base units; times of a
// run in seconds since its start; `null` means not known.

/** A number that may not be known. */
export type Maybe = number | null;

/** A stretch of a run's time, in seconds since its start. */
export interface Stretch {
  from: number;
  to: number;
}

/** Events that were lost or thinned out in a stretch. */
export interface Loss extends Stretch {
  /** `null`: rows of any table. */
  table: string | null;
  dropped: number;
  /** How many events one that was kept may stand for; `null` where none were sampled. */
  weight: Maybe;
  why?: string;
}

/** What Sonde itself cost. */
export interface OwnCost {
  /** Of one processor, while it sampled. */
  cpu_share: Maybe;
  /** Seconds of processor time at start and end, where that is told apart. */
  cpu_at_ends?: Maybe;
  memory: Maybe;
  bytes_written: Maybe;
  late: Maybe;
  dropped: Maybe;
}

/** A run that the page may ask about. */
export interface Run {
  id: string;
  /** `null` for a live observation. */
  path: string | null;
  name: string;
  title: string | null;
  host: string | null;
  started: string;
  /** Whether its times are dates, or counted from zero. */
  dated: boolean;
  seconds: number;
  every: Maybe;
  live: boolean;
  /** Live: what is older is gone. */
  kept_from?: Maybe;
  end: string | null;
  command: string[] | null;
  detail: string | null;
  phases: (Stretch & { name: string })[];
  gaps: Stretch[];
  loss: Loss[];
  since_boot: boolean;
  subjects: Record<string, string[]>;
  own_cost: OwnCost | null;
  problems: string[];
  notes: Record<string, string>;
}

/** All runs, and the version that serves them. */
export interface Runs {
  version: string;
  live: boolean;
  runs: Run[];
}

/** `sum`: an amount, shown per second; `level`: a gauge; `peak`: a maximum; `ratio`: of sums. */
export type Kind = "sum" | "level" | "peak" | "ratio";

export interface Measure {
  name: string;
  kind?: Kind;
  unit: string;
  help: string;
}

export interface Dimension {
  name: string;
  help: string;
  /** The unit of a number dimension; `null` for words. */
  number: string | null;
}

export interface Subject {
  name: string;
  help: string;
  measures: Measure[];
  derived: Measure[];
  dimensions: Dimension[];
}

export interface Catalog {
  subjects: Subject[];
  operators: string[];
}

/** A value for each pixel column; `null` where there is a gap. */
export interface Series {
  mean: Maybe[];
  min: Maybe[];
  max: Maybe[];
  /** Of ratios: what each column is divided by. */
  weight?: Maybe[];
}

export interface Group {
  key: string[];
  label: string;
  total: Maybe;
  mean: Maybe;
  min: Maybe;
  max: Maybe;
  series: Series;
}

/** What is left of the groups, summed where that means something. */
export interface Others {
  count: number;
  total?: Maybe;
  mean?: Maybe;
  series?: Partial<Series> | null;
}

export interface Heat {
  /** Edges of the columns: one more than there are columns. */
  times: number[];
  /** Edges of the rows, rising: one more than there are rows. */
  edges: number[];
  log: boolean;
  /** Row by row, from the lowest; 0 where nothing happened, `null` in a gap. */
  cells: Maybe[];
  hidden: { amount: number; share: number; events: Maybe };
  total: number;
  greatest: Maybe;
}

export interface Quantiles {
  events: Maybe;
  min: Maybe;
  p50: Maybe;
  p90: Maybe;
  p99: Maybe;
  "p99.9": Maybe;
  max: Maybe;
  mean: Maybe;
}

/** The distribution over all of the time asked for. */
export interface Fold {
  edges: number[];
  amounts: number[];
  quantiles: Quantiles;
}

/** The answer to an expression over a stretch of time. */
export interface Answer extends Stretch {
  expr: string;
  /** The unit of totals and of cells. */
  unit: string;
  /** The unit of means, extremes and series: of sums, per second. */
  value_unit: string;
  kind: Kind;
  help: string;
  table: string;
  caveat: string | null;
  stands_for: Maybe;
  shape: "lines" | "heat";
  bucket: number;
  key: { dimension: string; number: string | null }[];
  times?: number[];
  groups?: Group[];
  others?: Others | null;
  heat?: Heat;
  fold?: Fold;
}

export type Cell = string | number | null;

/** Single events, in the order asked for. */
export interface Events {
  columns: { name: string; unit: string | null; kind: "word" | "number" | "time" }[];
  rows: Cell[][];
  matched: number;
  table: string;
  sampled: number;
}

export interface Finding extends Stretch {
  name: string;
  score: number;
  sentence: string;
  expr: string;
  causes: string[];
}

export interface Limit {
  resource: string;
  name: string;
  share: number;
  full: boolean;
  text: string;
}

export interface Findings {
  limits: Limit[];
  findings: Finding[];
}

export interface Inventory {
  start: unknown;
  changed: { path: string; before: unknown; after: unknown }[];
}

/** A part of what the command printed, from byte `offset` on; the next begins at `next`. */
export interface Output {
  text: string;
  offset: number;
  next: number;
  total: number;
  /** From which line of `text` on which time holds; `null`: not recorded. */
  lines: { line: number; at: Maybe }[] | null;
}

/** Where a part of the output begins: at a byte, at a time, or so that it ends before a byte. */
export type OutputStart = { offset: number } | { from: number } | { before: number };

/** A name on a level. */
export interface Level {
  name: string;
  /** `null`: nothing was told of the name itself. */
  own: Maybe;
  /** With all below it, where that adds up; else its own. */
  sum: Maybe;
  children: Level[];
  /** Of this level, those that are not told one by one. */
  others: { count: number; sum: Maybe } | null;
}

/** Amounts level by level. */
export interface Levels extends Stretch {
  expr: string;
  dimension: string;
  adds: boolean;
  unit: string;
  names: number;
  roots: Level[];
  others: Level["others"];
}

/** Names and numbers as texts. */
export interface SummaryTable {
  columns: { name: string; number: boolean }[];
  rows: string[][];
}

/** A part of a report's summary: a line, what something is, or a table. */
export type SummaryPart = { line: string } | { label: string; text: string } | SummaryTable;

/** One message of the live stream. */
export interface Tick {
  run: string;
  seconds: number;
  own_cost?: OwnCost;
  loss?: Loss[];
}

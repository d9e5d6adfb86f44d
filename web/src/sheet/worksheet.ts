// A worksheet: a column of panels over one time axis. It is what a link says, what is saved, and
// what undo steps through.

export type PanelKind = "auto" | "lines" | "stack" | "heat" | "fold" | "table" | "events" | "tree";
export type Palette = "linear" | "log" | "rank";

export interface Panel {
  expr: string;
  /** A second expression on an axis at the right. */
  right: string | null;
  kind: PanelKind;
  /** A logarithmic axis; `null`: as the numbers need. */
  log: boolean | null;
  /** Running mean over so many seconds. */
  smooth: number | null;
  palette: Palette;
  /** The share of the amount that may lie above a heat map. */
  outliers: number;
  /** A run's id, `a-b` for the difference of two, `null` for all. */
  run: string | null;
  /** Ids of rows that are not drawn. */
  hidden: string[];
  /** The id of the one row that is drawn. */
  isolate: string | null;
  /** How many groups have a line of their own; `null`: eight. */
  top: number | null;
  /** Stands at the right of the panel before it. */
  beside: boolean;
}

export interface Worksheet {
  v: 1;
  runs: string[];
  from: number | null;
  to: number | null;
  align: string;
  panels: Panel[];
}

/** Steps of what may lie above a heat map. */
export const OUTLIERS = [0, 0.001, 0.01, 0.05] as const;
/** A worksheet has no more panels than this. */
export const MOST_PANELS = 48;
/** A panel has no more groups of its own than this. */
export const MOST_GROUPS = 200;
const KINDS: readonly PanelKind[] = ["auto", "lines", "stack", "heat", "fold", "table", "events", "tree"];
const PALETTES: readonly Palette[] = ["linear", "log", "rank"];

/** A panel of an expression, with everything else as usual. */
export function panelOf(expr: string, more: Partial<Panel> = {}): Panel {
  return {
    expr,
    right: null,
    kind: "auto",
    log: null,
    smooth: null,
    palette: "log",
    outliers: 0.001,
    run: null,
    hidden: [],
    isolate: null,
    top: null,
    beside: false,
    ...more,
  };
}

/** A worksheet without panels. */
export function empty(runs: string[]): Worksheet {
  return { v: 1, runs, from: null, to: null, align: "start", panels: [] };
}

type Loose = Record<string, unknown>;

const text = (v: unknown): string | null => (typeof v === "string" ? v : null);
const number = (v: unknown): number | null => (typeof v === "number" && Number.isFinite(v) ? v : null);
const texts = (v: unknown): string[] =>
  Array.isArray(v) ? v.filter((item): item is string => typeof item === "string") : [];
const oneOf = <T>(v: unknown, all: readonly T[], usual: T): T => (all.includes(v as T) ? (v as T) : usual);

/** The rest of the groups, as it was written with their number: that changes with the time in view. */
const REST = /^(→ )?(\w+ · )?other \(\d+\)$/;
const steady = (id: string): string => (REST.test(id) ? id.replace(/\(\d+\)$/, "()") : id);

/** Reads what somebody else may have written: what is wrong or missing is as usual. */
export function read(written: unknown): Worksheet | null {
  if (typeof written !== "object" || written === null) return null;
  const from = written as Loose;
  if (from.v !== 1 || !Array.isArray(from.panels)) return null;
  const sheet = empty(texts(from.runs));
  sheet.from = number(from.from);
  sheet.to = number(from.to);
  if (sheet.from === null || sheet.to === null || sheet.to <= sheet.from) {
    sheet.from = sheet.to = null;
  }
  sheet.align = text(from.align) ?? "start";
  sheet.panels = from.panels.slice(0, MOST_PANELS).flatMap(readPanel);
  return sheet;
}

function readPanel(written: unknown): Panel[] {
  if (typeof written !== "object" || written === null) return [];
  const from = written as Loose;
  const expr = text(from.expr);
  if (expr === null) return [];
  const top = number(from.top);
  const isolate = text(from.isolate);
  return [
    panelOf(expr.slice(0, 4000), {
      right: text(from.right),
      kind: oneOf(from.kind, KINDS, "auto"),
      log: typeof from.log === "boolean" ? from.log : null,
      smooth: number(from.smooth),
      palette: oneOf(from.palette, PALETTES, "log"),
      outliers: oneOf(from.outliers, OUTLIERS as readonly number[], 0.001),
      run: text(from.run),
      hidden: [...new Set(texts(from.hidden).map(steady))],
      isolate: isolate === null ? null : steady(isolate),
      top: top !== null && top >= 1 ? Math.min(Math.round(top), MOST_GROUPS) : null,
      beside: from.beside === true,
    }),
  ];
}

/** Without what is as usual: links stay short. */
export function brief(sheet: Worksheet): unknown {
  const usual = panelOf("") as unknown as Loose;
  const short = sheet.panels.map((panel) =>
    Object.fromEntries(
      Object.entries(panel).filter(
        ([name, v]) => name === "expr" || JSON.stringify(v) !== JSON.stringify(usual[name]),
      ),
    ),
  );
  return { ...sheet, panels: short };
}

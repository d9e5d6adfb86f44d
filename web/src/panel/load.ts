// What a panel has to ask, and the answers it still has.

import type { Provider, Question } from "../api/provider";
import type { Answer, Catalog, Run } from "../api/types";
import { dimensionsOf, subjectOf } from "../expr/complete";
import { parts } from "../expr/syntax";
import type { Range } from "../sheet/view";
import type { Panel } from "../sheet/worksheet";
import type { Page } from "../page";
import { ofRight, refusalOfRight, rightOf } from "./secondaxis";

/** Answers to a panel's expressions, for all of its runs. */
export interface Loaded {
  range: Range;
  runs: Run[];
  answers: Answer[];
  right: Answer[];
}

/** Answers a panel keeps: going back to where one was before is at once. */
const KEPT = 8;
const MOST_ROWS = 200;

/** The number dimension that an expression is broken down by, if one. */
export function numberDimension(expr: string, catalog: Catalog): string | null {
  const found = parts(expr);
  const subject = found && subjectOf(catalog, found.subject);
  const dimensions = dimensionsOf(subject ?? undefined);
  return found?.by.find((by) => dimensions.some((d) => d.name === by && d.number !== null)) ?? null;
}

/** The runs of which a panel asks. A heat map has one run, a difference two, lines all. */
export function runsToAsk(page: Page, panel: Panel): Run[] {
  const runs = page.runsOf(panel);
  if (panel.run === null && numberDimension(panel.expr, page.catalog) !== null) return runs.slice(0, 1);
  return runs;
}

/** The question of one run, on its own clock. */
export function questionOf(panel: Panel, expr: string, run: Run, zero: number, range: Range, size: { width: number; height: number }): Question | null {
  const from = Math.max(0, range.from + zero);
  const to = Math.min(run.seconds, range.to + zero);
  if (!(to > from)) return null;
  return {
    run: run.id,
    expr,
    from,
    to,
    width: Math.max(50, Math.round(size.width)),
    rows: Math.min(MOST_ROWS, Math.max(20, Math.round(size.height / 3))),
    ...(panel.top !== null ? { top: panel.top } : {}),
    scale: panel.log === null ? undefined : panel.log ? "log" : "linear",
    outliers: panel.outliers,
  };
}

/** Asks for a panel, and remembers. */
export class Loader {
  private kept: { key: string; loaded: Loaded }[] = [];
  private under: AbortController | null = null;

  constructor(private readonly page: Page) {}

  /** Asks for what the panel shows in this range; `null` if another question came between. */
  async load(panel: Panel, range: Range, size: { width: number; height: number }, fresh: boolean): Promise<Loaded | null> {
    this.under?.abort();
    const own = new AbortController();
    this.under = own;
    const runs = runsToAsk(this.page, panel);
    const key = keyOf(panel, runs, size, this.page.store.now.align);
    const known = fresh ? undefined : this.kept.find((k) => k.key === key && same(k.loaded.range, range));
    if (known) return known.loaded;
    const ask = async (expr: string): Promise<[Run, Answer][]> => {
      const { provider } = this.page;
      const asked = runs.flatMap((run) => {
        const question = questionOf(panel, expr, run, this.page.zero(run), range, size);
        return question ? [[run, question] as const] : [];
      });
      return Promise.all(
        asked.map(async ([run, question]) => [run, await evaluate(provider, question, own.signal)] as [Run, Answer]),
      );
    };
    const [left, right] = await Promise.all([ask(panel.expr), this.right(panel, ask)]);
    if (own.signal.aborted) return null;
    const loaded: Loaded = {
      range: { ...range },
      runs: left.map(([run]) => run),
      answers: left.map(([, answer]) => answer),
      right: right.map(([, answer]) => answer),
    };
    if (fresh) this.kept = [];
    this.kept = [{ key, loaded }, ...this.kept.filter((k) => k.key === key)].slice(0, KEPT);
    return loaded;
  }

  /** Answers to the second expression, where lines are drawn. */
  private async right<T>(panel: Panel, ask: (expr: string) => Promise<T[]>): Promise<T[]> {
    const { catalog } = this.page;
    const right = rightOf(panel, catalog);
    if (!right) return [];
    const refused = refusalOfRight(right, catalog);
    if (refused) throw refused;
    try {
      return await ask(right);
    } catch (thrown) {
      throw ofRight(right, thrown);
    }
  }

  /** The finest answer that covers this range, while a new one is on its way. */
  covering(range: Range): Loaded | null {
    const covers = this.kept.filter(({ loaded }) => loaded.range.from <= range.from && loaded.range.to >= range.to);
    covers.sort((a, b) => span(a.loaded.range) - span(b.loaded.range));
    return covers[0]?.loaded ?? null;
  }

  forget(): void {
    this.kept = [];
    this.under?.abort();
  }
}

function evaluate(provider: Provider, question: Question, signal: AbortSignal): Promise<Answer> {
  return provider.evaluate(question, signal);
}

function span(range: Range): number {
  return range.to - range.from;
}

function same(a: Range, b: Range): boolean {
  return a.from === b.from && a.to === b.to;
}

function keyOf(panel: Panel, runs: Run[], size: { width: number; height: number }, align: string): string {
  const { expr, right, kind, log, outliers, top } = panel;
  return JSON.stringify([expr, right, kind, log, outliers, top, align, Math.round(size.width / 50), runs.map((run) => run.id)]);
}

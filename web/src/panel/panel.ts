// One panel: an expression, its picture, its legend, and what can be done with them.

import { Refusal, refusalOf, wasGivenUp } from "../api/provider";
import type { Answer, Levels, Run } from "../api/types";
import { h } from "../dom";
import { NOTHING } from "../expr/drill";
import type { Selection } from "../expr/drill";
import { measureOf } from "../expr/complete";
import { parts } from "../expr/syntax";
import { drawFold, heightScale } from "../plot/fold";
import { isDark } from "../plot/theme";
import type { Dragged, Size } from "../plot/timeplot";
import type { Page } from "../page";
import { MOST_GROUPS } from "../sheet/worksheet";
import type { Panel, PanelKind } from "../sheet/worksheet";
import { amount, amountUnit, unitOf } from "../units/amount";
import { named } from "./blocks";
import type { Block } from "./blocks";
import { openDrillMenu, zoom } from "./drillmenu";
import { EventsTable } from "./events";
import { ExprInput } from "./exprinput";
import { differenceLegend, heatLegend } from "./heatlegend";
import { legend } from "./legend";
import type { Legend } from "./legend";
import { Loader, questionOf, runsToAsk } from "./load";
import type { Loaded } from "./load";
import { Picture } from "./picture";
import type { Shown } from "./picture";
import type { Row } from "./rows";
import { countedWords } from "./counted";
import { notDrawn } from "./secondaxis";
import { smoothWords } from "./smooth";
import { cellSelection, pointedStretch, rectangleSelection, roundBound } from "./selection";
import type { HeatPicture } from "./selection";
import { amountAbove, drawTable, tableOf } from "./table";
import { cellTip } from "./tip";
import { tools } from "./tools";
import { treeTable } from "./treetable";

const HEIGHT = { lines: 200, heat: 264 };
/** Narrower than this no picture can be seen. */
const LEAST_WIDTH = 120;
/** More groups when `other` is opened: so many times as before. */
const OPENED = 4;
const USUAL_TOP = 8;
/** Kinds that tell each run by itself. */
const BY_RUN: readonly PanelKind[] = ["fold", "tree", "events"];

export class PanelView {
  readonly element: HTMLElement;
  private readonly field: ExprInput;
  private readonly words = h("p", { class: "panel-words" });
  private readonly toolbar = h("div", { class: "panel-tools", role: "toolbar", "aria-label": "panel" });
  private readonly plotHost = h("div", { class: "plot" });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly side = h("div", { class: "side" });
  private readonly body: HTMLElement;
  private readonly picture: Picture;
  private readonly loader: Loader;
  private events: EventsTable[] = [];
  private legend: Legend | null = null;
  private loaded: Loaded | null = null;
  private turn = 0;
  private width = 640;
  private isSeen = true;
  private isStale = false;

  constructor(
    private readonly page: Page,
    public panel: Panel,
    public index: number,
  ) {
    this.loader = new Loader(page);
    this.field = new ExprInput(page, "expression of this panel", (expr) => this.rewrite(expr), () => (this.field.value = this.panel.expr));
    this.body = h("div", { class: "panel-body" }, h("div", { class: "plot-box" }, this.plotHost, this.tip), this.side);
    this.element = h("section", { class: "panel", tabindex: -1 }, h("header", {}, this.field.element, this.toolbar), this.words, this.body);
    this.picture = new Picture(
      page,
      this.plotHost,
      { dragged: (area, menu) => this.dragged(area, menu), clicked: (at) => this.clicked(at) },
      (at) => cellTip(this.tip, this.picture.shown, this.page, at),
    );
    this.update(panel, index);
  }

  /** Takes another description of the panel and draws what changed. */
  update(panel: Panel, index: number): void {
    const asks = JSON.stringify([this.panel.expr, this.panel.right, this.panel.kind]) !== JSON.stringify([panel.expr, panel.right, panel.kind]);
    if (asks) this.loader.forget();
    this.panel = panel;
    this.index = index;
    if (document.activeElement !== this.field.input) this.field.value = panel.expr;
    this.element.classList.toggle("beside", panel.beside);
    this.element.dataset.kind = panel.kind;
    this.element.setAttribute("aria-label", `panel ${index + 1}: ${panel.expr}`);
    this.toolbar.replaceChildren(...tools(this.page, this));
    void this.load(false);
  }

  /** It stands at another place, and is the same. */
  place(index: number): void {
    this.index = index;
    this.element.setAttribute("aria-label", `panel ${index + 1}: ${this.panel.expr}`);
    this.toolbar.replaceChildren(...tools(this.page, this));
  }

  private rewrite(expr: string): void {
    if (expr === this.panel.expr) void this.load(true);
    else this.page.store.changePanel(this.index, { expr, hidden: [], isolate: null, top: null });
    this.element.focus({ preventScroll: true });
  }

  private size(): Size {
    const tall = this.isHeat ? HEIGHT.heat : HEIGHT.lines;
    // While the page is laid out anew it may have no width for a moment.
    const width = this.plotHost.clientWidth;
    if (width > LEAST_WIDTH) this.width = width;
    return { width: this.width, height: tall };
  }

  get isHeat(): boolean {
    return this.loaded?.answers[0]?.shape === "heat";
  }

  /** Asks for what is in view, and shows it. */
  async load(fresh: boolean): Promise<void> {
    const missing = this.page.missing(this.panel);
    if (missing.length > 0) {
      this.showMissing(missing);
      return;
    }
    if (this.panel.kind === "events") return this.showEvents();
    this.element.classList.add("busy");
    try {
      if (this.panel.kind === "tree") {
        await this.showLevels();
        return;
      }
      const loaded = await this.loader.load(this.panel, this.page.view.range, this.size(), fresh);
      if (!loaded) return;
      this.loaded = loaded;
      this.field.refuse(null);
      this.show();
    } catch (thrown) {
      if (wasGivenUp(thrown)) return;
      this.refuse(refusalOf(thrown));
    } finally {
      this.element.classList.remove("busy");
    }
  }

  private showMissing(runs: string[]): void {
    const words = `this panel is of run ${this.panel.run}, and ${runs.join(", ")} is not open here`;
    this.refuse(new Refusal(words, "`sonde view` with the same runs, in the same order, shows it", null, 404), "the run is not open here");
  }

  /** A table a run; one that is there stays, and keeps its order. */
  private async showEvents(): Promise<void> {
    this.picture.destroy();
    this.loaded = null;
    this.side.replaceChildren();
    this.say();
    const runs = runsToAsk(this.page, this.panel);
    this.events = runs.map((_, i) => this.events[i] ?? new EventsTable(this.page));
    this.tell(runs.map((run, i) => ({ run, content: this.events[i]!.element })));
    await Promise.all(runs.map((run, i) => this.events[i]!.show(this.panel, run, this.page.view.range)));
  }

  /** Shows blocks in place of a picture. */
  private tell(blocks: Block[]): void {
    this.plotHost.replaceChildren(...named(blocks));
  }

  private refuse(refusal: Refusal, why = "the expression was refused, see above"): void {
    if (refusal.unreachable) {
      // What was shown stays; the page says that the server is gone.
      this.page.unreachable();
      return;
    }
    this.field.refuse(refusal);
    this.picture.destroy();
    this.loaded = null;
    this.side.replaceChildren();
    this.plotHost.replaceChildren(h("p", { class: "empty" }, `no picture: ${why}`));
  }

  /** Draws the answers there are. */
  private show(): void {
    const loaded = this.loaded;
    const first = loaded?.answers[0];
    this.say();
    if (!loaded || !first) {
      this.picture.destroy();
      this.side.replaceChildren();
      this.plotHost.replaceChildren(h("p", { class: "empty" }, "nothing was recorded in this time"));
      return;
    }
    const kind = this.panel.kind;
    if (kind === "fold" && first.fold) return this.showFold(loaded);
    if (kind === "table") this.picture.destroy();
    if (first.shape === "lines" && (first.groups?.length ?? 0) === 0) {
      this.picture.destroy();
      this.side.replaceChildren();
      this.plotHost.replaceChildren(h("p", { class: "empty" }, "no rows: nothing matches, or nothing was observed"));
      return;
    }
    const shown = this.picture.show(this.panel, loaded, this.size());
    if (!shown) return;
    if (kind === "table") this.plotHost.replaceChildren(drawTable(tableOf(shown, this.panel), this.panel.expr));
    this.plotHost.setAttribute("role", "group");
    this.plotHost.setAttribute("aria-label", `${kind === "table" ? "table" : "picture"} of ${this.panel.expr}`);
    this.showSide(shown);
  }

  private showSide(shown: Shown): void {
    const first = shown.loaded.answers[0]!;
    const dark = isDark();
    const change = (panel: Partial<Panel>): void => this.page.store.changePanel(this.index, panel);
    this.legend = null;
    if (shown.shape === "difference") {
      const names = shown.loaded.runs.map((run) => run.name) as [string, string];
      this.side.replaceChildren(differenceLegend(shown.difference!.most, names, first, dark));
    } else if (shown.heat && shown.shades) {
      const events = { palette: (palette: Panel["palette"]) => change({ palette }), outliers: (outliers: number) => change({ outliers }) };
      this.side.replaceChildren(heatLegend(first, shown.heat, shown.shades, this.panel, dark, events));
    } else {
      this.legend = legend(shown.rows, this.panel, first, {
        isolate: (id) => change({ isolate: this.panel.isolate === id ? null : id }),
        hide: (id) => {
          const hidden = this.panel.hidden;
          change({ hidden: hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id] });
        },
        open: () => change({ top: Math.min((this.panel.top ?? USUAL_TOP) * OPENED, MOST_GROUPS) }),
        drill: (row, at) => this.drillRow(row, at),
      });
      this.side.replaceChildren(this.legend.element);
      this.legend.point(this.page.view.cursor);
    }
  }

  private showFold(loaded: Loaded): void {
    const shown = this.picture.show(this.panel, loaded, this.size())!;
    this.picture.hold(shown);
    this.tell(loaded.answers.map((answer, i) => ({ run: loaded.runs[i]!, content: this.fold(answer) })));
    if (shown.shades) this.showSide(shown);
    else this.side.replaceChildren();
  }

  private fold(answer: Answer): HTMLElement {
    const key = answer.key.find((k) => k.number !== null);
    const log = this.panel.log ?? answer.heat?.log ?? true;
    const unit = key?.number ?? "count";
    const fold = answer.fold!;
    const drawing = drawFold(fold, amountAbove(answer), log, unitOf(unit), amountUnit(unitOf(answer.value_unit)), this.size(), {
      dragged: (from, to, x, y) => {
        const { edges } = fold;
        const numbers = { dimension: key?.dimension ?? "", unit, from: roundBound(edges, from, unit), to: roundBound(edges, to, unit) };
        this.drill({ ...NOTHING, numbers }, { x, y });
      },
    });
    const scale = heightScale(fold);
    return h("div", {}, drawing, h("p", { class: "note" }, `over the visible time; heights ${scale === "linear" ? "are amounts" : "grow with the square root of the amounts"}`));
  }

  private async showLevels(): Promise<void> {
    const { page, panel } = this;
    this.loaded = null;
    this.say();
    const turn = ++this.turn;
    const found = await Promise.all(runsToAsk(page, panel).map(async (run) => ({ run, levels: await this.levels(run) })));
    if (turn !== this.turn || this.panel.kind !== "tree") return;
    this.field.refuse(null);
    this.picture.destroy();
    this.side.replaceChildren();
    const drill = (dimension: string, word: string, at: { x: number; y: number }): void => this.drill({ ...NOTHING, words: [{ dimension, word }] }, at);
    this.tell(found.map(({ run, levels }) => ({ run, content: levels ? treeTable(levels, drill) : h("p", { class: "empty" }, "nothing was recorded in this time") })));
  }

  private levels(run: Run): Promise<Levels | null> {
    const { page, panel } = this;
    const question = questionOf(panel, panel.expr, run, page.zero(run), page.view.range, this.size());
    return question ? page.provider.levels(run.id, panel.expr, question, question.width) : Promise.resolve(null);
  }

  /** The line below the expression: what it is, and what its numbers do not tell. */
  private say(): void {
    const found = parts(this.panel.expr);
    const help = found ? measureOf(this.page.catalog, found.subject, found.measure)?.help : undefined;
    const first = this.loaded?.answers[0];
    const isDifference = this.page.isDifference(this.panel) && !BY_RUN.includes(this.panel.kind) && this.loaded?.answers.length !== 1;
    const runs = isDifference
      ? "difference"
      : this.page.chosen().length > 1
        ? (this.loaded?.runs ?? runsToAsk(this.page, this.panel)).map((run) => run.name).join(", ")
        : "";
    const axis = notDrawn(this.panel, this.page.catalog);
    const sampled = first?.stands_for && first.stands_for > 1 ? `one event may stand for ${first.stands_for}: amounts are estimates` : "";
    const smooth = this.isHeat ? "" : smoothWords(this.panel, this.loaded);
    const run = this.loaded?.runs[0];
    const counted = first && run ? countedWords(first, run, this.page.zero(run), this.loaded!.range) : "";
    const told = [first?.help ?? help ?? "", this.drawnFrom(), smooth, counted].filter((words) => words !== "");
    const pieces = [told.join(" "), first?.caveat ?? "", sampled, axis].filter((piece) => piece !== "");
    this.words.replaceChildren(...(runs ? [h("b", { class: "which" }, runs), " "] : []), pieces[0] ?? "", ...pieces.slice(1).map((piece) => h("em", {}, ` ${piece}`)));
  }

  /** What a heat map is drawn from: it changes with the zoom. */
  private drawnFrom(): string {
    const first = this.loaded?.answers[0];
    if (first?.shape !== "heat") return "";
    const column = `a column is ${amount(first.bucket, unitOf("seconds"))}`;
    return first.table.endsWith("_event") ? `From single events (${first.table}); ${column}.` : `From the histogram ${first.table}; ${column}.`;
  }

  private dragged(area: Dragged, menu: boolean): void {
    this.tip.hidden = true;
    const heat = this.heatPicture();
    const at = { x: area.x, y: area.y };
    const done = (): void => this.picture.unselect();
    if (heat) {
      openDrillMenu(this.page, this.panel, this.index, rectangleSelection(area, heat), at, done);
    } else if (menu) {
      openDrillMenu(this.page, this.panel, this.index, { ...NOTHING, time: this.pointedTime(area.from, area.to) }, at, done);
    } else {
      done();
      zoom(this.page, area.from, area.to);
    }
  }

  /** The heat map that is shown, if one is. */
  private heatPicture(): HeatPicture | null {
    const shown = this.picture.shown;
    const run = shown?.loaded.runs[0];
    if (!shown?.image || !run) return null;
    return { image: shown.image, answer: shown.loaded.answers[0]!, run, zero: this.page.zero(run) };
  }

  /** A stretch that somebody pointed at, on the clock of the panel's first run. */
  private pointedTime(from: number, to: number): Selection["time"] {
    const run = this.page.runsOf(this.panel)[0] ?? this.page.first();
    return pointedStretch(from, to, { run, zero: this.page.zero(run) });
  }

  /** A click on a line leads on from its group; on a heat map, from the cell. */
  private clicked(at: { time: number; share: number; x: number; y: number }): void {
    const heat = this.heatPicture();
    if (heat) {
      const cell = this.picture.shown?.image?.cellAt(at.time, at.share);
      if (cell) this.drill(cellSelection(cell, heat), at);
      return;
    }
    const row = this.picture.rowAt(at.time, at.share, this.panel);
    if (row && row.words.length > 0) this.drillRow(row, at);
  }

  private drill(selection: Selection, at: { x: number; y: number }): void {
    openDrillMenu(this.page, this.panel, this.index, selection, at, () => undefined);
  }

  /** A row leads on from the expression that it is of. */
  private drillRow(row: Row, at: { x: number; y: number }): void {
    const panel = row.right && this.panel.right !== null ? { ...this.panel, expr: this.panel.right } : this.panel;
    openDrillMenu(this.page, panel, this.index, { ...NOTHING, words: row.words }, at, () => undefined);
  }

  /** For the keyboard: the whole of what is in view, as if it had been dragged. */
  drillAll(): void {
    const box = this.element.getBoundingClientRect();
    const { from, to } = this.page.view.range;
    const time = this.page.view.isWhole ? null : this.pointedTime(from, to);
    this.drill({ ...NOTHING, time }, { x: box.left + 80, y: Math.max(box.top + 60, 60) });
  }

  /** For the keyboard: the menu of a selection that was typed. */
  drillInto(selection: Selection): void {
    const box = this.element.getBoundingClientRect();
    this.drill(selection, { x: box.left + 80, y: Math.max(box.top + 60, 60) });
  }

  /** What is shown, for tables and files. */
  get shown(): Shown | null {
    return this.picture.shown;
  }

  /** Another time is in view. What is scrolled away is drawn when it comes back. */
  moved(): void {
    if (this.isSeen) this.picture.redraw();
    else this.isStale = true;
  }

  /** Whether it is on the screen, as the column watches it. */
  seen(isSeen: boolean): void {
    this.isSeen = isSeen;
    if (!isSeen || !this.isStale) return;
    this.isStale = false;
    this.picture.redraw();
  }

  pointed(): void {
    const at = this.page.view.cursor;
    this.picture.cross(at);
    this.legend?.point(at);
  }

  /** The page is of another width or in other colours. */
  redress(): void {
    this.picture.forget();
    if (this.loaded) this.show();
  }

  destroy(): void {
    this.loader.forget();
    this.picture.destroy();
    this.element.remove();
  }
}

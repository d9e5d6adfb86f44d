// The whole page: head, strips, panels and drawer, and who tells whom of a change.

import { refusalOf } from "./api/provider";
import type { Finding, Findings, Run } from "./api/types";
import { AddBar } from "./chrome/addbar";
import { Drawer } from "./chrome/drawer";
import type { DrawerName } from "./chrome/drawer";
import { findingsList, findingsStrip, openFinding } from "./chrome/findings";
import { Header } from "./chrome/header";
import { inventoryList } from "./chrome/inventory";
import { listenForKeys, showKeys } from "./chrome/keys";
import { commands } from "./commands";
import { Notices } from "./chrome/notices";
import { OutputList } from "./chrome/output";
import { copyLink, keepRun, openSheet, saveSheet } from "./chrome/sheets";
import { summaryBlock } from "./chrome/summary";
import { TimeStrip } from "./chrome/timestrip";
import { h, settled } from "./dom";
import { Live } from "./live";
import { Column } from "./panel/column";
import type { Page } from "./page";
import { isDark } from "./plot/theme";
import { boundsOf } from "./sheet/clock";
import { MOST_PANELS } from "./sheet/worksheet";

/** Milliseconds of quiet after which new answers are asked for, and after which a zoom is a step. */
const ASK_AFTER = 90;
const STEP_AFTER = 350;
/** Milliseconds after which findings of a growing run are looked for again. */
const FIND_AGAIN = 30_000;

export class Workbench {
  readonly column: Column;
  readonly drawer: Drawer;
  readonly add: AddBar;
  readonly notices = new Notices();
  readonly live: Live;
  private readonly output: OutputList;
  private readonly header: Header;
  private readonly strip: TimeStrip;
  private readonly findingsHost = h("div");
  private findings: Findings = { limits: [], findings: [] };
  private readonly ask = settled(ASK_AFTER, () => this.column.load(false));
  private readonly step = settled(STEP_AFTER, () => this.keepView());
  /** The runs and clock that the head was drawn for. */
  private drawn = "";
  /** The runs of the worksheet that were last told not to be there. */
  private missing = "";
  /** What was last told of how the runs are. */
  private state = "";
  /** The stretch of the worksheet that was last brought into view. */
  private fitted = "";

  constructor(
    readonly page: Page,
    private readonly host: HTMLElement,
  ) {
    this.column = new Column(page);
    this.add = new AddBar(page, (index) => this.column.show(index));
    this.drawer = new Drawer((name) => this.fill(name), () => this.host.classList.toggle("with-drawer", this.drawer.isOpen));
    this.output = new OutputList(page);
    this.strip = new TimeStrip(page, (finding) => this.show(finding));
    this.live = new Live(page, this.notices, { grown: () => this.grown(), gone: () => this.drawHead(), back: () => this.back() });
    const keys = commands(this);
    this.header = new Header(page, {
      drawer: (name) => this.drawer.toggle(name),
      keys: () => showKeys(keys),
      theme: () => this.switchTheme(),
      tell: (id) => void this.tell(id),
      undo: () => this.undo(),
      redo: () => this.redo(),
      pause: () => this.pause(),
      keep: () => keepRun(page, this.notices),
      save: () => void saveSheet(page, this.notices),
      copyLink: () => void copyLink(this.notices),
      openSheet: () => void openSheet(page, this.notices),
    });
    listenForKeys(keys);
  }

  /** Shows everything for the first time. */
  begin(damagedLink: boolean): void {
    const { page } = this;
    const skip = h("a", { class: "skip", href: "#panels", onclick: (event: Event) => {
      event.preventDefault();
      this.column.walk(1);
    } }, "to the panels");
    const top = h("div", { class: "top" }, this.header.element, this.notices.element, this.strip.element);
    const summary = summaryBlock(page.provider.summary());
    this.host.replaceChildren(skip, top, ...(summary ? [summary] : []), this.findingsHost, this.add.element, this.column.element, this.drawer.element, this.notices.passing);
    document.title = `${page.chosen().map((run) => run.name).join(", ")} – Sonde`;
    if (damagedLink) this.notices.keep("link", "wrong", "The worksheet in the address is cut off or damaged; this is the usual one.");
    page.store.events = {
      full: () => this.notices.say(`Not added: a worksheet has at most ${MOST_PANELS} panels. Remove one first.`),
      damaged: () => this.notices.keep("link", "wrong", "The worksheet in the address is cut off or damaged; what was shown stays."),
    };
    page.store.listen(() => this.changed());
    page.view.onMove(() => this.moved());
    page.view.onPoint(() => this.pointed());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.column.redress());
    this.printLight();
    this.problems();
    this.tellSinceBoot();
    this.state = stateOf(page.runs.runs);
    this.changed();
    void this.loadFindings();
    this.live.listen();
  }

  /** The worksheet is another. */
  private changed(): void {
    const { page } = this;
    const sheet = page.store.now;
    // A view that was moved and is not yet a step must not jump back.
    const fitted = JSON.stringify([sheet.from, sheet.to, sheet.align, sheet.runs]);
    if (fitted !== this.fitted) page.fitView();
    this.fitted = fitted;
    this.column.update(sheet);
    this.tellMissing(sheet.runs);
    const drawn = JSON.stringify([sheet.runs, sheet.align, page.runs.runs.map((run) => run.id)]);
    if (drawn !== this.drawn) {
      const again = this.drawn !== "";
      this.drawn = drawn;
      this.drawHead();
      this.strip.draw(this.findings.findings);
      if (again) this.column.load(true);
    }
    this.header.update();
    this.strip.move();
  }

  /** Means since boot have no place in time: a run of nothing else would open without a word. */
  private tellSinceBoot(): void {
    const run = this.page.told();
    if (!run.since_boot || Object.keys(run.subjects).length > 1) return;
    const ask = h("code", {}, "sonde get RUN 'since_boot.value by statistic, instance'");
    this.notices.keep("boot", "note", "This run has means since the machine was started, and nothing of an interval: ", ask);
  }

  /** Says which runs of a link are not open here. One run alone may have another name. */
  private tellMissing(runs: string[]): void {
    const missing = runs.length > 1 ? runs.filter((id) => !this.page.run(id)) : [];
    if (missing.join() === this.missing) return;
    this.missing = missing.join();
    this.notices.take("runs");
    if (missing.length > 0) this.notices.keep("runs", "wrong", `This worksheet is of the runs ${runs.join(", ")}; not open here: ${missing.join(", ")}.`);
  }

  private drawHead(): void {
    this.header.draw();
    this.header.cost(this.page.told());
  }

  /** Another stretch of time is in view. */
  private moved(): void {
    this.column.moved();
    this.strip.move();
    this.header.update();
    if (this.drawer.shows === "output") this.output.moved();
    this.ask();
    this.step();
  }

  private pointed(): void {
    this.column.pointed();
    this.strip.point();
    if (this.drawer.shows === "output") this.output.pointed();
  }

  /** The view becomes part of the worksheet, and a step to undo; following is none. */
  private keepView(): void {
    const { store, view } = this.page;
    const whole = view.isWhole || view.follow;
    const from = whole ? null : round(view.range.from);
    const to = whole ? null : round(view.range.to);
    if (from === store.now.from && to === store.now.to) return;
    this.fitted = JSON.stringify([from, to, store.now.align, store.now.runs]);
    store.change({ from, to });
  }

  /** Finds anew what stands out, and now and then again while a run grows. */
  private async loadFindings(): Promise<void> {
    const { page } = this;
    const run = page.told();
    try {
      this.findings = await page.provider.findings(run.id);
    } catch (thrown) {
      this.notices.say(`Findings: ${refusalOf(thrown).message}`);
    }
    if (run.id !== page.told().id) return;
    const which = page.chosen().length > 1 ? run.name : "";
    const strip = findingsStrip(this.findings.findings, which, (finding) => this.show(finding), () => this.drawer.toggle("findings"));
    this.findingsHost.replaceChildren(strip);
    this.strip.draw(this.findings.findings);
    if (run.live) setTimeout(() => void this.lookAgain(), FIND_AGAIN);
  }

  /** What is told of a growing run is not in its ticks: findings, and from when on it is kept. */
  private async lookAgain(): Promise<void> {
    try {
      this.page.runs = await this.page.provider.runs();
    } catch {
      // That the server is gone is told by whoever needs an answer.
      return;
    }
    await this.loadFindings();
  }

  /** Opens the evidence of a finding. */
  private show(finding: Finding): void {
    this.column.show(openFinding(this.page, this.page.told(), finding));
  }

  /** What is wrong with the runs themselves. */
  private problems(): void {
    for (const run of this.page.runs.runs) {
      this.notices.take(`problems-${run.id}`);
      if (run.problems.length > 0) this.notices.keep(`problems-${run.id}`, "wrong", h("b", {}, `${run.name}: `), run.problems.join("; "));
    }
  }

  private async fill(name: DrawerName): Promise<HTMLElement> {
    const { page } = this;
    const run = page.told();
    const content = await this.part(name, run);
    return page.chosen().length > 1 ? h("div", {}, h("p", { class: "note" }, h("b", { class: "which" }, run.name)), content) : content;
  }

  private async part(name: DrawerName, run: Run): Promise<HTMLElement> {
    if (name === "findings") return findingsList(run, this.findings, (finding) => this.show(finding));
    if (name === "inventory") return inventoryList(await this.page.provider.inventory(run.id));
    return this.output.open();
  }

  /** The head, the strip of time and the drawer tell of that run from now on. */
  private async tell(id: string): Promise<void> {
    this.page.tell(id);
    this.drawHead();
    await this.loadFindings();
    this.strip.move();
    if (this.drawer.shows) await this.drawer.open(this.drawer.shows);
  }

  /** A live run has grown by an interval, or has ended. */
  private grown(): void {
    const { page } = this;
    const before = page.view.follow;
    page.view.setBounds(boundsOf(page.chosen(), page.store.now.align));
    this.header.cost(page.told());
    if (before) page.followEnd();
    this.strip.draw(this.findings.findings);
    this.header.update();
    if (before) this.column.load(true);
    this.tellState();
  }

  /** Tells anew what the head and the messages say of the runs, where that has changed. */
  private tellState(): void {
    const { page } = this;
    const state = stateOf(page.runs.runs);
    if (state === this.state) return;
    this.state = state;
    // The newest is followed only while there is more to come.
    if (!page.chosen().some((run) => run.live)) page.view.follow = false;
    this.drawHead();
    this.problems();
    if (!page.first().live) void this.loadFindings();
  }

  private back(): void {
    this.drawn = "";
    this.fitted = "";
    this.problems();
    this.changed();
    this.column.load(true);
  }

  /** Called wherever a question found no server. */
  unreachable(): void {
    if (!this.page.provider.fixed) this.live.unreachable();
  }

  /** Takes the last step back; a zoom that is no step yet becomes one first. */
  undo(): void {
    this.keepView();
    this.page.store.undo();
  }

  redo(): void {
    this.page.store.redo();
  }

  /** Stops following, or follows again. */
  pause(): void {
    const { view, store } = this.page;
    if (!this.page.first().live) return;
    view.follow = !view.follow;
    if (view.follow) {
      store.change({ from: null, to: null }, true);
      this.page.followEnd();
      this.column.load(true);
    } else {
      this.step();
    }
    this.header.update();
  }

  switchTheme(): void {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    this.column.redress();
  }

  /** Paper is white: a dark page is printed light, as wide as the paper. */
  private printLight(): void {
    const root = document.documentElement;
    let before: string | undefined;
    window.addEventListener("beforeprint", () => {
      // A summary that is folded up is printed all the same.
      this.host.querySelector("details.summary")?.setAttribute("open", "");
      before = root.dataset.theme;
      root.dataset.theme = "light";
      this.column.redress();
    });
    window.addEventListener("afterprint", () => {
      if (before === undefined) delete root.dataset.theme;
      else root.dataset.theme = before;
      this.column.redress();
    });
  }

  drawerToggle(name: DrawerName): void {
    this.drawer.toggle(name);
  }
}

/** Whether runs grow, how they ended and what is wrong with them. */
function stateOf(runs: Run[]): string {
  return JSON.stringify(runs.map((run) => [run.id, run.live, run.end, run.problems]));
}

/** Nothing is seen below a microsecond, and links stay short. */
function round(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}

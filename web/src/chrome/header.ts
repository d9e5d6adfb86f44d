// The head of the page: which run, which time, live or not, and in the corner what Sonde itself
// cost and lost.

import { button, h } from "../dom";
import type { Page } from "../page";
import { alignments } from "../sheet/clock";
import { amount, unitOf } from "../units/amount";
import { clock, date, elapsed, length, timeStep } from "../units/time";
import type { OwnCost, Run } from "../api/types";

export interface HeaderEvents {
  drawer(name: "findings" | "inventory" | "output"): void;
  keys(): void;
  theme(): void;
  /** Tells of another run. */
  tell(id: string): void;
  undo(): void;
  redo(): void;
  pause(): void;
  keep(): void;
  save(): void;
  copyLink(): void;
  openSheet(): void;
}

export class Header {
  readonly element = h("header", { class: "page-head" });
  private readonly time = h("span", { class: "time-range" });
  private readonly own = h("span", { class: "own-cost", role: "status", "aria-label": "own cost and loss" });
  private readonly live = h("span", { class: "live" });
  private readonly steps: { undo: HTMLButtonElement; redo: HTMLButtonElement; whole: HTMLButtonElement };

  constructor(
    private readonly page: Page,
    private readonly events: HeaderEvents,
  ) {
    const { view } = page;
    this.steps = {
      undo: button("↶", "undo (u)", () => events.undo(), { class: "icon" }),
      redo: button("↷", "redo (U)", () => events.redo(), { class: "icon" }),
      whole: button("whole run", "show all of the time (0)", () => view.whole()),
    };
  }

  /** Builds it anew, after the runs or the worksheet changed. */
  draw(): void {
    const { events, page } = this;
    const fixed = page.provider.fixed;
    const run = page.told();
    this.element.replaceChildren(
      h("span", { class: "mark", title: `Sonde ${page.runs.version}` }, "sonde"),
      runNames(page, (id) => events.tell(id)),
      h("span", { class: "row group" }, this.steps.undo, this.steps.redo, this.time, this.steps.whole),
      this.live,
      h("span", { class: "spring" }),
      h("div", { class: "corner" }, this.own, h(
        "nav",
        { class: "row", "aria-label": "more about the run" },
        button("Findings", "what stands out (1)", () => events.drawer("findings")),
        button("Inventory", "machine and settings, and what changed (2)", () => events.drawer("inventory")),
        run.command ? button("Output", "what the command printed (3)", () => events.drawer("output")) : "",
        button("Link", "copy the link to this worksheet", () => events.copyLink()),
        fixed ? "" : button("Save", "save this worksheet in the run's directory", () => events.save()),
        fixed ? "" : button("Open", "open a saved worksheet", () => events.openSheet()),
        button("◐", "light or dark", () => events.theme(), { class: "icon" }),
        button("?", "keys and what the mouse does (?)", () => events.keys(), { class: "icon" }),
      )),
    );
    this.drawLive(page.first());
    this.update();
  }

  private drawLive(run: Run): void {
    const { page, events } = this;
    const keep = page.runs.live ? button("Keep", "write what was observed as a run", () => events.keep()) : "";
    if (page.gone) return this.live.replaceChildren();
    if (!run.live) return this.live.replaceChildren(keep);
    const following = page.view.follow;
    this.live.replaceChildren(
      h("i", { class: following ? "pulse" : "pulse paused", "aria-hidden": "true" }),
      button(following ? "Pause" : "Follow", following ? "stop following (space)" : "follow the newest (space)", () => events.pause(), { "aria-pressed": String(following) }),
      keep,
    );
  }

  /** Tells the time in view, and the steps that can be undone. */
  update(): void {
    const { view, store } = this.page;
    const run = this.page.first();
    const { from, to } = view.range;
    const step = Math.min(1, timeStep(to - from, 50));
    const zero = this.page.zero(run);
    this.time.textContent = `${elapsed(from, step)} – ${elapsed(to, step)}`;
    const dates = run.dated ? `${clock(run.started, from + zero, step)} – ${clock(run.started, to + zero, step)}, ` : "";
    this.time.title = `${dates}${length(to - from)}`;
    this.steps.undo.disabled = !store.canUndo;
    this.steps.redo.disabled = !store.canRedo;
    this.steps.whole.disabled = view.isWhole;
    const pressed = this.live.querySelector("button")?.getAttribute("aria-pressed");
    if (pressed !== undefined && pressed !== null && pressed !== String(view.follow)) this.drawLive(run);
  }

  /** The corner: what the recorder cost and what it lost. */
  cost(run: Run): void {
    const missing = missingOf(run);
    const which = this.page.chosen().length > 1 ? `own cost of ${run.id} ` : "own cost ";
    this.own.replaceChildren(h("span", { class: "what" }, which), costWords(run.own_cost, missing));
    const bad = missing.lost > 0 || missing.oneIn > 1 || (run.own_cost?.late ?? 0) > 0;
    this.own.classList.toggle("bad", bad);
    this.own.title = costTip(run.own_cost, missing);
  }
}

/** What is not in the run though it happened: how many were lost, and where most were left out, one in how many was kept. */
interface Missing {
  lost: number;
  oneIn: number;
}

/** What a run does not have, of all its time. */
export function missingOf(run: Pick<Run, "loss" | "own_cost">): Missing {
  const lost = run.loss.reduce((sum, loss) => sum + loss.dropped, 0);
  return { lost: Math.max(lost, run.own_cost?.dropped ?? 0), oneIn: Math.max(1, ...run.loss.map((loss) => loss.weight ?? 1)) };
}

/** Own cost in a few words. */
export function costWords(cost: OwnCost | null, { lost, oneIn }: Missing): string {
  const parts = [
    cost?.cpu_share != null ? `${amount(cost.cpu_share, unitOf("ratio"))} of a CPU` : "CPU not known",
    cost?.memory != null ? amount(cost.memory, unitOf("bytes")) : null,
    lost > 0 ? `${amount(lost, unitOf("count"))} lost` : null,
    oneIn > 1 ? "events left out" : null,
    lost === 0 && oneIn === 1 ? "nothing lost" : null,
  ];
  return parts.filter((part) => part !== null).join(" · ");
}

function costTip(cost: OwnCost | null, { lost, oneIn }: Missing): string {
  const parts = [
    cost?.cpu_at_ends != null ? `the share of a CPU is that while sampling; start and end took ${amount(cost.cpu_at_ends, unitOf("seconds"))} beside that` : null,
    `events lost: ${amount(lost, unitOf("count"))}`,
    oneIn > 1 ? `events came faster than the budget: where the strip is hatched, one in ${oneIn} at most was kept` : null,
    cost?.late != null ? `samples taken late: ${cost.late}` : null,
    cost?.bytes_written != null ? `written ${amount(cost.bytes_written, unitOf("bytes"))}` : null,
  ];
  return parts.filter((part) => part !== null).join("\n");
}

function runNames(page: Page, tell: (id: string) => void): HTMLElement {
  const runs = page.chosen();
  const told = page.told();
  const names = runs.map((run) => {
    const about = [run.path ?? "", run.command?.join(" ") ?? ""].filter((t) => t);
    if (runs.length === 1) return h("span", { class: "run-name", title: about.join("\n") }, run.name);
    const title = ["findings, inventory, output, strip and cost of this run", ...about].join("\n");
    return h("button", { type: "button", class: "run-name", title, "aria-pressed": String(run.id === told.id), onclick: () => tell(run.id) }, h("b", {}, run.id), run.name);
  });
  const facts = factsOf(told, page.gone);
  const align = runs.length > 1 ? alignChoice(page, runs) : "";
  return h("div", { class: "runs" }, h("h1", {}, ...names), h("p", {}, facts.filter((fact) => fact).join(" · ")), align);
}

/** A few words on a run: how long, when, how it ended. Of a server that is `gone` nothing is live. */
export function factsOf(run: Run, gone: boolean): (string | null)[] {
  const ended = run.end === null || run.end === "ok" ? null : run.end;
  if (run.live && gone) return ["server gone", date(run.started)];
  if (run.live) return ["live", date(run.started), ended];
  return [run.name === run.host ? null : run.host, length(run.seconds), run.dated ? date(run.started) : "times relative", ended];
}

function alignChoice(page: Page, runs: Run[]): HTMLElement {
  const select = h("select", { "aria-label": "align the runs at" });
  for (const { value, label } of alignments(runs)) {
    select.append(h("option", { value, selected: value === page.store.now.align }, `aligned at the ${label}`));
  }
  select.addEventListener("change", () => page.store.change({ align: select.value, from: null, to: null }));
  return select;
}

// The buttons of a panel: which kind of picture, of which run, and a menu for the rest.

import { button, h } from "../dom";
import { levelled } from "./tree";
import { parts } from "../expr/syntax";
import type { Page } from "../page";
import type { Panel, PanelKind } from "../sheet/worksheet";
import { askFor, selectByNumbers } from "./ask";
import { numberDimension } from "./load";
import { openMenu } from "./menu";
import type { Item } from "./menu";
import type { PanelView } from "./panel";
import { canHaveRight } from "./secondaxis";
import { canSmooth } from "./smooth";
import { csv, download, tableOf } from "./table";

const KINDS: readonly (readonly [PanelKind, string, string])[] = [
  ["auto", "picture", "lines, areas or a heat map, as the numbers are"],
  ["lines", "lines", "a line each"],
  ["stack", "stack", "areas on each other"],
  ["fold", "fold", "the distribution over the visible time, with its quantiles"],
  ["tree", "tree", "levels with their sums"],
  ["table", "table", "the numbers"],
  ["events", "events", "the slowest single events"],
];

/** The kinds that make sense for an expression. */
function kinds(page: Page, panel: Panel): readonly (readonly [PanelKind, string, string])[] {
  const numbers = numberDimension(panel.expr, page.catalog) !== null;
  const levels = levelled(parts(panel.expr)?.by ?? []) !== null;
  const hidden = new Set<PanelKind>(numbers ? ["lines", "stack", "tree"] : ["fold"]);
  if (!levels) hidden.add("tree");
  // Distributions and single events are one run's, and are not subtracted.
  if (page.isDifference(panel)) hidden.add("fold").add("events");
  if (page.provider.fixed) hidden.add("events");
  return KINDS.filter(([kind]) => !hidden.has(kind) || kind === panel.kind);
}

/** The buttons of a panel. */
export function tools(page: Page, view: PanelView): HTMLElement[] {
  const panel = view.panel;
  const change = (next: Partial<Panel>): void => page.store.changePanel(view.index, next);
  const here = panel.kind === "heat" ? "auto" : panel.kind;
  const kind = h(
    "span",
    { class: "choice kinds", role: "group", "aria-label": "kind of picture" },
    ...kinds(page, panel).map(([name, label, tip]) => button(label, tip, () => change({ kind: name }), { "aria-pressed": String(name === here) })),
  );
  const more = button("⋯", "more for this panel", (event) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    openMenu("this panel", menu(page, view), { x: box.right - 260, y: box.bottom });
  }, { class: "icon", "aria-haspopup": "menu" });
  const close = button("×", "remove this panel (undo brings it back)", () => page.store.removePanel(view.index), { class: "icon" });
  return [...runChoice(page, view), kind, more, close];
}

/** Which run, or the difference of two. */
function runChoice(page: Page, view: PanelView): HTMLElement[] {
  const runs = page.chosen();
  if (runs.length < 2) return [];
  const [a, b] = runs;
  const numbers = numberDimension(view.panel.expr, page.catalog) !== null;
  const options: [string | null, string, string][] = runs.map((run) => [run.id, run.id, `only ${run.name}`]);
  if (numbers) options.push([`${a!.id}-${b!.id}`, `${b!.id} − ${a!.id}`, `${b!.name} less ${a!.name}`]);
  else options.unshift([null, "all", "all runs on one clock"]);
  const single = view.panel.run !== null && page.run(view.panel.run) ? view.panel.run : null;
  const now = numbers ? (view.panel.run ?? a!.id) : single;
  const choose = (run: string | null): void => {
    const panel = { ...view.panel, run };
    const offered = kinds(page, { ...panel, kind: "auto" }).some(([kind]) => kind === panel.kind);
    page.store.changePanel(view.index, offered ? { run } : { run, kind: "auto" });
  };
  return [
    h(
      "span",
      { class: "choice", role: "group", "aria-label": "run" },
      ...options.map(([run, label, tip]) => button(label, tip, () => choose(run), { "aria-pressed": String(run === now) })),
    ),
  ];
}

function menu(page: Page, view: PanelView): Item[] {
  const { panel, index } = view;
  const change = (next: Partial<Panel>): void => page.store.changePanel(index, next);
  const log = panel.log ?? view.shown?.heat?.log ?? false;
  const items: Item[] = [
    { label: "Drill down…", note: "d", act: () => view.drillAll() },
    { label: "Select by numbers…", note: "s", act: () => selectByNumbers(page, view) },
    { label: "Logarithmic axis", on: log, act: () => change({ log: !log }) },
    ...(canSmooth(panel, page.catalog) ? [{ label: "Smooth…", ...(panel.smooth ? { note: `${panel.smooth} s` } : {}), act: () => askSmooth(view, change) }] : []),
    ...(!panel.right && !canHaveRight(panel, page.catalog) ? [] : [{
      label: panel.right ? "Without the second axis" : "Second axis…",
      act: () => (panel.right ? change({ right: null }) : askFor("A second expression, on the axis at the right", "", (right) => change({ right: right || null }))),
    }]),
    { label: panel.beside ? "Below the one before" : "Beside the one before", disabled: index === 0, act: () => change({ beside: !panel.beside }) },
    { label: "Compare beside", note: "a copy", act: () => compareBeside(page, view) },
    { label: "Up", disabled: index === 0, act: () => page.store.movePanel(index, -1) },
    { label: "Down", disabled: index === page.store.now.panels.length - 1, act: () => page.store.movePanel(index, 1) },
    { label: "Save as CSV", disabled: !view.shown, act: () => save(page, view) },
  ];
  if (panel.hidden.length > 0 || panel.isolate !== null) {
    items.push({ label: "Show all lines again", act: () => change({ hidden: [], isolate: null }) });
  }
  if (panel.top !== null) items.push({ label: "Fewer lines, the rest as other", act: () => change({ top: null }) });
  return items;
}

/** A copy at the right; of the other run, where there are two. */
function compareBeside(page: Page, view: PanelView): void {
  const runs = page.chosen();
  const now = view.panel.run ?? runs[0]?.id ?? null;
  const other = runs.find((run) => run.id !== now)?.id ?? view.panel.run;
  page.addPanel({ ...view.panel, run: runs.length > 1 ? other : view.panel.run, beside: true }, view.index);
}

function askSmooth(view: PanelView, change: (next: Partial<Panel>) => void): void {
  askFor("Running mean over how many seconds? Empty for none", view.panel.smooth ? String(view.panel.smooth) : "", (text) => {
    const seconds = Number(text);
    change({ smooth: seconds > 0 && Number.isFinite(seconds) ? seconds : null });
  });
}

/** The file's name says of which runs it is, where there are several. */
function save(page: Page, view: PanelView): void {
  if (!view.shown) return;
  const name = view.panel.expr.replaceAll(/[^\p{L}\p{N}.]+/gu, "-").slice(0, 80);
  const { runs } = view.shown.loaded;
  const of = page.chosen().length > 1 ? `-${runs.map((run) => run.id).join("-")}` : "";
  download(`${name}${of}.csv`, csv(tableOf(view.shown, view.panel)));
}

// "By …": what to do with a part of a picture that was pointed at.

import { drill, choices, narrowed, predicates } from "../expr/drill";
import type { Selection } from "../expr/drill";
import { parts, text } from "../expr/syntax";
import { breakdowns, canAnswer, subjectOf } from "../expr/complete";
import { numberDimension, runsToAsk } from "./load";
import type { Page } from "../page";
import { panelOf } from "../sheet/worksheet";
import type { Panel } from "../sheet/worksheet";
import { openMenu } from "./menu";
import type { Item } from "./menu";

/** The predicate of a selection, as the new panels will have it. */
export function selectionWords(selection: Selection, every: number | null): string {
  return predicates(selection, every).join(" and ");
}

/**
 * The run of a panel that leads on from another: as there, but one run alone where only one was
 * shown, and where a time was selected and the runs' clocks differ. Only heat maps are subtracted.
 */
export function runOfNext(page: Page, panel: Panel, selection: Selection, expr: string): string | null {
  if (page.chosen().length < 2) return panel.run;
  const [first, ...rest] = runsToAsk(page, panel);
  if (!first) return panel.run;
  const apart = rest.some((run) => page.zero(run) !== page.zero(first));
  if (rest.length === 0 || (selection.time && apart)) return first.id;
  return page.isDifference(panel) && numberDimension(expr, page.catalog) === null ? null : panel.run;
}

/** Opens the menu for a selection in the panel at `index`. */
export function openDrillMenu(page: Page, panel: Panel, index: number, selection: Selection, at: { x: number; y: number }, closed: () => void): void {
  const runs = runsToAsk(page, panel);
  const run = runs[0] ?? page.first();
  const { every } = run;
  const found = parts(panel.expr);
  if (!found) return;
  const zero = page.zero(run);
  // The menu speaks of the run's own time, as the expression does.
  const shifted: Selection = selection.time
    ? { ...selection, time: { ...selection.time, from: selection.time.from + zero, to: selection.time.to + zero } }
    : selection;
  const add = (expr: string | null, more: Partial<Panel> = {}): void => {
    if (expr !== null) page.addPanel(panelOf(expr, { run: runOfNext(page, panel, selection, expr), ...more }), index);
  };
  const where = narrowed(found.where, shifted, every);
  const subject = subjectOf(page.catalog, found.subject);
  const dimensions = breakdowns(subject);
  const all = choices(panel.expr, shifted, dimensions.map((d) => d.name));
  const can = all.filter((name) => canAnswer(run, found.subject, name));
  const cannot = all.filter((name) => !canAnswer(run, found.subject, name));
  const unitOfDimension = (name: string): string => {
    const dimension = dimensions.find((d) => d.name === name);
    return dimension?.number != null ? "heat map" : "";
  };
  const items: Item[] = [];
  if (selection.time) {
    const { from, to } = selection.time;
    items.push({ label: "Zoom to this time", act: () => zoom(page, from, to) });
  }
  items.push(
    { label: "Slowest events here", note: "table", act: () => add(text({ ...found, where }), { kind: "events" }) },
    { label: "Only this, on its own", act: () => add(text({ ...found, where })) },
    { label: "Break down by", heading: true },
    ...can.map((by) => ({ label: `by ${by}`, note: unitOfDimension(by), act: () => add(drill(panel.expr, shifted, [by], every)) })),
  );
  if (cannot.length > 0) {
    items.push({ label: "Not in this run; the answer says what to record", heading: true });
    items.push(...cannot.map((by) => ({ label: `by ${by}`, note: "not recorded", act: () => add(drill(panel.expr, shifted, [by], every)) })));
  }
  const alone = runs.length > 1 && runOfNext(page, panel, selection, panel.expr) === run.id ? ` of ${run.name}` : "";
  openMenu((selectionWords(shifted, every) || panel.expr) + alone, items, at, closed);
}

/** Shows a stretch and makes it a step to undo. */
export function zoom(page: Page, from: number, to: number): void {
  page.view.follow = false;
  page.view.show(from, to);
}

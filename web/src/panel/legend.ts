// The legend of lines: what each is, its value at the crosshair, mean, greatest and total over the
// visible time. A click isolates, and each row leads on to the next question.

import { button, h } from "../dom";
import { columnAt } from "../plot/columns";
import type { Answer, Maybe } from "../api/types";
import { amount, amountUnit, columnDigits, columnScale, unitOf } from "../units/amount";
import type { Panel } from "../sheet/worksheet";
import { isShown, wholeOf } from "./rows";
import type { Row } from "./rows";

export interface LegendEvents {
  /** By the row's id. */
  isolate(id: string): void;
  hide(id: string): void;
  /** Shows more groups on their own. */
  open(): void;
  drill(row: Row, at: { x: number; y: number }): void;
}

/** A legend as it stands in the page. */
export interface Legend {
  element: HTMLElement;
  /** Tells the values at a time, or at none. */
  point(at: number | null): void;
}

const number = (text: string): HTMLElement => h("td", { class: "number" }, text);

/** The legend's table. */
export function legend(rows: Row[], panel: Panel, answer: Answer, events: LegendEvents): Legend {
  const unit = unitOf(answer.value_unit);
  const left = rows.filter((row) => !row.right);
  const scale = columnScale(left.flatMap((row) => [row.mean, row.max]), unit);
  const totals = columnScale(left.map((row) => row.total), amountUnit(unit));
  const hasTotals = answer.kind === "sum";
  const cursors: { row: Row; cell: HTMLElement }[] = [];
  const value = (row: Row, v: Maybe): string => (row.right ? amount(v, row.unit) : columnDigits(v, scale, unit));
  const body = h("tbody");
  for (const row of rows) {
    const shown = isShown(row, panel, rows);
    const cursor = number("");
    cursors.push({ row, cell: cursor });
    const name = nameCell(row, shown, panel.isolate === row.id, events);
    const total = row.right ? "" : columnDigits(row.total, totals, amountUnit(unit));
    const cells = [cursor, number(value(row, row.mean)), number(value(row, row.max)), hasTotals ? number(total) : null];
    body.append(h("tr", { class: shown ? "" : "off" }, name, ...cells));
  }
  const whole = wholeOf(left, answer);
  const foot = whole && panel.isolate === null
    ? h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "all"), number(""), number(columnDigits(whole.mean, scale, unit)), number(""), number(columnDigits(whole.total, totals, amountUnit(unit)))))
    : null;
  const heads = ["here", `mean`, `max`, ...(hasTotals ? [`total`] : [])];
  const suffix = (s: string): HTMLElement => h("small", {}, s || " ");
  const units = ["", scale.suffix, scale.suffix, totals.suffix];
  const head = h(
    "thead",
    {},
    h("tr", {}, h("th", { scope: "col" }, panel.isolate !== null ? "only one shown" : ""), ...heads.map((text, i) => h("th", { scope: "col", class: "number" }, text, suffix(units[i]!)))),
  );
  const element = h("div", { class: "legend" }, h("table", { "aria-label": "legend, over the visible time" }, head, body, foot));
  return {
    element,
    point: (at) => {
      for (const { row, cell } of cursors) cell.textContent = at === null ? "" : value(row, valueAt(row, at));
    },
  };
}

function nameCell(row: Row, shown: boolean, isolated: boolean, events: LegendEvents): HTMLElement {
  const swatch = h("i", { class: "swatch", "aria-hidden": "true" });
  if (row.line) swatch.style.setProperty("--colour", row.line.colour);
  if (row.line?.dash.length) swatch.classList.add("dashed");
  const full = `${row.label}${row.label.startsWith(`${row.run.id} · `) ? ` (${row.run.name})` : ""}`;
  const tip = row.other
    ? `${row.count} more: show some of them on their own`
    : `${full}: ${isolated ? "show all again" : "show only this"} (with Shift: ${shown ? "hide" : "show"} it)`;
  const act = (event: MouseEvent): void => {
    if (row.other && !event.shiftKey) events.open();
    else if (event.shiftKey) events.hide(row.id);
    else events.isolate(row.id);
  };
  const name = h("button", { type: "button", class: "name", title: tip, "aria-pressed": String(isolated), onclick: act }, swatch, h("span", {}, row.label));
  const more = row.words.length > 0
    ? button("by…", `break ${row.label} down by something else`, (event) => {
        const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
        events.drill(row, { x: box.left, y: box.bottom });
      }, { class: "more" })
    : null;
  return h("th", { scope: "row" }, h("div", { class: "name-cell" }, name, more));
}

/** The value of a row's column at a time. */
export function valueAt(row: Row, at: number): Maybe {
  if (!row.line) return null;
  const column = columnAt(row.line.at, at, row.bucket);
  return column < 0 ? null : (row.line.mean[column] ?? null);
}

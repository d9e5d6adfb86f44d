// The numbers of a panel as a table: for screen readers, for looking up, for copying.

import type { Answer, Maybe } from "../api/types";
import { h } from "../dom";
import type { Difference } from "../plot/difference";
import { amount, amountUnit, columnDigits, columnScale, unitOf } from "../units/amount";
import { elapsed } from "../units/time";
import type { Shown } from "./picture";
import { isShown } from "./rows";
import type { Panel } from "../sheet/worksheet";

/** Rows that a page can bear; more are in the CSV. */
const MOST_ROWS = 500;

/** A table before it is drawn: heads with units, and cells. */
export interface Table {
  heads: { text: string; unit: string }[];
  rows: (string | Maybe)[][];
}

/** Lines as a table: a row a column of time, at its end as everywhere in Sonde. */
export function lineTable(shown: Shown, panel: Panel): Table {
  const rows = shown.rows.filter((row) => isShown(row, panel, shown.rows) && row.line);
  // The end of each column stands behind its begin.
  const ends = rows.map((row) => row.line!.steps.filter((_, i) => i % 2 === 1));
  const times = [...new Set(ends.flat())].sort((a, b) => a - b);
  const places = ends.map((of) => new Map(of.map((t, i) => [t, i])));
  return {
    heads: [{ text: "time", unit: "s" }, ...rows.map((row) => ({ text: row.label, unit: unitName(row.unit) }))],
    rows: times.map((t) => [t, ...rows.map((row, r) => row.line!.mean[places[r]!.get(t) ?? -1] ?? null)]),
  };
}

/** The amount above a heat map, of the time that is shown; a report does not tell it of a part. */
export function amountAbove({ heat, fold }: Answer): number {
  if (!heat || !fold || !(heat.hidden.amount > 0)) return 0;
  const above = heat.total - fold.amounts.reduce((a, b) => a + b, 0);
  return above > heat.total * 1e-9 ? above : 0;
}

/**
 * A heat map as a table: a row a bucket of numbers, over the visible time, and one without an end
 * for what lies above the picture. Shares are of all of it.
 */
export function bucketTable(answer: Answer): Table {
  const fold = answer.fold;
  const key = answer.key.find((k) => k.number !== null);
  const above = amountAbove(answer);
  const total = (fold?.amounts ?? []).reduce((a, b) => a + b, above);
  const row = (from: number, below: Maybe, amount: number): Maybe[][] => (amount > 0 ? [[from, below, amount, amount / total]] : []);
  const rows = (fold?.amounts ?? []).flatMap((a, i) => row(fold!.edges[i]!, fold!.edges[i + 1]!, a));
  if (fold) rows.push(...row(fold.edges.at(-1)!, null, above));
  const number = unitName(unitOf(key?.number));
  const name = key?.dimension ?? "number";
  return {
    heads: [
      { text: `${name} from`, unit: number },
      { text: "below", unit: number },
      { text: "amount", unit: unitName(amountUnit(unitOf(answer.value_unit))) },
      { text: "share", unit: "ratio" },
    ],
    rows,
  };
}

/** The difference of two heat maps as a table: how much more the second run has in each row. */
export function differenceTable(answer: Answer, { cells, edges, times }: Difference): Table {
  const columns = times.length - 1;
  const seconds = times[1]! - times[0]!;
  const rows = edges.slice(0, -1).map((edge, row) => {
    const more = cells.subarray(row * columns, (row + 1) * columns).reduce((a, b) => a + b, 0) * seconds;
    return [edge, edges[row + 1]!, more];
  });
  const key = answer.key.find((k) => k.number !== null);
  const number = unitName(unitOf(key?.number));
  return {
    heads: [
      { text: `${key?.dimension ?? "number"} from`, unit: number },
      { text: "below", unit: number },
      { text: "difference", unit: unitName(amountUnit(unitOf(answer.value_unit))) },
    ],
    rows: rows.filter(([, , more]) => more !== 0),
  };
}

function unitName(unit: ReturnType<typeof unitOf>): string {
  return unit.base === "joules" && unit.rate ? "watts" : unit.base + (unit.rate ? "/s" : "");
}

/** The table of what is shown. */
export function tableOf(shown: Shown, panel: Panel): Table {
  const first = shown.loaded.answers[0]!;
  if (shown.shape === "lines") return lineTable(shown, panel);
  return shown.difference ? differenceTable(first, shown.difference) : bucketTable(first);
}

/** A step of time, in seconds, that tells each of these rising times from the next. */
export function stepOf(times: readonly number[]): number {
  const apart = times.slice(1).map((t, i) => t - times[i]!).filter((seconds) => seconds > 1e-9);
  return Math.min(0.1, ...apart.map((seconds) => seconds / 10));
}

/** In the page; numbers of a column are in one unit. */
export function drawTable(table: Table, caption: string): HTMLElement {
  const rows = table.rows.slice(0, MOST_ROWS);
  const scales = table.heads.map((head, c) => {
    const unit = unitOf(head.unit);
    return { unit, scale: columnScale(rows.map((row) => (typeof row[c] === "number" ? row[c] : null)), unit) };
  });
  const isTime = (c: number): boolean => table.heads[c]!.text === "time";
  const step = stepOf(rows.flatMap((row) => (isTime(0) && typeof row[0] === "number" ? [row[0]] : [])));
  // Edges of buckets span many powers: each has a unit of its own.
  const isEdge = (c: number): boolean => c < 2 && table.heads[1]?.text === "below";
  const cell = (v: string | Maybe, c: number): HTMLElement => {
    if (typeof v === "string") return h("td", {}, v);
    if (v !== null && isTime(c)) return h("td", { class: "number" }, elapsed(v, step));
    return h("td", { class: "number" }, isEdge(c) ? amount(v, scales[c]!.unit) : columnDigits(v, scales[c]!.scale, scales[c]!.unit));
  };
  const heads = table.heads.map((head, c) =>
    h("th", { scope: "col", class: "number" }, head.text, isTime(c) || isEdge(c) || scales[c]!.scale.suffix === "" ? null : h("small", {}, scales[c]!.scale.suffix)),
  );
  const left = table.rows.length - rows.length;
  return h(
    "div",
    { class: "table-box", tabindex: 0, role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map(cell))))),
    isTime(0) ? h("p", { class: "note" }, "each time is the end of what its row tells") : null,
    left > 0 ? h("p", { class: "note" }, `${left} more rows; the CSV has all of them`) : null,
  );
}

/** A field of a CSV; a formula of a spreadsheet is never made of a name. */
export function field(v: string | Maybe): string {
  if (v === null) return "";
  if (typeof v === "number") return String(v);
  const safe = /^[=+\-@\t\r]/.test(v) ? `'${v}` : v;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** All rows as CSV, in base units, which the heads name. */
export function csv(table: Table): string {
  const heads = table.heads.map((head) => field(head.unit ? `${head.text} (${head.unit})` : head.text));
  return [heads.join(","), ...table.rows.map((row) => row.map(field).join(","))].join("\r\n") + "\r\n";
}

/** Hands a text to the reader as a file. */
export function download(name: string, text: string, type = "text/csv"): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

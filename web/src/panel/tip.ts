// What lies under the pointer in a heat map: time, range, count, share.

import { h } from "../dom";
import type { Page } from "../page";
import { amount, amountUnit, unitOf } from "../units/amount";
import { clock, elapsed } from "../units/time";
import { percent } from "./heatlegend";
import { keptIn } from "./picture";
import type { Shown } from "./picture";

/** Rows of words about a cell. */
export interface CellWords {
  time: string;
  range: string;
  count: string;
  share: string;
}

/** The sum of a column's cells. */
function columnSum(cells: readonly (number | null)[], column: number, columns: number): number {
  let sum = 0;
  for (let i = column; i < cells.length; i += columns) sum += cells[i] ?? 0;
  return sum;
}

/** Words for the cell at a time and a share of the axis; `null` outside of the picture. */
export function cellWords(shown: Shown, time: number, share: number, zero: number): CellWords | null {
  const { image, heat, difference } = shown;
  const cell = image?.cellAt(time, share);
  if (!image || !cell || !heat) return null;
  const answer = shown.loaded.answers[0]!;
  const number = unitOf(answer.key.find((key) => key.number !== null)?.number);
  const unit = unitOf(answer.value_unit);
  const [from, to] = [image.times[cell.column]!, image.times[cell.column + 1]!];
  const run = shown.loaded.runs[0]!;
  const step = to - from < 1 ? 0.001 : 0.1;
  const words = {
    time: `${elapsed(from, step)} – ${elapsed(to, step)}${run.dated ? ` (${clock(run.started, to + zero, step)})` : ""}`,
    range: `${amount(image.edges[cell.row], number)} … ${amount(image.edges[cell.row + 1], number)}`,
  };
  const at = cell.row * image.columns + cell.column;
  if (difference) {
    if (difference.gaps[cell.column]) return { ...words, count: "only one of the runs was there", share: "" };
    const less = difference.cells[at]!;
    return { ...words, count: `${less > 0 ? "+" : ""}${amount(less, unit)}`, share: "" };
  }
  const value = heat.cells[at] ?? null;
  if (value === null) {
    const isKept = keptIn(shown.loaded)(from + zero, to + zero);
    return { ...words, count: isKept ? "gap: nothing was observed" : "not asked for: the expression keeps another time", share: "" };
  }
  const column = columnSum(heat.cells, cell.column, image.columns);
  // What lies above the picture is only known of all the time together.
  const drawn = heat.hidden.amount > 0 ? "of what is drawn of this time" : "of this time";
  const shares = column > 0 && heat.total > 0 ? `${percent(value / column)} ${drawn}, ${percent(value / heat.total)} of all` : "";
  return { ...words, count: amount(value, amountUnit(unit)), share: shares };
}

/** Shows them beside the pointer. */
export function cellTip(tip: HTMLElement, shown: Shown | null, page: Page, at: { left: number; top: number; time: number; share: number } | null): void {
  const run = shown?.loaded.runs[0];
  const words = at && shown && run ? cellWords(shown, at.time, at.share, page.zero(run)) : null;
  tip.hidden = words === null;
  if (!words || !at) return;
  tip.replaceChildren(h("b", {}, words.range), h("span", {}, words.time), h("span", {}, words.count), words.share ? h("span", {}, words.share) : "");
  const box = tip.parentElement?.clientWidth ?? 400;
  const left = at.left + 80 + tip.offsetWidth > box ? at.left - tip.offsetWidth + 50 : at.left + 80;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, at.top - 10)}px`;
}

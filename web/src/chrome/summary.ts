// The summary that a report carries: what ran, how it ended, what it was bound by, what stood
// out, what was not there to be recorded and what recording cost. As `sonde show` tells it.

import type { SummaryPart, SummaryTable } from "../api/types";
import { h } from "../dom";

/** Consecutive entries as one list; an entry without a label goes on with the one above. */
export function blocks(parts: SummaryPart[]): ({ label: string; texts: string[] }[] | SummaryPart)[] {
  const all: ({ label: string; texts: string[] }[] | SummaryPart)[] = [];
  for (const part of parts) {
    if (!("label" in part)) {
      all.push(part);
      continue;
    }
    let list = all.at(-1);
    if (!Array.isArray(list)) all.push((list = []));
    const above = list.at(-1);
    if (part.label === "" && above) above.texts.push(part.text);
    else list.push({ label: part.label, texts: [part.text] });
  }
  return all;
}

function tableOf({ columns, rows }: SummaryTable): HTMLElement {
  const kind = (i: number): string | null => (columns[i]?.number ? "number" : null);
  const head = columns.map((column, i) => h("th", { scope: "col", class: kind(i) }, column.name));
  const body = rows.map((row) => h("tr", {}, ...row.map((text, i) => h("td", { class: kind(i) }, text))));
  return h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...body));
}

/** The summary as a block that can be folded up; `null` where there is none. */
export function summaryBlock(parts: SummaryPart[]): HTMLElement | null {
  if (parts.length === 0) return null;
  const content = blocks(parts).map((block) => {
    if (Array.isArray(block)) {
      return h("dl", {}, ...block.flatMap(({ label, texts }) => [h("dt", {}, label), ...texts.map((text) => h("dd", {}, text))]));
    }
    return "line" in block ? h("p", {}, block.line) : "columns" in block ? tableOf(block) : null;
  });
  return h("details", { class: "summary", open: true }, h("summary", {}, "Summary"), h("div", {}, ...content));
}

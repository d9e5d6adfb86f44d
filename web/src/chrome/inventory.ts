// The machine and its settings as found at the start, and what had changed by the end.

import type { Inventory } from "../api/types";
import { h } from "../dom";

/** A value as one line. */
function oneLine(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (typeof value === "string") return value;
  return JSON.stringify(value);
}

function isBranch(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** A list of plain values fits a line. */
function isShort(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => !isBranch(item)) && JSON.stringify(value).length < 60;
}

function branch(name: string, value: unknown, depth: number): HTMLElement {
  if (!isBranch(value) || isShort(value)) {
    return h("div", { class: "fact", "data-words": `${name} ${oneLine(value)}`.toLowerCase() }, h("dt", {}, name), h("dd", {}, oneLine(value)));
  }
  const inside = Object.entries(value).map(([key, item]) => branch(key, item, depth + 1));
  const many = h("small", {}, `${Object.keys(value).length}`);
  return h("details", { open: depth < 1 }, h("summary", {}, name, many), h("dl", {}, ...inside));
}

/** The drawer's content: changes first, then all of it with a field to search. */
export function inventoryList(inventory: Inventory): HTMLElement {
  const changes = inventory.changed.map((change) =>
    h("tr", {}, h("th", { scope: "row" }, change.path), h("td", {}, oneLine(change.before)), h("td", {}, oneLine(change.after))),
  );
  const tree = h("div", { class: "facts" });
  if (isBranch(inventory.start)) {
    tree.append(...Object.entries(inventory.start).map(([name, value]) => branch(name, value, 0)));
  } else {
    tree.append(h("p", { class: "note" }, "this run has no inventory"));
  }
  const field = h("input", { type: "search", placeholder: "find a setting", "aria-label": "find a setting" });
  field.addEventListener("input", () => narrow(tree, field.value.trim().toLowerCase()));
  return h(
    "div",
    { class: "inventory" },
    changes.length > 0
      ? h("table", {}, h("caption", {}, "changed during the run"), h("thead", {}, h("tr", {}, ...["setting", "before", "after"].map((t) => h("th", { scope: "col" }, t)))), h("tbody", {}, ...changes))
      : h("p", { class: "note" }, "no setting changed during the run"),
    field,
    tree,
  );
}

/** Shows only facts with these letters, and opens what holds them. */
function narrow(tree: HTMLElement, words: string): void {
  for (const fact of tree.querySelectorAll<HTMLElement>(".fact")) {
    fact.hidden = words !== "" && !(fact.dataset.words ?? "").includes(words);
  }
  const all = [...tree.querySelectorAll<HTMLDetailsElement>("details")].reverse();
  for (const details of all) {
    const any = details.querySelector(".fact:not([hidden])") !== null;
    details.hidden = words !== "" && !any;
    if (words !== "" && any) details.open = true;
  }
}

// A hierarchy in the page: levels that open and close, sums at each, a way to drill into any.

import { refusalOf } from "../api/provider";
import type { Answer, Hierarchy, Maybe, Run } from "../api/types";
import { button, h } from "../dom";
import type { Page } from "../page";
import { amount, amountUnit, unitOf } from "../units/amount";
import { bySlashes, LEVELS, tree } from "./tree";
import type { Node } from "./tree";

/** Levels that are open from the start. */
const OPEN_LEVELS = 2;

export type TreeDrill = (dimension: string, name: string, at: { x: number; y: number }) => void;

/** The first dimension of an answer that has levels. */
export function levelledDimension(answer: Answer): { dimension: string; place: number } | null {
  const place = answer.key.findIndex((key) => key.dimension in LEVELS);
  return place < 0 ? null : { dimension: answer.key[place]!.dimension, place };
}

/** The tree of an answer, or a sentence why there is none. */
export async function treeTable(page: Page, run: Run, answer: Answer, drill: TreeDrill): Promise<HTMLElement> {
  const level = levelledDimension(answer);
  if (!level) return h("p", { class: "refusal" }, "a hierarchy needs `by device`, `by cgroup` or `by file`");
  const amounts = new Map<string, Maybe>();
  for (const group of answer.groups ?? []) {
    const name = group.key[level.place] ?? "";
    const value = answer.kind === "sum" ? group.total : group.mean;
    amounts.set(name, value === null ? (amounts.get(name) ?? null) : (amounts.get(name) ?? 0) + value);
  }
  const adds = LEVELS[level.dimension] === "adds" && (answer.kind === "sum" || answer.kind === "level");
  let hierarchy: Hierarchy;
  try {
    hierarchy = await page.provider.hierarchy(run.id, level.dimension);
    if (hierarchy.roots.length === 0) hierarchy = bySlashes([...amounts.keys()]);
  } catch (thrown) {
    const refusal = refusalOf(thrown);
    if (refusal.unreachable) page.unreachable();
    hierarchy = bySlashes([...amounts.keys()]);
  }
  const unit = answer.kind === "sum" ? amountUnit(unitOf(answer.value_unit)) : unitOf(answer.value_unit);
  const nodes = tree(amounts, hierarchy, adds);
  const most = nodes.reduce((a, node) => Math.max(a, node.sum ?? 0), 0);
  const rest = answer.others && answer.others.count > 0 ? `${answer.others.count} more are in none of these sums: ${amount(answer.others.total, unit)}` : null;
  return h(
    "div",
    { class: "tree-box", role: "group", "aria-label": `${answer.expr}, by levels` },
    h("p", { class: "note" }, adds ? "each level with all below it" : "each device's own: what a stacked one does its disks do too"),
    ...nodes.map((node) => branch(node, 0, most, (v) => amount(v, unit), (name, at) => drill(level.dimension, name, at))),
    rest ? h("p", { class: "note" }, rest) : null,
  );
}

function branch(node: Node, depth: number, most: number, text: (v: Maybe) => string, drill: (name: string, at: { x: number; y: number }) => void): HTMLElement {
  const bar = h("i", { class: "share", "aria-hidden": "true" });
  bar.style.setProperty("--share", String(most > 0 ? (node.sum ?? 0) / most : 0));
  const more = button("by…", `break ${node.name} down by something else`, (event) => {
    event.preventDefault();
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    drill(node.name, { x: box.left, y: box.bottom });
  }, { class: "more" });
  const own = node.children.length > 0 && node.own !== node.sum && node.own !== null ? `own ${text(node.own)}` : "";
  const line = [h("span", { class: "label", title: node.name }, node.short), more, bar, h("small", {}, own), h("b", {}, text(node.sum))];
  if (node.children.length === 0) return h("div", { class: "leaf" }, ...line);
  return h(
    "details",
    { open: depth < OPEN_LEVELS },
    h("summary", {}, ...line),
    h("div", {}, ...node.children.map((child) => branch(child, depth + 1, most, text, drill))),
  );
}

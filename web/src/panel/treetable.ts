// Levels in the page: they open and close, have their sums, and a way to drill into any.

import type { Level, Levels, Maybe } from "../api/types";
import { button, h } from "../dom";
import { amount, amountUnit, unitOf } from "../units/amount";
import { elapsed } from "../units/time";
import { shortName } from "./tree";

/** Levels that are open from the start. */
const OPEN_LEVELS = 2;

export type TreeDrill = (dimension: string, name: string, at: { x: number; y: number }) => void;

interface Drawing {
  most: number;
  text: (value: Maybe) => string;
  drill: (name: string, at: { x: number; y: number }) => void;
}

/** The tree of an answer. */
export function treeTable(levels: Levels, drill: TreeDrill): HTMLElement {
  const unit = amountUnit(unitOf(levels.unit));
  const drawing: Drawing = {
    most: levels.roots.reduce((most, node) => Math.max(most, node.sum ?? 0), 0),
    text: (value) => amount(value, levels.unit.endsWith("/s") ? unitOf(levels.unit) : unit),
    drill: (name, at) => drill(levels.dimension, name, at),
  };
  const note = levels.adds ? "each level with all below it" : levels.dimension === "device" ? "each device's own: what a stacked one does, its disks do too" : "each name's own: these do not add up";
  return h(
    "div",
    { class: "tree-box", role: "group", "aria-label": `${levels.expr}, by levels` },
    h("p", { class: "note" }, `${note}; from ${elapsed(levels.from, 0.01)} to ${elapsed(levels.to, 0.01)} of the run`),
    levels.roots.length === 0 ? h("p", { class: "empty" }, "no rows: nothing matches, or nothing was observed") : null,
    ...levels.roots.map((node) => branch(node, "", 0, drawing)),
    rest(levels.others, drawing),
  );
}

/** What is not told one by one. */
function rest(others: Level["others"], drawing: Drawing): HTMLElement | null {
  if (!others) return null;
  const sum = others.sum === null ? "" : drawing.text(others.sum);
  return h("div", { class: "leaf rest" }, h("span", { class: "label" }, `${others.count.toLocaleString("en")} more, each smaller`), h("b", {}, sum));
}

function branch(node: Level, above: string, depth: number, drawing: Drawing): HTMLElement {
  const bar = h("i", { class: "share", "aria-hidden": "true" });
  bar.style.setProperty("--share", String(drawing.most > 0 ? (node.sum ?? 0) / drawing.most : 0));
  const more = button("by…", `break ${node.name} down by something else`, (event) => {
    event.preventDefault();
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    drawing.drill(node.name, { x: box.left, y: box.bottom });
  }, { class: "more" });
  const inner = node.children.length > 0 || node.others !== null;
  const own = inner && node.own !== node.sum && node.own !== null ? `own ${drawing.text(node.own)}` : "";
  const line = [h("span", { class: "label", title: node.name }, shortName(node.name, above)), more, bar, h("small", {}, own), h("b", {}, drawing.text(node.sum))];
  if (!inner) return h("div", { class: "leaf" }, ...line);
  return h(
    "details",
    { open: depth < OPEN_LEVELS },
    h("summary", {}, ...line),
    h("div", {}, ...node.children.map((child) => branch(child, node.name, depth + 1, drawing)), rest(node.others, drawing)),
  );
}

// The keys: one table that is both what they do and the page of help.

import { isTyping, h } from "../dom";
import { dialog } from "../panel/ask";
import { closeMenu } from "../panel/menu";

export interface Key {
  /** As the browser names them; several do the same. */
  keys: string[];
  shown: string;
  does: string;
  act: () => void;
}

/** Listens for the keys wherever the reader is not typing. */
export function listenForKeys(keys: Key[]): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey) return;
    if (event.key === "Escape") closeMenu();
    const undo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
    if (isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const name = undo ? (event.shiftKey ? "U" : "u") : event.key;
    if ((event.ctrlKey || event.metaKey) && !undo) return;
    const onButton = event.target instanceof HTMLElement && event.target.closest("button, summary, a, .table-box, [role=slider]") !== null;
    if (onButton && (name === " " || name === "Enter")) return;
    const key = keys.find((k) => k.keys.includes(name));
    if (!key) return;
    event.preventDefault();
    key.act();
  });
}

const MOUSE: readonly (readonly [string, string])[] = [
  ["drag in lines", "zoom to this time"],
  ["Shift and drag", "select this time: break it down, list its events"],
  ["drag in a heat map", "select a rectangle: break just that down"],
  ["click a line or an area", "break it down by something else"],
  ["click in the legend", "show only this; with Shift: hide it"],
  ["Ctrl and wheel", "zoom about the pointer"],
  ["Shift and wheel, or sideways", "pan"],
  ["double click", "the whole run"],
  ["drag the strip at the top", "move the window, or pull its ends"],
];

/** The page of help. */
export function showKeys(keys: Key[]): void {
  const rows = (list: (readonly [string, string])[]): HTMLElement[] => list.map(([what, does]) => h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, what)), h("td", {}, does)));
  const table = (caption: string, list: (readonly [string, string])[]): HTMLElement => h("table", {}, h("caption", {}, caption), h("tbody", {}, ...rows(list)));
  const box = dialog("Keys and mouse", table("keys", keys.map((key) => [key.shown, key.does] as const)), table("mouse", [...MOUSE]));
  box.classList.add("keys");
  box.append(h("form", { method: "dialog" }, h("button", { type: "submit" }, "Close")));
}

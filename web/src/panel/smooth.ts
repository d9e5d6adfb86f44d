// Smoothed lines: which pictures have them, and what the panel says of them.

import type { Catalog } from "../api/types";
import type { Panel, PanelKind } from "../sheet/worksheet";
import { amount, unitOf } from "../units/amount";
import { numberDimension } from "./load";
import type { Loaded } from "./load";

/** Kinds that draw lines or areas, where the expression is no heat map. */
const DRAWN: readonly PanelKind[] = ["auto", "lines", "stack"];

/** Whether smoothing changes what a panel shows. */
export function canSmooth(panel: Panel, catalog: Catalog): boolean {
  return DRAWN.includes(panel.kind) && numberDimension(panel.expr, catalog) === null;
}

/** What smoothing did to the lines, in words; empty if nothing. */
export function smoothWords(panel: Panel, loaded: Loaded | null): string {
  if (panel.smooth === null || !loaded || !DRAWN.includes(panel.kind)) return "";
  const ratio = [...loaded.answers, ...loaded.right].some((answer) => answer.kind === "ratio");
  const seconds = amount(panel.smooth, unitOf("seconds"));
  return `Smoothed: each point is the mean over ${seconds} around it${ratio ? "; of a ratio, of its sums" : ""}.`;
}

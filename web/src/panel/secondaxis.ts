// The second axis of a panel: when it is drawn, and what is said where it is not.

import { Refusal, refusalOf, wasGivenUp } from "../api/provider";
import type { Catalog } from "../api/types";
import { RIGHT_AXIS } from "../plot/timeplot";
import type { Panel, PanelKind } from "../sheet/worksheet";
import { numberDimension } from "./load";

/** Kinds that have the numbers of a second expression. */
const BOTH: readonly PanelKind[] = ["auto", "lines", "stack", "table"];

/** Whether a panel can have a second axis: lines can. */
export function canHaveRight(panel: Panel, catalog: Catalog): boolean {
  return BOTH.includes(panel.kind) && numberDimension(panel.expr, catalog) === null;
}

/** The expression on the axis at the right, if there is one and lines are drawn. */
export function rightOf(panel: Panel, catalog: Catalog): string | null {
  return canHaveRight(panel, catalog) ? panel.right : null;
}

/** What is told of a second axis that is not drawn; empty if it is, or there is none. */
export function notDrawn(panel: Panel, catalog: Catalog): string {
  return panel.right !== null && !canHaveRight(panel, catalog) ? `Only lines have a second axis: ${panel.right} is not drawn.` : "";
}

/** Why a second expression has no line; `null` if it may have one. */
export function refusalOfRight(right: string, catalog: Catalog): Refusal | null {
  const number = numberDimension(right, catalog);
  return number === null ? null : new Refusal(`second axis, \`${right}\`: by ${number} it is a heat map, and only lines have a second axis`, null, null, -1);
}

/** A refusal that says that it is of the second expression: the first is right. */
export function ofRight(right: string, thrown: unknown): unknown {
  if (wasGivenUp(thrown)) return thrown;
  const { message, hint, status, unreachable } = refusalOf(thrown);
  return unreachable ? thrown : new Refusal(`second axis, \`${right}\`: ${message}`, hint, null, status);
}

/** Pixels that plots without an axis at the right leave there, so that times line up in all panels. */
export function rightRoom(panels: readonly Panel[], catalog: Catalog): number | null {
  return panels.some((panel) => rightOf(panel, catalog) !== null) ? RIGHT_AXIS : null;
}

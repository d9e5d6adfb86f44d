// What is told run by run, not on one picture: a block a run, with its name where there are several.

import type { Run } from "../api/types";
import { h } from "../dom";

/** One run's part of a panel. */
export interface Block {
  run: Run;
  content: HTMLElement;
}

/** The elements of these blocks. One that stands alone has no name: the panel tells it. */
export function named(blocks: Block[]): HTMLElement[] {
  if (blocks.length < 2) return blocks.map((block) => block.content);
  return blocks.map(({ run, content }) => h("section", { class: "of-run", "aria-label": run.name }, h("p", { class: "panel-words" }, h("b", { class: "which" }, run.name)), content));
}

// What the keys do.

import type { Key } from "./chrome/keys";
import { showKeys } from "./chrome/keys";
import { selectByNumbers } from "./panel/ask";
import type { Workbench } from "./workbench";

/** A step of panning, as a share of what is in view; and of zooming. */
const PAN = 0.2;
const ZOOM = 0.5;

/** The table of keys. */
export function commands(bench: Workbench): Key[] {
  const { page, column } = bench;
  const { view, store } = page;
  const free = (act: () => void) => (): void => {
    view.follow = false;
    act();
  };
  const keys: Key[] = [
    { keys: ["ArrowLeft"], shown: "←", does: "earlier", act: free(() => view.pan(-PAN)) },
    { keys: ["ArrowRight"], shown: "→", does: "later", act: free(() => view.pan(PAN)) },
    { keys: ["+", "="], shown: "+", does: "zoom in, about the crosshair", act: free(() => view.zoom(ZOOM, view.cursor ?? undefined)) },
    { keys: ["-"], shown: "−", does: "zoom out", act: free(() => view.zoom(1 / ZOOM)) },
    { keys: ["0"], shown: "0", does: "the whole run", act: free(() => view.whole()) },
    { keys: [","], shown: ",", does: "crosshair earlier", act: () => nudge(bench, -1) },
    { keys: ["."], shown: ".", does: "crosshair later", act: () => nudge(bench, 1) },
    { keys: ["j"], shown: "j", does: "next panel", act: () => column.walk(1) },
    { keys: ["k"], shown: "k", does: "panel before", act: () => column.walk(-1) },
    { keys: ["a", "/"], shown: "a", does: "add a statistic", act: () => bench.add.focus() },
    { keys: ["d"], shown: "d", does: "drill down: break the panel down by something else", act: () => column.focused()?.drillAll() },
    { keys: ["s"], shown: "s", does: "select by numbers, then drill down", act: () => withFocused(bench, (panel) => selectByNumbers(page, panel)) },
    { keys: ["t"], shown: "t", does: "the panel's numbers as a table, and back", act: () => withFocused(bench, (panel) => store.changePanel(panel.index, { kind: panel.panel.kind === "table" ? "auto" : "table" })) },
    { keys: ["x", "Delete"], shown: "x", does: "remove the panel", act: () => withFocused(bench, (panel) => store.removePanel(panel.index)) },
    { keys: ["u"], shown: "u, Ctrl+Z", does: "undo, back", act: () => bench.undo() },
    { keys: ["U"], shown: "U", does: "redo", act: () => bench.redo() },
    { keys: [" "], shown: "space", does: "pause or follow a live run", act: () => bench.pause() },
    { keys: ["1"], shown: "1", does: "findings", act: () => bench.drawerToggle("findings") },
    { keys: ["2"], shown: "2", does: "inventory", act: () => bench.drawerToggle("inventory") },
    { keys: ["3"], shown: "3", does: "output of the command", act: () => bench.drawerToggle("output") },
    { keys: ["?"], shown: "?", does: "this help", act: () => showKeys(keys) },
  ];
  return keys;
}

function withFocused(bench: Workbench, act: (panel: NonNullable<ReturnType<Workbench["column"]["focused"]>>) => void): void {
  const panel = bench.column.focused();
  if (panel) act(panel);
}

/** Moves the crosshair by a hundredth of what is in view; legends tell the values there. */
function nudge(bench: Workbench, by: number): void {
  const { view } = bench.page;
  const { from, to } = view.range;
  const at = view.cursor ?? (from + to) / 2;
  view.point(Math.min(to, Math.max(from, at + (by * (to - from)) / 100)));
}

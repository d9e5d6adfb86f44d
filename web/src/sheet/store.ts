// The worksheet as it is now, who wants to hear of changes, and the browser's history as the list
// of steps to undo.

import { decode, encode } from "./address";
import { brief, empty } from "./worksheet";
import type { Panel, Worksheet } from "./worksheet";

type Listener = (sheet: Worksheet) => void;

/** The one worksheet of the page. */
export class Store {
  private sheet: Worksheet = empty([]);
  private listeners: Listener[] = [];
  private written: Promise<void> = Promise.resolve();
  /** Steps that undo can take back, and redo can repeat. */
  private depth = 0;
  private deepest = 0;

  constructor(private readonly history: History = window.history) {
    window.addEventListener("popstate", (event) => void this.arrive(event));
  }

  /** What is shown now. Not to be changed in place. */
  get now(): Worksheet {
    return this.sheet;
  }

  get canUndo(): boolean {
    return this.depth > 0;
  }

  get canRedo(): boolean {
    return this.depth < this.deepest;
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Begins with a worksheet, without a step to undo. */
  begin(sheet: Worksheet): void {
    this.sheet = sheet;
    this.write(true);
    this.tell();
  }

  /** Shows another worksheet. `quiet`: no step of its own, as while a live run is followed. */
  change(change: Partial<Worksheet>, quiet = false): void {
    const next = { ...this.sheet, ...change };
    if (JSON.stringify(next) === JSON.stringify(this.sheet)) return;
    this.sheet = next;
    if (!quiet) {
      this.depth += 1;
      this.deepest = this.depth;
    }
    this.write(quiet);
    this.tell();
  }

  /** Changes one panel. */
  changePanel(index: number, change: Partial<Panel>): void {
    this.change({
      panels: this.sheet.panels.map((panel, i) => (i === index ? { ...panel, ...change } : panel)),
    });
  }

  /** Puts a panel behind the one at `index`. */
  insertPanel(index: number, panel: Panel): void {
    const panels = [...this.sheet.panels];
    panels.splice(index + 1, 0, panel);
    this.change({ panels });
  }

  removePanel(index: number): void {
    this.change({ panels: this.sheet.panels.filter((_, i) => i !== index) });
  }

  movePanel(index: number, by: number): void {
    const to = index + by;
    if (to < 0 || to >= this.sheet.panels.length) return;
    const panels = [...this.sheet.panels];
    const [panel] = panels.splice(index, 1);
    if (panel) panels.splice(to, 0, { ...panel, beside: false });
    this.change({ panels });
  }

  undo(): void {
    if (this.canUndo) this.history.back();
  }

  redo(): void {
    if (this.canRedo) this.history.forward();
  }

  private tell(): void {
    for (const listener of this.listeners) listener(this.sheet);
  }

  /** The address is written in the order of the changes, though each takes a moment to pack. */
  private write(replace: boolean): void {
    const sheet = this.sheet;
    const state = { sheet: brief(sheet), depth: this.depth };
    this.written = this.written.then(async () => {
      const fragment = `#${await encode(sheet)}`;
      if (replace) this.history.replaceState(state, "", fragment);
      else this.history.pushState(state, "", fragment);
    });
  }

  private async arrive(event: PopStateEvent): Promise<void> {
    const sheet = await decode(location.hash);
    if (!sheet) return;
    const depth = (event.state as { depth?: unknown } | null)?.depth;
    this.depth = typeof depth === "number" ? depth : 0;
    this.sheet = sheet;
    this.tell();
  }
}

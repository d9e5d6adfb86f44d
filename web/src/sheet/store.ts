// The worksheet as it is now, who wants to hear of changes, and the browser's history as the list
// of steps to undo.

import { decode, encode } from "./address";
import { brief, empty, MOST_PANELS } from "./worksheet";
import type { Panel, Worksheet } from "./worksheet";

type Listener = (sheet: Worksheet) => void;

/** What its reader has to be told. */
export interface StoreEvents {
  /** A panel more would be too many. */
  full(): void;
  /** An address that was opened holds no worksheet; what was shown stays. */
  damaged(): void;
}

/** The one worksheet of the page. */
export class Store {
  private sheet: Worksheet = empty([]);
  private listeners: Listener[] = [];
  private written: Promise<void> = Promise.resolve();
  /** Steps that undo can take back, and redo can repeat. */
  private depth = 0;
  private deepest = 0;
  events: StoreEvents = { full: () => undefined, damaged: () => undefined };

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

  /**
   * Shows another worksheet. `quiet`: no step of its own, as while a live run is followed. `false`
   * if it has too many panels: a link with them would be read without the last ones.
   */
  change(change: Partial<Worksheet>, quiet = false): boolean {
    const next = { ...this.sheet, ...change };
    if (next.panels.length > MOST_PANELS) {
      this.events.full();
      return false;
    }
    if (JSON.stringify(next) === JSON.stringify(this.sheet)) return true;
    this.sheet = next;
    if (!quiet) {
      this.depth += 1;
      this.deepest = this.depth;
    }
    this.write(quiet);
    this.tell();
    return true;
  }

  /** Changes one panel. */
  changePanel(index: number, change: Partial<Panel>): void {
    this.change({
      panels: this.sheet.panels.map((panel, i) => (i === index ? { ...panel, ...change } : panel)),
    });
  }

  /** Puts a panel behind the one at `index`; `false` if there is no room. */
  insertPanel(index: number, panel: Panel): boolean {
    const panels = [...this.sheet.panels];
    panels.splice(index + 1, 0, panel);
    return this.change({ panels });
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

  /** Takes the last step back, once the address has it. */
  undo(): void {
    if (!this.canUndo) return;
    this.depth -= 1;
    this.written = this.written.then(() => this.history.back());
  }

  redo(): void {
    if (!this.canRedo) return;
    this.depth += 1;
    this.written = this.written.then(() => this.history.forward());
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
    if (!sheet) {
      if (location.hash.startsWith("#w=")) this.refuse();
      return;
    }
    const depth = (event.state as { depth?: unknown } | null)?.depth;
    this.depth = typeof depth === "number" ? depth : 0;
    this.sheet = sheet;
    this.tell();
  }

  /** The address of a damaged link becomes that of what is shown. */
  private refuse(): void {
    this.depth += 1;
    this.deepest = this.depth;
    this.write(true);
    this.events.damaged();
  }
}

// The column of panels: kept in step with the worksheet, so that a panel that stays is not drawn
// anew.

import { h } from "../dom";
import type { Page } from "../page";
import type { Panel, Worksheet } from "../sheet/worksheet";
import { PanelView } from "./panel";
import { rightRoom } from "./secondaxis";

export class Column {
  readonly element = h("main", { class: "column", id: "panels", "aria-label": "panels" });
  views: PanelView[] = [];

  constructor(private readonly page: Page) {
    const watcher = new ResizeObserver(() => this.resized());
    watcher.observe(this.element);
    this.sight = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        this.views.find((view) => view.element === entry.target)?.seen(entry.isIntersecting);
      }
    }, { rootMargin: "200px" });
  }

  private readonly sight: IntersectionObserver;

  private width = 0;
  private room: number | null = null;

  private resized(): void {
    const width = this.element.clientWidth;
    if (width === this.width) return;
    const first = this.width === 0;
    this.width = width;
    if (!first) this.redress();
  }

  /** Takes the panels of a worksheet. */
  update(sheet: Worksheet): void {
    const left = [...this.views];
    // First those that are just the same, then those in the same place with the same expression.
    const take = (fits: (view: PanelView) => boolean): PanelView | undefined => {
      const at = left.findIndex(fits);
      return at < 0 ? undefined : left.splice(at, 1)[0];
    };
    const found = sheet.panels.map((panel) => take((view) => same(view.panel, panel)));
    const next = sheet.panels.map((panel, i) => {
      const view = found[i] ?? take((v) => v.index === i) ?? take((v) => v.panel.expr === panel.expr);
      if (!view) return new PanelView(this.page, panel, i);
      if (same(view.panel, panel)) view.place(i);
      else view.update(panel, i);
      return view;
    });
    for (const view of left) {
      this.sight.unobserve(view.element);
      view.destroy();
    }
    for (const view of next) this.sight.observe(view.element);
    this.views = next;
    this.arrange();
    // With a second axis in one panel, all leave its room.
    const room = rightRoom(sheet.panels, this.page.catalog);
    if (room !== this.room) this.redress();
    this.room = room;
  }

  /** Puts the elements in order, moving only those that are out of it. */
  private arrange(): void {
    const empty = h("p", { class: "empty-sheet" }, "No panel yet. Add a statistic above (key: a), or open a finding.");
    const wanted: HTMLElement[] = this.views.length > 0 ? this.views.map((view) => view.element) : [empty];
    for (const child of [...this.element.children]) {
      if (!wanted.includes(child as HTMLElement)) child.remove();
    }
    wanted.forEach((element, i) => {
      const there = this.element.children[i];
      if (there !== element) this.element.insertBefore(element, there ?? null);
    });
  }

  /** Asks anew for everything. */
  load(fresh: boolean): void {
    for (const view of this.views) void view.load(fresh);
  }

  moved(): void {
    for (const view of this.views) view.moved();
  }

  pointed(): void {
    for (const view of this.views) view.pointed();
  }

  redress(): void {
    for (const view of this.views) view.redress();
  }

  /** The panel that has the focus, or the first. */
  focused(): PanelView | undefined {
    return this.views.find((view) => view.element.contains(document.activeElement)) ?? this.views[0];
  }

  /** Brings a panel into view and gives it the focus. */
  show(index: number): void {
    const view = this.views[index];
    if (!view) return;
    view.element.scrollIntoView({ block: "nearest", behavior: "auto" });
    view.element.focus({ preventScroll: true });
    view.element.classList.add("new");
    setTimeout(() => view.element.classList.remove("new"), 1200);
  }

  /** The panel before or after the one that has the focus. */
  walk(by: number): void {
    const here = this.views.findIndex((view) => view.element.contains(document.activeElement));
    const to = here < 0 ? (by > 0 ? 0 : this.views.length - 1) : here + by;
    this.show(Math.min(Math.max(to, 0), this.views.length - 1));
  }
}

function same(a: Panel, b: Panel): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

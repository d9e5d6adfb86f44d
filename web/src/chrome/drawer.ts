// The drawer at the side: findings, inventory, the command's output.

import { refusalOf } from "../api/provider";
import { button, h } from "../dom";

export type DrawerName = "findings" | "inventory" | "output";

const TITLES: Record<DrawerName, string> = {
  findings: "Findings",
  inventory: "Inventory",
  output: "Output",
};

export class Drawer {
  readonly element = h("aside", { class: "drawer", hidden: true, tabindex: -1 });
  private name: DrawerName | null = null;
  private before: HTMLElement | null = null;
  private turn = 0;

  constructor(
    private readonly fill: (name: DrawerName) => Promise<HTMLElement>,
    private readonly changed: () => void,
  ) {
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.close();
    });
  }

  /** What is in it, if it is open. */
  get shows(): DrawerName | null {
    return this.name;
  }

  get isOpen(): boolean {
    return this.name !== null;
  }

  /** Opens it, or closes it if it shows just this. */
  toggle(name: DrawerName): void {
    if (this.name === name) this.close();
    else void this.open(name);
  }

  async open(name: DrawerName): Promise<void> {
    if (this.name === null) this.before = document.activeElement as HTMLElement | null;
    this.name = name;
    const turn = ++this.turn;
    const close = button("×", "close (Escape)", () => this.close(), { class: "icon" });
    const head = h("header", {}, h("h2", {}, TITLES[name]), close);
    this.element.hidden = false;
    this.element.setAttribute("aria-label", TITLES[name]);
    this.element.replaceChildren(head, h("p", { class: "note" }, "…"));
    this.element.focus({ preventScroll: true });
    this.changed();
    let content: HTMLElement;
    try {
      content = await this.fill(name);
    } catch (thrown) {
      const refusal = refusalOf(thrown);
      content = h("p", { class: "refusal" }, refusal.message, refusal.hint ? h("span", { class: "hint" }, refusal.hint) : null);
    }
    if (turn === this.turn) this.element.replaceChildren(head, content);
  }

  close(): void {
    if (this.name === null) return;
    this.name = null;
    this.turn += 1;
    this.element.hidden = true;
    this.before?.focus({ preventScroll: true });
    this.changed();
  }
}

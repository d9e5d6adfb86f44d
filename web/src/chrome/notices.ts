// Messages in the head of the page: what is wrong with a run, that the server is gone, what was done.

import { button, h } from "../dom";

/** Seconds that a short message stays. */
const STAYS = 6;

export class Notices {
  /** Those that stay. */
  readonly element = h("div", { class: "notices", role: "status", "aria-live": "polite" });
  /** Those that go by themselves: above all else. */
  readonly passing = h("div", { role: "status", "aria-live": "polite" });
  private readonly named = new Map<string, HTMLElement>();

  /** A message that stays until it is taken away, or closed. One a name. */
  keep(name: string, kind: "wrong" | "note", ...words: (string | Node)[]): void {
    this.take(name);
    const notice = h("div", { class: `notice ${kind}` }, h("p", {}, ...words), button("×", "close this message", () => this.take(name), { class: "icon" }));
    this.named.set(name, notice);
    this.element.append(notice);
  }

  take(name: string): void {
    this.named.get(name)?.remove();
    this.named.delete(name);
  }

  /** A message that goes by itself. */
  say(...words: (string | Node)[]): void {
    const notice = h("div", { class: "notice said" }, h("p", {}, ...words));
    this.passing.append(notice);
    setTimeout(() => notice.remove(), STAYS * 1000);
  }
}

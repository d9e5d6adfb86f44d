// A field for an expression: completed from the catalog, with errors shown where they are.

import type { Refusal } from "../api/provider";
import { h } from "../dom";
import { complete, measureOf } from "../expr/complete";
import type { Suggestion } from "../expr/complete";
import { parts, tokens } from "../expr/syntax";
import type { Page } from "../page";

let fields = 0;

/** A field, its list of suggestions, and the words below it. */
export class ExprInput {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly list: HTMLElement;
  private readonly ink: HTMLElement;
  private readonly message: HTMLElement;
  private suggestions: Suggestion[] = [];
  private chosen = -1;

  constructor(
    private readonly page: Page,
    label: string,
    private readonly submitted: (expr: string) => void,
    private readonly left: () => void = () => undefined,
  ) {
    const id = `suggestions-${++fields}`;
    this.list = h("ul", { class: "suggestions", role: "listbox", id, hidden: true, "aria-label": "suggestions" });
    this.ink = h("div", { class: "ink", "aria-hidden": "true" });
    this.message = h("p", { class: "expr-message", role: "status", hidden: true });
    this.input = h("input", {
      type: "text",
      class: "expr",
      role: "combobox",
      "aria-label": label,
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": id,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      maxlength: 4000,
    });
    this.input.addEventListener("input", () => this.typed());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("scroll", () => this.scroll());
    this.input.addEventListener("focus", () => this.input.value === "" && this.suggest());
    this.input.addEventListener("blur", () => {
      this.close();
      this.left();
    });
    this.element = h("div", { class: "expr-field" }, h("div", { class: "expr-box" }, this.ink, this.input), this.list, this.message);
  }

  get value(): string {
    return this.input.value;
  }

  set value(expr: string) {
    this.input.value = expr;
    this.colour(null);
  }

  /** Shows why an expression was refused, and marks the characters at fault. */
  refuse(refusal: Refusal | null): void {
    this.colour(refusal?.at ?? null);
    this.message.hidden = refusal === null;
    this.input.setAttribute("aria-invalid", String(refusal !== null));
    if (!refusal) return;
    this.message.className = "expr-message wrong";
    this.message.replaceChildren(refusal.message, refusal.hint ? h("span", { class: "hint" }, refusal.hint) : "");
  }

  private typed(): void {
    this.message.hidden = true;
    this.input.setAttribute("aria-invalid", "false");
    this.colour(null);
    this.suggest();
  }

  /** The unit and help of the statistic that stands in the field. */
  private help(): string {
    const found = parts(this.value);
    const measure = found && measureOf(this.page.catalog, found.subject, found.measure);
    return measure ? `${measure.unit}: ${measure.help}` : "";
  }

  suggest(): void {
    const cursor = this.input.selectionStart ?? this.value.length;
    const run = this.page.runs.runs.length > 0 ? this.page.first() : null;
    this.suggestions = complete(this.value, cursor, this.page.catalog, run);
    this.chosen = -1;
    this.draw();
    const help = this.help();
    if (help && this.suggestions.length === 0) {
      this.message.hidden = false;
      this.message.className = "expr-message";
      this.message.textContent = help;
    }
  }

  private draw(): void {
    const none = this.suggestions.length === 0;
    this.list.hidden = none;
    this.input.setAttribute("aria-expanded", String(!none));
    this.list.replaceChildren(
      ...this.suggestions.map((s, i) =>
        h(
          "li",
          {
            role: "option",
            id: `${this.list.id}-${i}`,
            "aria-selected": String(i === this.chosen),
            class: s.known ? "" : "unknown",
            onmousedown: (event: MouseEvent) => {
              event.preventDefault();
              this.take(s);
            },
          },
          h("b", {}, s.text),
          h("small", {}, s.unit),
          h("span", {}, s.known ? s.help : `not in this run. ${s.help}`),
        ),
      ),
    );
    const active = this.chosen >= 0 ? `${this.list.id}-${this.chosen}` : "";
    this.input.setAttribute("aria-activedescendant", active);
    this.list.children[this.chosen]?.scrollIntoView({ block: "nearest" });
  }

  private key(event: KeyboardEvent): void {
    const open = !this.list.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) return this.suggest();
      const step = event.key === "ArrowDown" ? 1 : -1;
      const many = this.suggestions.length;
      this.chosen = this.chosen < 0 && step < 0 ? many - 1 : (this.chosen + step + many) % many;
      this.draw();
    } else if (event.key === "Tab" && open && !event.shiftKey && this.value !== "" && this.suggestions.length > 0) {
      event.preventDefault();
      this.take(this.suggestions[Math.max(this.chosen, 0)]!);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const suggestion = open ? this.suggestions[this.chosen] : undefined;
      if (suggestion) this.take(suggestion);
      else if (this.value.trim() !== "") {
        this.close();
        this.submitted(this.value.trim());
      }
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (open) this.close();
      else this.input.blur();
    }
  }

  /** Puts a suggestion in, and shows what may follow. */
  private take(s: Suggestion): void {
    const before = this.value.slice(0, s.from);
    const space = before !== "" && !/[\s.]$/.test(before) ? " " : "";
    const after = s.text.endsWith(".") ? "" : " ";
    this.input.value = before + space + s.text + after + this.value.slice(s.to).replace(/^\s+/, "");
    const cursor = before.length + space.length + s.text.length + after.length;
    this.input.setSelectionRange(cursor, cursor);
    this.typed();
  }

  private close(): void {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }

  /** The same text in colours behind the field, whose own text is transparent. */
  private colour(wrong: [number, number] | null): void {
    const pieces: HTMLElement[] = [];
    let at = 0;
    const plain = (to: number): void => {
      if (to > at) pieces.push(h("span", {}, this.value.slice(at, to)));
      at = to;
    };
    for (const token of tokens(this.value)) {
      plain(token.from);
      const bad = wrong !== null && token.from < Math.max(wrong[1], wrong[0] + 1) && token.to > wrong[0];
      pieces.push(h("span", { class: bad ? "bad" : token.kind }, token.text));
      at = token.to;
    }
    plain(this.value.length);
    // Where something is missing at the end, the place itself is marked.
    if (wrong && wrong[0] >= this.value.length) pieces.push(h("span", { class: "bad" }, "  "));
    this.ink.replaceChildren(...pieces);
    this.scroll();
  }

  private scroll(): void {
    this.ink.scrollLeft = this.input.scrollLeft;
  }
}

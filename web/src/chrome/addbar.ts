// "Add statistic": typed with completion, or put together from menus:
// subject → measure → by → where.

import { button, h } from "../dom";
import { breakdowns, canAnswer, dimensionsOf, subjectOf } from "../expr/complete";
import { text, value } from "../expr/syntax";
import { ExprInput } from "../panel/exprinput";
import type { Page } from "../page";
import { panelOf } from "../sheet/worksheet";

export class AddBar {
  readonly element: HTMLElement;
  private readonly field: ExprInput;
  private readonly menus = h("div", { class: "add-menus", hidden: true });
  private subject = "";
  private measure = "";
  private by = "";
  private where = { dimension: "", operator: "=", value: "" };

  constructor(
    private readonly page: Page,
    private readonly added: (index: number) => void,
  ) {
    this.field = new ExprInput(page, "add a statistic", (expr) => this.add(expr));
    this.field.input.placeholder = "Add a statistic: disk.bytes by device where op = read";
    const toggle = button("Build…", "put an expression together from menus", () => this.toggle(toggle), { "aria-expanded": "false" });
    this.element = h(
      "div",
      { class: "add-bar", role: "search" },
      h("div", { class: "row" }, this.field.element, button("Add", "add this statistic as a panel", () => this.add(this.field.value.trim()), { class: "primary" }), toggle),
      this.menus,
    );
  }

  focus(): void {
    this.field.input.focus();
  }

  private add(expr: string): void {
    if (expr === "") return this.focus();
    const index = this.page.addPanel(panelOf(expr));
    if (index === null) return;
    this.field.value = "";
    this.field.refuse(null);
    this.added(index);
  }

  private toggle(by: HTMLButtonElement): void {
    this.menus.hidden = !this.menus.hidden;
    by.setAttribute("aria-expanded", String(!this.menus.hidden));
    if (!this.menus.hidden) this.draw();
  }

  /** Choices, the later ones from what was chosen before. */
  private draw(): void {
    const { catalog } = this.page;
    const run = this.page.first();
    const has = (name: string): boolean => name in run.subjects;
    const subjects = [...catalog.subjects].sort((a, b) => Number(has(b.name)) - Number(has(a.name)));
    if (!subjects.some((s) => s.name === this.subject)) this.subject = subjects[0]?.name ?? "";
    const subject = subjectOf(catalog, this.subject);
    const measures = [...(subject?.measures ?? []), ...(subject?.derived ?? [])];
    if (!measures.some((m) => m.name === this.measure)) this.measure = measures[0]?.name ?? "";
    const dimensions = dimensionsOf(subject).filter((d) => canAnswer(run, this.subject, d.name));
    const help = measures.find((m) => m.name === this.measure);
    const words = h("input", { type: "text", value: this.where.value, placeholder: "value", "aria-label": "value to compare with" });
    words.addEventListener("input", () => {
      this.where.value = words.value;
      this.compose();
    });
    const select = (label: string, now: string, options: [string, string][], chosen: (v: string) => void): HTMLElement => {
      const list = h("select", { "aria-label": label });
      for (const [v, note] of options) list.append(h("option", { value: v, selected: v === now }, note));
      list.addEventListener("change", () => {
        chosen(list.value);
        this.draw();
      });
      return h("label", {}, label, list);
    };
    const names = (list: { name: string }[]): [string, string][] => list.map((d) => [d.name, d.name]);
    this.menus.replaceChildren(
      select("subject", this.subject, subjects.map((s) => [s.name, has(s.name) ? s.name : `${s.name} (not in this run)`]), (v) => {
        this.subject = v;
        this.by = "";
        this.where = { dimension: "", operator: "=", value: "" };
      }),
      select("measure", this.measure, names(measures), (v) => (this.measure = v)),
      select("by", this.by, [["", "all together"], ...names(dimensions.filter((d) => breakdowns(subject).includes(d)))], (v) => (this.by = v)),
      select("where", this.where.dimension, [["", "everything"], ...names(dimensions)], (v) => (this.where.dimension = v)),
      this.where.dimension ? select("is", this.where.operator, catalog.operators.map((o) => [o, o]), (v) => (this.where.operator = v)) : "",
      this.where.dimension ? h("label", {}, "value", words) : "",
      h("p", {}, help ? `${help.unit}: ${help.help}` : (subject?.help ?? "")),
    );
    this.compose();
  }

  private compose(): void {
    const { dimension, operator, value: word } = this.where;
    const single = operator !== "in" ? value(word) : word;
    const where = dimension && word ? [`${dimension} ${operator} ${single}`] : [];
    this.field.value = text({ subject: this.subject, measure: this.measure, by: this.by ? [this.by] : [], where });
  }
}

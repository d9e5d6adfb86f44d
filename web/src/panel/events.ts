// The slowest events of a selection, with every dimension: sortable, and as CSV.

import type { Cell, Events, Run } from "../api/types";
import { refusalOf, wasGivenUp } from "../api/provider";
import type { EventsQuestion } from "../api/provider";
import { button, h } from "../dom";
import { parts } from "../expr/syntax";
import type { Page } from "../page";
import type { Range } from "../sheet/view";
import type { Panel } from "../sheet/worksheet";
import { amount, unitOf } from "../units/amount";
import { elapsed } from "../units/time";
import { csv, download } from "./table";
import type { Table } from "./table";

const LIMIT = 200;

/** The question behind a panel of events, of one of its runs. */
export function eventsQuestion(page: Page, panel: Panel, run: Run, range: Range, order: string): EventsQuestion | null {
  const found = parts(panel.expr);
  if (!found) return null;
  const zero = page.zero(run);
  return {
    run: run.id,
    subject: found.subject,
    where: found.where.join(" and "),
    from: Math.max(0, range.from + zero),
    to: Math.min(run.seconds, range.to + zero),
    order,
    limit: LIMIT,
  };
}

/** The dimension that says how long an event took, or what the panel asks by. */
export function usualOrder(page: Page, panel: Panel): string {
  const found = parts(panel.expr);
  const by = found?.by[0];
  const subject = page.catalog.subjects.find((s) => s.name === found?.subject);
  const numbers = subject?.dimensions.filter((d) => d.number !== null).map((d) => d.name) ?? [];
  if (by && numbers.includes(by)) return by;
  return numbers.includes("latency") ? "latency" : (numbers[0] ?? "time");
}

/** Rows in another order, without asking again. Unknown values come last. */
export function sorted(rows: Cell[][], column: number, falling: boolean): Cell[][] {
  const sign = falling ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [a[column] ?? null, b[column] ?? null];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    if (typeof x === "number" && typeof y === "number") return sign * (x - y);
    return sign * String(x).localeCompare(String(y), undefined, { numeric: true });
  });
}

/** The same events with their time first, then numbers, then words: how long each took is in view. */
export function numbersFirst(events: Events): Events {
  const rank = { time: 0, number: 1, word: 2 };
  const order = events.columns.map((column, at) => ({ column, at }));
  order.sort((a, b) => rank[a.column.kind] - rank[b.column.kind]);
  return {
    ...events,
    columns: order.map((o) => o.column),
    rows: events.rows.map((row) => order.map((o) => row[o.at] ?? null)),
  };
}

/** A table of one run's events that asks for itself. */
export class EventsTable {
  readonly element = h("div", { class: "events" });
  private under: AbortController | null = null;
  private events: Events | null = null;
  private order: { column: number; falling: boolean } | null = null;

  constructor(private readonly page: Page) {}

  async show(panel: Panel, run: Run, range: Range): Promise<void> {
    this.under?.abort();
    const own = new AbortController();
    this.under = own;
    const question = eventsQuestion(this.page, panel, run, range, usualOrder(this.page, panel));
    if (!question) {
      this.say("this expression has no subject", null);
      return;
    }
    try {
      this.events = numbersFirst(await this.page.provider.events(question, own.signal));
      this.draw(question);
    } catch (thrown) {
      if (wasGivenUp(thrown)) return;
      const refusal = refusalOf(thrown);
      this.events = null;
      if (refusal.unreachable) this.page.unreachable();
      this.say(refusal.message, refusal.hint);
    }
  }

  private say(message: string, hint: string | null): void {
    this.element.replaceChildren(h("p", { class: "refusal", role: "status" }, message, hint ? h("span", { class: "hint" }, hint) : null));
  }

  private draw(question: EventsQuestion): void {
    const events = this.events!;
    const rows = this.order ? sorted(events.rows, this.order.column, this.order.falling) : events.rows;
    const heads = events.columns.map((column, c) => {
      const here = this.order?.column === c;
      const sort = here ? (this.order!.falling ? "descending" : "ascending") : "none";
      const act = (): void => {
        this.order = { column: c, falling: here ? !this.order!.falling : column.kind === "number" };
        this.draw(question);
      };
      const mark = here ? (this.order!.falling ? " ▾" : " ▴") : "";
      return h("th", { scope: "col", "aria-sort": sort, class: column.kind === "word" ? "" : "number" }, button(column.name + mark, `sort by ${column.name}`, act));
    });
    const body = rows.map((row) => h("tr", {}, ...row.map((value, c) => eventCell(value, events.columns[c]!))));
    this.element.replaceChildren(
      this.words(events, question),
      h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "slowest events" }, h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...body))),
    );
  }

  private words(events: Events, question: EventsQuestion): HTMLElement {
    const shown = events.rows.length;
    const many = events.matched > shown ? `the ${shown} greatest by ${question.order} of ${amount(events.matched, unitOf("count"))} events` : `${shown} events`;
    const thinned = events.sampled > 1 ? `; one kept may stand for ${events.sampled}` : "";
    const address = this.page.provider.eventsAddress(question);
    const name = this.page.chosen().length > 1 ? `events-${question.run}.csv` : "events.csv";
    const save = (): void => download(name, csv(tableOfEvents(events)));
    return h(
      "p",
      { class: "note" },
      many + thinned,
      button("CSV of these", "save these rows as CSV", save, { class: "link" }),
      address ? h("a", { class: "link", href: address, download: name }, "from the server") : null,
    );
  }
}

function tableOfEvents(events: Events): Table {
  return { heads: events.columns.map((c) => ({ text: c.name, unit: c.unit ?? "" })), rows: events.rows };
}

function eventCell(value: Cell, column: Events["columns"][number]): HTMLElement {
  if (value === null) return h("td", { class: "unknown" }, "-");
  if (typeof value === "string") return h("td", { title: value }, value);
  if (column.kind === "time") return h("td", { class: "number" }, elapsed(value, 1e-6));
  return h("td", { class: "number" }, amount(value, unitOf(column.unit)));
}

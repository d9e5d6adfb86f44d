// What the recorded command printed, beside the time axis: each line has its time where that was
// recorded, the list follows the crosshair and the zoom, and a click brings a time into view.

import { refusalOf } from "../api/provider";
import type { Output, OutputStart, Run } from "../api/types";
import { button, h, settled } from "../dom";
import type { Page } from "../page";
import { elapsed } from "../units/time";

type StreamName = "stdout" | "stderr";
/** Lines in the list; of more, those that are furthest go. */
const MOST_LINES = 6000;
/** Milliseconds of quiet after which the list follows the zoom. */
const FOLLOW_AFTER = 250;

interface Line {
  text: string;
  /** Seconds of the run; `null` where not known. */
  at: number | null;
}

/** A part of the output in the list. */
interface Piece {
  first: number;
  next: number;
  drawn: HTMLElement[];
}

type Where = "anew" | "before" | "after";

/** Lines of an output with their times. The last piece of a cut-off line is kept as one. */
export function linesOf(output: Output): Line[] {
  const texts = output.text.split("\n");
  if (texts[texts.length - 1] === "") texts.pop();
  const times = output.lines ?? [];
  let next = 0;
  let at: number | null = null;
  return texts.map((text, i) => {
    if (times[next]?.line === i) at = times[next++]!.at;
    return { text: text.replace(/\r$/, ""), at };
  });
}

/** The drawer's content. */
export class OutputList {
  private readonly box = h("div", { class: "output-lines", role: "log", tabindex: 0, "aria-label": "lines of the output" });
  private readonly said = h("p", { class: "note" });
  private readonly earlier = button("earlier", "lines before these", () => void this.read({ before: this.first }, "before"));
  private readonly later = button("more", "lines after these", () => void this.read({ offset: this.next }, "after"));
  private stream: StreamName = "stdout";
  /** What the list has, in order and without holes. */
  private pieces: Piece[] = [];
  private total = 0;
  private timed = false;
  private turn = 0;
  private readonly follow = settled(FOLLOW_AFTER, () => void this.followZoom());

  constructor(private readonly page: Page) {}

  async open(): Promise<HTMLElement> {
    const run = this.page.told();
    const choice = h("span", { class: "choice", role: "group", "aria-label": "stream" });
    const choose = async (stream: StreamName): Promise<void> => {
      this.stream = stream;
      choice.replaceChildren(...(["stdout", "stderr"] as const).map((name) => button(name, `what the command printed to ${name}`, () => void choose(name), { "aria-pressed": String(name === stream) })));
      await this.begin();
    };
    await choose(this.stream);
    const command = run.command ? h("p", { class: "command" }, h("code", {}, run.command.join(" "))) : null;
    return h("div", { class: "output" }, command, choice, this.said, this.earlier, this.box, this.later);
  }

  /** Another stretch of time is in view. */
  moved(): void {
    if (this.timed) this.follow();
  }

  /** The crosshair is elsewhere: the last line that was printed before it. */
  pointed(): void {
    const at = this.page.view.cursor;
    this.box.querySelector(".line.here")?.classList.remove("here");
    if (at === null) return;
    const line = this.lastBefore(at);
    line?.classList.add("here");
    // Who points at a line sees it.
    if (line && !this.box.matches(":hover")) line.scrollIntoView({ block: "nearest" });
  }

  /** The list begins with what is in view. */
  private async begin(): Promise<void> {
    const { view } = this.page;
    await this.read(view.isWhole || view.follow ? { offset: 0 } : { from: this.inRun(view.range.from) }, "anew");
    // Nothing came later: what came before says more than an empty list.
    if (this.box.childElementCount === 0 && this.total > 0) await this.read({ before: this.total }, "anew");
  }

  private async followZoom(): Promise<void> {
    const { range } = this.page.view;
    const lines = this.timedLines();
    const begins = this.first === 0 || Number(lines[0]?.dataset.at) <= range.from;
    const ends = this.next >= this.total || Number(lines.at(-1)?.dataset.at) >= range.from;
    if (!begins || !ends) await this.begin();
    this.dim();
    const here = this.timedLines().find((line) => Number(line.dataset.at) >= range.from);
    here?.scrollIntoView({ block: "nearest" });
  }

  private async read(start: OutputStart, where: Where): Promise<void> {
    const turn = ++this.turn;
    const run = this.page.told();
    let output: Output;
    try {
      output = await this.page.provider.output(run.id, this.stream, start);
    } catch (thrown) {
      if (turn === this.turn) this.said.textContent = refusalOf(thrown).message;
      return;
    }
    if (turn !== this.turn) return;
    const drawn = linesOf(output).map((line) => this.draw(line));
    const piece = { first: output.offset, next: output.next, drawn };
    if (where === "before") {
      this.box.prepend(...drawn);
      this.pieces.unshift(piece);
    } else if (where === "after") {
      this.box.append(...drawn);
      this.pieces.push(piece);
    } else {
      this.box.replaceChildren(...drawn);
      this.pieces = [piece];
    }
    this.total = output.total;
    if (where === "anew") this.timed = output.lines !== null;
    this.forget(where);
    this.say(run);
    this.dim();
    this.pointed();
  }

  /** Keeps the list short, so that a page that was read for long stays quick. */
  private forget(where: Where): void {
    while (this.pieces.length > 1 && this.box.childElementCount > MOST_LINES) {
      const furthest = where === "before" ? this.pieces.pop() : this.pieces.shift();
      for (const line of furthest?.drawn ?? []) line.remove();
    }
  }

  private get first(): number {
    return this.pieces[0]?.first ?? 0;
  }

  private get next(): number {
    return this.pieces.at(-1)?.next ?? 0;
  }

  private say(run: Run): void {
    const { fixed } = this.page.provider;
    this.earlier.hidden = fixed || this.first === 0;
    this.later.hidden = fixed || (this.next >= this.total && !run.live);
    this.later.textContent = this.next >= this.total ? "look again" : "more";
    const parts: string[] = [];
    if (this.total === 0) parts.push(`nothing on ${this.stream}`);
    else if (this.first > 0 || this.next < this.total) parts.push(`bytes ${this.first.toLocaleString("en")} to ${this.next.toLocaleString("en")} of ${this.total.toLocaleString("en")}`);
    if (fixed && this.next < this.total) parts.push("the rest is in the run, not in this report");
    if (this.total > 0 && !this.timed) parts.push("when its lines came was not recorded");
    this.said.textContent = parts.join("; ");
    this.said.hidden = parts.length === 0;
  }

  private draw(line: Line): HTMLElement {
    const text = h("span", {}, line.text || " ");
    if (line.at === null) return h("div", { class: "line" }, this.timed ? h("span", { class: "when" }) : null, text);
    const { view } = this.page;
    const at = line.at - this.page.zero(this.page.told());
    const time = button(elapsed(at, 0.01), "bring this time into view", () => {
      const half = (view.range.to - view.range.from) / 2;
      view.follow = false;
      if (at < view.range.from || at > view.range.to) view.show(at - half, at + half);
      view.point(at);
    }, { class: "when" });
    const row = h("div", { class: "line" }, time, text);
    row.dataset.at = String(at);
    row.addEventListener("mouseenter", () => view.point(at));
    row.addEventListener("mouseleave", () => view.point(null));
    return row;
  }

  /** Lines of another time than that in view step back. */
  private dim(): void {
    const { range, isWhole } = this.page.view;
    for (const line of this.timedLines()) {
      const at = Number(line.dataset.at);
      line.classList.toggle("outside", !isWhole && (at < range.from || at > range.to));
    }
  }

  private timedLines(): HTMLElement[] {
    return [...this.box.querySelectorAll<HTMLElement>(".line[data-at]")];
  }

  /** Lines are in the order of their times. */
  private lastBefore(at: number): HTMLElement | undefined {
    const lines = this.timedLines();
    let low = 0;
    let high = lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Number(lines[middle]!.dataset.at) > at) high = middle;
      else low = middle + 1;
    }
    return lines[low - 1];
  }

  /** A time on the worksheet's clock, in the run. */
  private inRun(at: number): number {
    return at + this.page.zero(this.page.told());
  }
}

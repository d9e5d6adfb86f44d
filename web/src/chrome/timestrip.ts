// The strip above the panels: the whole of the time, its phases, gaps, loss and findings, and the
// window that the panels show. The window can be dragged and pulled at its ends.

import type { Finding, Loss } from "../api/types";
import { h } from "../dom";
import type { Page } from "../page";
import { elapsed, timeStep, timeTicks } from "../units/time";

/** Shares of the strip are set as custom properties, which the stylesheet lays out. */
function put(element: HTMLElement, from: number, to: number): HTMLElement {
  element.style.setProperty("--from", String(from));
  element.style.setProperty("--to", String(to));
  return element;
}

/** Findings with a mark; the others are in the drawer. */
const MOST_FINDINGS = 12;
/** A finding about more of the time than this says nothing about when. */
const MOST_OF_IT = 0.9;

type Grip = "left" | "right" | "window" | "new";

/** What was lost, in a line. */
function lossWords(loss: Loss): string {
  const lost = loss.dropped > 0 ? `${loss.dropped} lost` : "";
  const thinned = (loss.weight ?? 1) > 1 ? `one kept may stand for ${loss.weight}` : "";
  const words = [lost, thinned, loss.why ?? ""].filter((text) => text !== "").join("; ");
  return loss.table === null ? words : `${loss.table}: ${words}`;
}

export class TimeStrip {
  readonly element: HTMLElement;
  private readonly marks = h("div", { class: "strip-marks" });
  private readonly window = h("div", {
    class: "strip-window",
    tabindex: 0,
    role: "slider",
    "aria-label": "time in view; arrow keys move it, plus and minus zoom",
    "aria-valuemin": 0,
    "aria-valuemax": 100,
  });
  private readonly cursor = h("div", { class: "strip-cursor", hidden: true });
  private readonly track: HTMLElement;

  constructor(
    private readonly page: Page,
    private readonly openFinding: (finding: Finding) => void,
  ) {
    this.window.append(h("i", { class: "grip left" }), h("i", { class: "grip right" }));
    this.track = h("div", { class: "strip-track" }, this.marks, this.window, this.cursor);
    this.element = h("div", { class: "strip", role: "group", "aria-label": "whole time" }, this.track);
    this.track.addEventListener("pointerdown", (event) => this.grab(event));
  }

  private share(at: number): number {
    const { from, to } = this.page.view.bounds;
    return Math.min(1, Math.max(0, (at - from) / (to - from)));
  }

  /** Draws what lies along the time. */
  draw(findings: Finding[]): void {
    const run = this.page.told();
    const zero = this.page.zero(run);
    const { from, to } = this.page.view.bounds;
    const wanted = Math.max(2, (this.track.clientWidth || 800) / 90);
    const step = timeStep(to - from, wanted);
    const stretch = (kind: string, s: { from: number; to: number }, text = "", tip = ""): HTMLElement =>
      put(h("div", { class: kind, title: tip || null }, text), this.share(s.from - zero), this.share(s.to - zero));
    this.marks.replaceChildren(
      ...run.phases.map((phase, i) => stretch(i % 2 === 0 ? "phase" : "phase odd", phase, phase.name, phase.name)),
      ...run.gaps.map((gap) => stretch("gap", gap, "", "gap: nothing was observed")),
      ...run.loss.map((loss) => stretch("loss", loss, "", lossWords(loss))),
      ...timeTicks(from, to, wanted).map((at) => this.tick(at, step)),
      ...findings.filter((finding) => finding.to - finding.from < (to - from) * MOST_OF_IT).slice(0, MOST_FINDINGS).map((finding, i) => this.finding(finding, zero, i % 2)),
    );
    this.move();
  }

  /** A time; at the ends it stands within the strip. */
  private tick(at: number, step: number): HTMLElement {
    const share = this.share(at);
    const end = share < 0.02 ? " first" : share > 0.98 ? " last" : "";
    return put(h("span", { class: `tick${end}` }, elapsed(at, step)), share, share);
  }

  private finding(finding: Finding, zero: number, row: number): HTMLElement {
    const mark = h("button", { type: "button", class: "finding-mark", title: finding.sentence, "aria-label": `finding: ${finding.sentence}` });
    mark.addEventListener("pointerdown", (event) => event.stopPropagation());
    mark.addEventListener("click", () => this.openFinding(finding));
    mark.style.setProperty("--row", String(row));
    return put(mark, this.share(finding.from - zero), this.share(finding.to - zero));
  }

  /** Shows where the view is. */
  move(): void {
    const { range } = this.page.view;
    const [from, to] = [this.share(range.from), this.share(range.to)];
    put(this.window, from, to);
    this.window.classList.toggle("all", this.page.view.isWhole);
    this.window.setAttribute("aria-valuenow", String(Math.round(((from + to) / 2) * 100)));
    this.window.setAttribute("aria-valuetext", `${elapsed(range.from, 0.1)} to ${elapsed(range.to, 0.1)}`);
  }

  point(): void {
    const at = this.page.view.cursor;
    this.cursor.hidden = at === null;
    if (at !== null) put(this.cursor, this.share(at), this.share(at));
  }

  /** Dragging: an end, the window, or a new window outside of it. */
  private grab(event: PointerEvent): void {
    if (event.button !== 0) return;
    const box = this.track.getBoundingClientRect();
    const { view } = this.page;
    const time = (e: PointerEvent): number => view.bounds.from + ((e.clientX - box.left) / box.width) * (view.bounds.to - view.bounds.from);
    const target = event.target as HTMLElement;
    const inside = this.window.contains(target) && !view.isWhole;
    const grip: Grip = target.classList.contains("left") ? "left" : target.classList.contains("right") ? "right" : inside ? "window" : "new";
    const start = time(event);
    const was = { ...view.range };
    this.track.setPointerCapture(event.pointerId);
    const move = (e: PointerEvent): void => {
      const here = time(e);
      view.follow = false;
      if (grip === "window") view.show(was.from + here - start, was.to + here - start);
      else if (grip === "left") view.show(Math.min(here, was.to), was.to);
      else if (grip === "right") view.show(was.from, Math.max(here, was.from));
      else if (Math.abs(e.clientX - event.clientX) > 4) view.show(Math.min(start, here), Math.max(start, here));
    };
    const stop = (): void => {
      this.track.removeEventListener("pointermove", move);
      this.track.removeEventListener("pointerup", stop);
      this.track.removeEventListener("pointercancel", stop);
    };
    this.track.addEventListener("pointermove", move);
    this.track.addEventListener("pointerup", stop);
    this.track.addEventListener("pointercancel", stop);
  }
}

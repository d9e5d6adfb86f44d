// A distribution: how much of it lies where, with its quantiles. Drawn as vector graphics, so that
// it prints well.

import type { Fold } from "../api/types";
import { h, svg } from "../dom";
import { amount } from "../units/amount";
import type { Unit } from "../units/amount";
import { Ruler } from "../units/ruler";

const BOTTOM = 24;
const TOP = 34;
/** Where most bars would vanish beside the highest, heights are drawn by their square root. */
const SPIKE = 60;
const NAMES = ["p50", "p90", "p99", "p99.9"] as const;

export interface FoldEvents {
  /** A stretch of numbers was dragged; to an end of the axis: without a bound there. */
  dragged(from: number, to: number, x: number, y: number): void;
}

interface Frame {
  left: number;
  width: number;
  height: number;
  ruler: Ruler;
  place(value: number): number;
}

/** How heights are drawn, for the words beside the picture. */
export function heightScale(fold: Fold): "linear" | "square root" {
  const filled = fold.amounts.filter((a) => a > 0).sort((a, b) => a - b);
  const usual = filled[Math.floor(filled.length / 2)] ?? 0;
  return (filled[filled.length - 1] ?? 0) > usual * SPIKE ? "square root" : "linear";
}

/** The picture. `number` is the unit along it, `what` of the amounts; `above` is the amount beyond it. */
export function drawFold(fold: Fold, above: number, log: boolean, number: Unit, what: Unit, size: { width: number; height: number }, events: FoldEvents): HTMLElement {
  const ruler = Ruler.forEdges(fold.edges, log);
  const left = 66;
  const frame: Frame = {
    left,
    width: Math.max(size.width - left - 14, 50),
    height: Math.max(size.height - BOTTOM - TOP, 40),
    ruler,
    place: (value) => left + Math.min(1, Math.max(0, ruler.share(value))) * Math.max(size.width - left - 14, 50),
  };
  const picture = svg("svg", {
    class: "fold",
    viewBox: `0 0 ${size.width} ${size.height}`,
    width: size.width,
    height: size.height,
    role: "img",
    "aria-label": foldWords(fold, number),
  });
  picture.append(...axis(frame, number), ...bars(fold, frame), ...marks(fold, frame, number));
  const tip = h("div", { class: "tip", hidden: true });
  const host = h("div", { class: "fold-host" });
  host.append(picture, tip);
  const total = fold.amounts.reduce((a, b) => a + b, above);
  watch(picture, tip, fold, total, frame, number, what);
  drag(picture, frame, events);
  return host;
}

/** What the picture shows, in words. */
export function foldWords(fold: Fold, number: Unit): string {
  const known = NAMES.filter((name) => fold.quantiles[name] !== null);
  const said = known.map((name) => `${name} ${amount(fold.quantiles[name], number)}`);
  return said.length > 0 ? `distribution: ${said.join(", ")}` : "distribution, too few events for quantiles";
}

function axis(frame: Frame, unit: Unit): Node[] {
  const bottom = TOP + frame.height;
  const ticks = frame.ruler.ticks(unit, Math.max(2, frame.width / 80));
  return ticks.flatMap((tick) => {
    const x = frame.place(tick.value);
    return [
      svg("line", { class: "grid", x1: x, x2: x, y1: TOP, y2: bottom }),
      svg("text", { class: "tick", x, y: bottom + 16, "text-anchor": "middle" }, tick.text),
    ];
  });
}

function bars(fold: Fold, frame: Frame): Node[] {
  const most = fold.amounts.reduce((a, b) => Math.max(a, b), 0);
  if (most === 0) return [];
  const root = heightScale(fold) === "square root";
  const bottom = TOP + frame.height;
  let path = "";
  fold.amounts.forEach((a, i) => {
    if (!(a > 0)) return;
    const from = frame.place(fold.edges[i]!);
    const to = frame.place(fold.edges[i + 1]!);
    const share = root ? Math.sqrt(a / most) : a / most;
    const tall = Math.max(share * frame.height, 1);
    path += `M${from.toFixed(2)} ${bottom}v${(-tall).toFixed(2)}H${Math.max(to, from + 1).toFixed(2)}v${tall.toFixed(2)}Z`;
  });
  return [svg("path", { class: "bars", d: path }), svg("line", { class: "base", x1: frame.left, x2: frame.left + frame.width, y1: bottom, y2: bottom })];
}

/** Quantiles as lines; names in two rows, so that near ones do not lie on each other. */
function marks(fold: Fold, frame: Frame, unit: Unit): Node[] {
  let before = -Infinity;
  let row = 0;
  return NAMES.flatMap((name) => {
    const value = fold.quantiles[name];
    if (value === null) return [];
    const x = frame.place(value);
    const label = `${name} ${amount(value, unit)}`;
    const wide = label.length * 7;
    const start = Math.min(x + 3, frame.left + frame.width - wide);
    row = start < before ? (row + 1) % 2 : 0;
    before = Math.max(before, start + wide);
    const y = 12 + row * 14;
    return [
      svg("line", { class: "quantile", x1: x, x2: x, y1: y - 8, y2: TOP + frame.height }),
      svg("text", { class: "quantile-name", x: start, y }, label),
    ];
  });
}

function watch(picture: SVGSVGElement, tip: HTMLElement, fold: Fold, total: number, frame: Frame, number: Unit, what: Unit): void {
  picture.addEventListener("mousemove", (event) => {
    const x = event.clientX - picture.getBoundingClientRect().left;
    const value = frame.ruler.value((x - frame.left) / frame.width);
    const row = fold.edges.findIndex((edge, i) => edge <= value && value < (fold.edges[i + 1] ?? -Infinity));
    tip.hidden = row < 0;
    if (row < 0) return;
    const share = total > 0 ? (fold.amounts[row]! / total) * 100 : 0;
    const range = `${amount(fold.edges[row], number)} … ${amount(fold.edges[row + 1], number)}`;
    tip.replaceChildren(h("b", {}, range), h("br"), `${amount(fold.amounts[row], what)}, ${share.toPrecision(3)} %`);
    tip.style.left = `${Math.min(x + 12, picture.clientWidth - 150)}px`;
    tip.style.top = "40px";
  });
  picture.addEventListener("mouseleave", () => (tip.hidden = true));
}

function drag(picture: SVGSVGElement, frame: Frame, events: FoldEvents): void {
  const box = svg("rect", { class: "chosen", y: TOP, height: frame.height, x: 0, width: 0 });
  picture.append(box);
  let start: number | null = null;
  const place = (event: PointerEvent): number =>
    Math.min(Math.max(event.clientX - picture.getBoundingClientRect().left, frame.left), frame.left + frame.width);
  picture.addEventListener("pointerdown", (event) => {
    start = place(event);
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const here = place(event);
    box.setAttribute("x", String(Math.min(start, here)));
    box.setAttribute("width", String(Math.abs(here - start)));
  });
  picture.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const [a, b] = [start, place(event)].sort((x, y) => x - y) as [number, number];
    start = null;
    if (b - a < 4) return;
    const share = (x: number): number => (x - frame.left) / frame.width;
    const [from, to] = frame.ruler.dragged(share(a), share(b));
    events.dragged(from, to, event.clientX, event.clientY);
  });
}

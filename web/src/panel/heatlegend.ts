// What stands beside a heat map: the palette with its amounts, what is hidden, the quantiles.

import type { Answer, Heat, Quantiles } from "../api/types";
import { button, h } from "../dom";
import { css, differenceColour, heatColour } from "../plot/palette";
import type { Shades } from "../plot/shades";
import { OUTLIERS } from "../sheet/worksheet";
import type { Palette, Panel } from "../sheet/worksheet";
import { amount, amountUnit, unitOf } from "../units/amount";

export interface HeatLegendEvents {
  palette(palette: Palette): void;
  outliers(share: number): void;
}

const PALETTES: readonly (readonly [Palette, string])[] = [
  ["linear", "colour grows with the amount"],
  ["log", "colour grows with the amount's logarithm"],
  ["rank", "colour tells how many cells hold less"],
];
const STEPS = 24;

/** The legend of a heat map. */
export function heatLegend(answer: Answer, heat: Heat, shades: Shades, panel: Panel, dark: boolean, events: HeatLegendEvents): HTMLElement {
  const unit = amountUnit(unitOf(answer.value_unit));
  const steps = Array.from({ length: STEPS }, (_, i) => css(heatColour(i / (STEPS - 1), dark)));
  const isFold = panel.kind === "fold";
  const marks = [shades.least, shades.amount(0.5), shades.most].map((v) => amount(v, unit));
  return h(
    "div",
    { class: "legend heat-legend" },
    isFold ? null : h("div", { class: "row" }, h("span", { class: "what" }, "colour"), choice(PALETTES.map(([name, tip]) => [name, tip, name === panel.palette, () => events.palette(name)]))),
    isFold ? null : ramp(steps, shades.most > 0 ? marks : []),
    h(
      "div",
      { class: "row" },
      h("span", { class: "what" }, "outliers"),
      choice(OUTLIERS.map((share) => [`${share * 100} %`, `leave at most ${share * 100} % of the amount above the picture`, share === panel.outliers, () => events.outliers(share)])),
    ),
    h("p", { class: "hidden-part" }, hiddenWords(heat, unit), heat.hidden.amount > 0 ? button("show it", "no outliers hidden", () => events.outliers(0), { class: "link" }) : null),
    quantiles(answer.fold?.quantiles ?? null, answer),
  );
}

/** The legend of a difference. */
export function differenceLegend(most: number, names: [string, string], answer: Answer, dark: boolean): HTMLElement {
  const unit = unitOf(answer.value_unit);
  const steps = Array.from({ length: STEPS }, (_, i) => css(differenceColour((i / (STEPS - 1)) * 2 - 1, dark)));
  const words = `${names[1]} less ${names[0]}, in ${unit.rate ? "rates" : "amounts"} of each cell; cells are shared out where the two runs' differ`;
  return h("div", { class: "legend heat-legend" }, ramp(steps, [`−${amount(most, unit)}`, "same", `+${amount(most, unit)}`]), h("p", {}, words), h("p", {}, `blue: ${names[0]} has more; orange: ${names[1]} has more`));
}

function ramp(colours: string[], marks: string[]): HTMLElement {
  const bar = h("div", { class: "ramp", "aria-hidden": "true" });
  for (const colour of colours) {
    const step = h("i");
    step.style.background = colour;
    bar.append(step);
  }
  return h("div", { class: "ramp-box" }, bar, h("div", { class: "ramp-marks" }, ...marks.map((mark) => h("span", {}, mark))));
}

function choice(options: [label: string, tip: string, on: boolean, act: () => void][]): HTMLElement {
  return h("span", { class: "choice", role: "group" }, ...options.map(([label, tip, on, act]) => button(label, tip, act, { "aria-pressed": String(on) })));
}

/** What the axis leaves out, in numbers. */
export function hiddenWords(heat: Heat, unit: ReturnType<typeof unitOf>): string {
  const { amount: above, share, events } = heat.hidden;
  if (!(above > 0)) return "nothing hidden: all of it is in the picture";
  const many = events !== null && unit.base !== "count" ? `${amount(events, unitOf("count"))} events, ` : "";
  return `hidden above the top: ${many}${amount(above, unit)} (${percent(share)}) `;
}

/** A share as a person reads it, never 0 % for something that is there. */
export function percent(share: number): string {
  const p = share * 100;
  if (p !== 0 && p < 0.001) return "<0.001 %";
  return `${Number(p.toPrecision(3))} %`;
}

const NAMES: readonly (keyof Quantiles)[] = ["min", "p50", "p90", "p99", "p99.9", "max", "mean"];

/** As `sonde get` words them: of a bucket only its ends are known. */
const SIGNED: Partial<Record<keyof Quantiles, string>> = { min: "min ≥", max: "max ≤" };
const TIPS: Partial<Record<keyof Quantiles, string>> = {
  min: "the least value that fits the lowest bucket",
  max: "the greatest value that fits the highest bucket",
  mean: "exact where sums are kept, else within 0.8 %",
};

function quantiles(q: Quantiles | null, answer: Answer): HTMLElement | null {
  const unit = unitOf(answer.key.find((key) => key.number !== null)?.number);
  const known = q ? NAMES.filter((name) => q[name] !== null) : [];
  if (!q || known.length === 0) return null;
  const rows = known.map((name) => h("div", { title: TIPS[name] ?? "the greatest value of the bucket that it lies in" }, h("dt", {}, SIGNED[name] ?? name), h("dd", {}, amount(q[name], unit))));
  const events = q.events === null ? null : h("div", {}, h("dt", {}, "events"), h("dd", {}, amount(q.events, unitOf("count"))));
  return h("dl", { class: "quantiles", "aria-label": "quantiles over the visible time" }, events, ...rows);
}

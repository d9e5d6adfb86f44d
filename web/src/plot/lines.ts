// Lines and stacked areas: the columns of answers as uPlot's series.

import type uPlot from "uplot";

import type { Maybe } from "../api/types";
import type { Unit } from "../units/amount";
import { Ruler } from "../units/ruler";
import { joined, smoothed, stacked, twice } from "./columns";
import type { Bands } from "./bands";
import { valueAxis } from "./timeplot";
import type { Content } from "./timeplot";
import { theme } from "./theme";

/** One line as it is drawn. */
export interface Line {
  label: string;
  colour: string;
  dash: number[];
  /** The middles of its columns. */
  at: number[];
  /** Begin and end of each column. */
  steps: number[];
  mean: Maybe[];
  /** The least and greatest within each column; drawn as a shade behind a line. */
  min: Maybe[];
  max: Maybe[];
  right: boolean;
  /** Of a ratio: what each column was divided by. */
  weight?: Maybe[] | undefined;
}

export interface Lines {
  lines: Line[];
  unit: Unit;
  rightUnit: Unit;
  stack: boolean;
  log: boolean;
  smooth: number | null;
  /** CSS pixels across: where columns are wide, lines have steps. */
  width: number;
  /** Whether columns hold several intervals, so that least and greatest differ. */
  merged: boolean;
  bands: Bands;
}

/** Shades behind more lines than this only make mud. */
const MOST_SHADES = 3;

/** How solid areas are. They have no outline: it would take most of the time of a frame. */
const AREA = 0.78;

/** One drawn series: values beside uPlot's description of it. */
interface Drawn {
  at: number[];
  values: Maybe[];
  series: uPlot.Series;
}

/** Columns wider than this, in pixels, are drawn as steps: a slope would invent what was between. */
const WIDE = 6;

/** Lines with a step for each column, where they are wide and of one run. */
function stepped(given: Lines): Lines {
  const [first] = given.lines;
  if (!first || !given.lines.every((line) => sameTimes(line.at, first.at)) || given.smooth !== null || first.at.length > given.width / WIDE) return given;
  const step = (line: Line): Line => ({
    ...line,
    at: first.steps,
    mean: twice(line.mean),
    min: twice(line.min),
    max: twice(line.max),
  });
  return { ...given, lines: given.lines.map(step) };
}

function sameTimes(a: number[], b: number[]): boolean {
  return a === b || (a.length === b.length && a.every((t, i) => t === b[i]));
}

/** How a set of lines is drawn. */
export function linesContent(lines: Lines): Content {
  const given = stepped(lines);
  const { drawn, bands } = given.stack ? areas(given) : strokes(given);
  const { columns } = columnsOf(drawn);
  const look = theme();
  const axes: uPlot.Axis[] = [valueAxis("y", ticksOf(given.unit, given.log), 3, look)];
  if (given.lines.some((line) => line.right)) {
    axes.push(valueAxis("right", ticksOf(given.rightUnit, given.log), 1, look));
  }
  return {
    options: { series: [{}, ...drawn.map((d) => d.series)], bands },
    axes,
    scales: { y: scale(given.log, given.unit), right: scale(given.log, given.rightUnit) },
    columns,
    rectangle: false,
    bands: given.bands,
  };
}

/** Only the columns, for an update of the same lines. */
export function lineColumns(lines: Lines): uPlot.AlignedData {
  const given = stepped(lines);
  return columnsOf((given.stack ? areas(given) : strokes(given)).drawn).columns;
}

function columnsOf(drawn: Drawn[]): { columns: uPlot.AlignedData } {
  const same = drawn.every((d) => d.at === drawn[0]?.at);
  if (same) return { columns: [drawn[0]?.at ?? [], ...drawn.map((d) => d.values)] };
  const { at, series } = joined(drawn.map((d) => ({ at: d.at, series: [d.values] })));
  return { columns: [at, ...series] };
}

function ready(line: Line, values: Maybe[], given: Lines): Maybe[] {
  const smooth = given.smooth ? smoothed(line.at, line.steps, values, given.smooth, line.weight) : values;
  // A log axis has no place for zero.
  return given.log ? smooth.map((v) => (v !== null && v > 0 ? v : null)) : smooth;
}

function strokes(given: Lines): { drawn: Drawn[]; bands: uPlot.Band[] } {
  const drawn: Drawn[] = [];
  const bands: uPlot.Band[] = [];
  const shaded = given.merged && given.lines.length <= MOST_SHADES && !given.smooth;
  for (const line of given.lines) {
    const scaleName = line.right ? "right" : "y";
    if (shaded) {
      const edge: uPlot.Series = { scale: scaleName, width: 0, points: { show: false } };
      drawn.push({ at: line.at, values: ready(line, line.max, given), series: edge });
      drawn.push({ at: line.at, values: ready(line, line.min, given), series: { ...edge } });
      bands.push({ series: [drawn.length - 1, drawn.length], fill: alpha(line.colour, 0.18) });
    }
    drawn.push({
      at: line.at,
      values: ready(line, line.mean, given),
      series: {
        label: line.label,
        scale: scaleName,
        stroke: line.colour,
        width: 1.5,
        dash: line.right && line.dash.length === 0 ? [5, 3] : line.dash,
        points: { show: true, size: 4, fill: line.colour, filter: alone },
      },
    });
  }
  return { drawn, bands };
}

/** Areas on each other, the first at the bottom; lines of the right axis stay lines. */
function areas(given: Lines): { drawn: Drawn[]; bands: uPlot.Band[] } {
  const left = given.lines.filter((line) => !line.right);
  const heights = stacked(left.map((line) => ready(line, line.mean, given)));
  const paper = theme().panel;
  // The highest first and each down to zero, so that the next covers what is not its own: to clip
  // each to its stripe would take most of the time of a frame.
  const drawn: Drawn[] = left
    .map((line, i) => ({
      at: line.at,
      values: heights[i]!,
      series: { label: line.label, scale: "y", width: 0, fill: mixed(line.colour, paper, AREA), points: { show: false } },
    }))
    .reverse();
  const rest = strokes({ ...given, lines: given.lines.filter((line) => line.right), merged: false });
  return { drawn: [...drawn, ...rest.drawn], bands: [] };
}

/** Points only where a value has gaps at both sides and would else be invisible. */
function alone(plot: uPlot, series: number, show: boolean): number[] {
  const values = plot.data[series] ?? [];
  if (show && values.length < 2) return Array.from({ length: values.length }, (_, i) => i);
  const found: number[] = [];
  // Where another run has a column, this one has nothing at all, which is no gap.
  const isGap = (at: number, step: number): boolean => {
    while (values[at] === undefined && at >= 0 && at < values.length) at += step;
    return (values[at] ?? null) === null;
  };
  for (let i = 0; i < values.length; i++) {
    if ((values[i] ?? null) !== null && isGap(i - 1, -1) && isGap(i + 1, 1)) found.push(i);
  }
  return found;
}

/** The stretch of a value axis: zero and a little room above belong to it. */
export function valueRange(least: number, most: number, log: boolean, unit: Unit): [number, number] {
  if (log && least > 0) {
    const room = Math.max((most / least) ** 0.04, 1.2);
    return [least / room, most * room];
  }
  if (unit.base === "celsius" && least <= most) return [least - 1, most + 1];
  const low = Math.min(least, 0);
  const high = Math.max(most, 0);
  const room = (high - low) * 0.06;
  if (high === low) return [0, 1];
  return [low < 0 ? low - room : 0, high > 0 ? high + room : 0];
}

function scale(log: boolean, unit: Unit): uPlot.Scale {
  return {
    auto: true,
    // uPlot's numbers for a logarithmic and a linear scale.
    distr: log ? 3 : 1,
    range: (_plot, min, max) => {
      const range = valueRange(known(min), known(max), log, unit);
      return log && range[0] <= 0 ? [0.1, 1] : range;
    },
  };
}

/** uPlot gives `null` where no value is in view, though its types deny it. */
function known(bound: number | null): number {
  return bound ?? 0;
}

/** Ticks for whatever stretch the axis has at the moment. */
function ticksOf(unit: Unit, log: boolean) {
  return (space: number, least: number, most: number) => {
    const ruler = log && least > 0 ? Ruler.log(least, most, least) : Ruler.linear(least, most);
    return ruler.ticks(unit, Math.max(2, space / 34));
  };
}

/** A share of one colour over another; both as `#rrggbb` or `#rgb`. */
export function mixed(colour: string, under: string, share: number): string {
  const channel = (hex: string, i: number): number =>
    hex.length === 4 ? parseInt(hex[1 + i]!.repeat(2), 16) : parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mix = [0, 1, 2].map((i) => Math.round(channel(colour, i) * share + channel(under, i) * (1 - share)));
  return `#${mix.map((c) => c.toString(16).padStart(2, "0")).join("")}`;
}

/** A colour with transparency. */
export function alpha(colour: string, share: number): string {
  return `${colour}${Math.round(share * 255).toString(16).padStart(2, "0")}`;
}

// A heat map: its cells are painted once onto a canvas of one pixel a cell, which is then drawn
// scaled. Zooming and panning only draw that again.

import type uPlot from "uplot";

import type { Heat } from "../api/types";
import type { Palette } from "../sheet/worksheet";
import type { Unit } from "../units/amount";
import { Ruler } from "../units/ruler";
import { hatching } from "./bands";
import type { Bands } from "./bands";
import type { Difference } from "./difference";
import { evenStretches, packed, paint, rowOfLine } from "./image";
import { differenceColour, heatColour } from "./palette";
import { shadesOf } from "./shades";
import type { Shades } from "./shades";
import { theme } from "./theme";
import { valueAxis } from "./timeplot";
import type { Content } from "./timeplot";

/** Lines of the image where rows are not even along the axis. */
const MOST_LINES = 400;

/** A painted heat map: its image and what the image's places mean. */
export class HeatImage {
  readonly columns: number;
  private readonly image: HTMLCanvasElement;
  private readonly stretches: { first: number; end: number }[];
  private readonly gapColumns: number[];

  private constructor(
    /** Edges of the columns on the worksheet's clock. */
    readonly times: number[],
    readonly edges: number[],
    readonly ruler: Ruler,
    cells: readonly (number | null)[] | Float64Array,
    share: (amount: number) => number,
    colours: Uint32Array,
    gaps: (column: number) => boolean,
  ) {
    this.columns = times.length - 1;
    const lines = rowOfLine(edges, ruler, MOST_LINES);
    this.image = document.createElement("canvas");
    this.image.width = Math.max(this.columns, 1);
    this.image.height = Math.max(lines.length, 1);
    const draw = this.image.getContext("2d");
    if (draw && this.columns > 0 && lines.length > 0) {
      const pixels = draw.createImageData(this.image.width, this.image.height);
      const packedPixels = new Uint32Array(pixels.data.buffer);
      paint(packedPixels, { cells: cells as (number | null)[] }, this.columns, lines, share, colours);
      draw.putImageData(pixels, 0, 0);
    }
    this.stretches = evenStretches(times);
    this.gapColumns = Array.from({ length: this.columns }, (_, c) => c).filter(gaps);
  }

  /** `zero` is taken from the run's times; a column without cells that the expression does not keep is no gap. */
  static of(heat: Heat, zero: number, shades: Shades, keeps: (from: number, to: number) => boolean): HeatImage {
    const ruler = Ruler.forEdges(heat.edges, heat.log);
    const times = heat.times.map((t) => t - zero);
    const colours = packed((share) => heatColour(share, theme().dark));
    const rows = heat.edges.length - 1;
    const columns = times.length - 1;
    const isGap = (c: number): boolean => {
      for (let r = 0; r < rows; r++) if (heat.cells[r * columns + c] !== null) return false;
      return rows > 0 && keeps(heat.times[c]!, heat.times[c + 1]!);
    };
    return new HeatImage(times, heat.edges, ruler, heat.cells, shades.share, colours, isGap);
  }

  static ofDifference(d: Difference): HeatImage {
    const colours = packed((share) => differenceColour(share * 2 - 1, theme().dark));
    const share = (amount: number): number => differenceShare(amount, d.most) / 2 + 0.5;
    return new HeatImage(d.times, d.edges, Ruler.forEdges(d.edges, d.log), d.cells, share, colours, (c) => d.gaps[c]!);
  }

  /** Draws what is in view, scaled without smoothing. */
  draw(draw: CanvasRenderingContext2D, plot: uPlot): void {
    const { top, height, left, width } = plot.bbox;
    const place = (t: number): number => plot.valToPos(t, "x", true);
    draw.imageSmoothingEnabled = false;
    for (const { first, end } of this.stretches) {
      const from = place(this.times[first]!);
      const to = place(this.times[end]!);
      if (to < left || from > left + width) continue;
      draw.drawImage(this.image, first, 0, end - first, this.image.height, from, top, Math.max(to - from, 1), height);
    }
    this.drawGaps(draw, plot);
  }

  private drawGaps(draw: CanvasRenderingContext2D, plot: uPlot): void {
    if (this.gapColumns.length === 0) return;
    draw.fillStyle = hatching(theme().hatch, Math.round(7 * (window.devicePixelRatio || 1)));
    for (const column of this.gapColumns) {
      const from = plot.valToPos(this.times[column]!, "x", true);
      const to = plot.valToPos(this.times[column + 1]!, "x", true);
      draw.fillRect(from, plot.bbox.top, Math.max(to - from, 1), plot.bbox.height);
    }
  }

  /** The column and row at a time and a share of the axis; `null` outside. */
  cellAt(time: number, share: number): { column: number; row: number } | null {
    const column = lastNotAbove(this.times, time);
    const row = lastNotAbove(this.edges, this.ruler.value(share));
    if (column < 0 || column >= this.columns || row < 0 || row >= this.edges.length - 1) return null;
    return { column, row };
  }
}

/** The place of the last of rising numbers that is not above `value`; -1 if all are. */
export function lastNotAbove(rising: readonly number[], value: number): number {
  let low = -1;
  let high = rising.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (rising[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A difference's share of the palette, -1 to 1: by the square root, since most are small. */
export function differenceShare(amount: number, most: number): number {
  return most > 0 ? Math.sign(amount) * Math.sqrt(Math.abs(amount) / most) : 0;
}

export interface HeatPlot {
  content: Content;
  /** Shows other cells on the same plot. */
  replace(image: HeatImage): void;
}

/** The plot of a heat map. The value axis is in shares, with ticks where round values lie. */
export function heatContent(first: HeatImage, unit: Unit, bands: Bands, hover: Content["hover"]): HeatPlot {
  let image = first;
  const look = theme();
  const ticks = (space: number) =>
    image.ruler
      .ticks(unit, Math.max(2, space / 30))
      .map((tick) => ({ value: image.ruler.share(tick.value), text: tick.text }))
      .filter((tick) => tick.value >= -1e-9 && tick.value <= 1 + 1e-9);
  const content: Content = {
    options: { series: [{}, { scale: "y", show: false }] },
    axes: [valueAxis("y", ticks, 3, look)],
    scales: { y: { auto: false, range: () => [0, 1] } },
    columns: [
      [image.times[0] ?? 0, image.times[image.columns] ?? 1],
      [0, 1],
    ],
    rectangle: true,
    bands,
    under: (draw, plot) => image.draw(draw, plot),
    ...(hover ? { hover } : {}),
  };
  return { content, replace: (next) => (image = next) };
}

/** The shades of an answer's cells. */
export function heatShades(heat: Heat, palette: Palette): Shades {
  return shadesOf(heat.cells, palette);
}

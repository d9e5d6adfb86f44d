// The picture of a panel: which kind it is, and the plot that shows it. A plot stays as long as
// only its numbers change, so that live updates do not flicker.

import type { Answer, Heat } from "../api/types";
import { keeps } from "../expr/kept";
import { bandsOf, NO_BANDS } from "../plot/bands";
import type { Bands } from "../plot/bands";
import { difference } from "../plot/difference";
import type { Difference } from "../plot/difference";
import { heatContent, HeatImage, heatShades } from "../plot/heat";
import type { HeatPlot } from "../plot/heat";
import { lineColumns, linesContent } from "../plot/lines";
import type { Lines } from "../plot/lines";
import { isDark } from "../plot/theme";
import { TimePlot } from "../plot/timeplot";
import type { Content, PlotEvents, Size } from "../plot/timeplot";
import type { Shades } from "../plot/shades";
import type { Panel } from "../sheet/worksheet";
import { unitOf } from "../units/amount";
import type { Page } from "../page";
import { valueAt } from "./legend";
import type { Loaded } from "./load";
import { isShown, isStacked, rowsOf } from "./rows";
import type { Row } from "./rows";
import { rightRoom } from "./secondaxis";

/** What is drawn, for the legend and for drilling down. */
export interface Shown {
  shape: "lines" | "heat" | "difference";
  loaded: Loaded;
  rows: Row[];
  heat: Heat | null;
  image: HeatImage | null;
  shades: Shades | null;
  difference: Difference | null;
}

/** A click nearer to a line than this share of the picture's height is on it. */
const NEAR = 0.08;

/** Told of the pointer over a heat map. */
export type Hover = (at: { left: number; top: number; time: number; share: number } | null) => void;

/** Whether the expression keeps a stretch of its first run. */
export function keptIn({ answers, runs }: Loaded): (from: number, to: number) => boolean {
  const run = runs[0];
  return keeps(answers[0]?.expr ?? "", run?.phases ?? [], run?.every ?? 0);
}

export class Picture {
  shown: Shown | null = null;
  private plot: TimePlot | null = null;
  private heatPlot: HeatPlot | null = null;
  /** What the plot was made for: another needs another plot. */
  private shape = "";

  constructor(
    private readonly page: Page,
    private readonly host: HTMLElement,
    private readonly events: PlotEvents,
    private readonly hover: Hover,
  ) {}

  /** Shows an answer. `size` is that of the host. */
  show(panel: Panel, loaded: Loaded, size: Size): Shown | null {
    const first = loaded.answers[0];
    if (!first) return null;
    const isHeat = first.shape === "heat" && first.heat !== undefined;
    this.shown = isHeat ? this.heat(panel, loaded, first, size) : this.lines(panel, loaded, first, size);
    this.plot?.resize(size);
    return this.shown;
  }

  private lines(panel: Panel, loaded: Loaded, first: Answer, size: Size): Shown {
    const zero = (run: Loaded["runs"][number]): number => this.page.zero(run);
    const left = rowsOf(loaded.answers, loaded.runs, zero, isDark(), false, 0);
    const colours = (first.groups?.length ?? 0) || 1;
    const right = rowsOf(loaded.right, loaded.runs, zero, isDark(), true, colours);
    const rows = [...left, ...right];
    const drawn = rows.filter((row) => isShown(row, panel, rows) && row.line);
    const every = this.page.first().every ?? 1;
    const given: Lines = {
      lines: drawn.map((row) => row.line!),
      unit: unitOf(first.value_unit),
      rightUnit: unitOf(loaded.right[0]?.value_unit),
      stack: isStacked(panel, loaded.answers) && panel.log !== true,
      log: panel.log === true,
      smooth: panel.smooth,
      width: size.width,
      merged: first.bucket > every * 1.5,
      bands: this.bands(loaded, first),
    };
    const room = rightRoom(this.page.store.now.panels, this.page.catalog);
    const content = (): Content => ({ ...linesContent(given), room });
    const kinds = given.lines.map((line) => [line.label, line.colour, line.right, line.dash.length]);
    const shape = JSON.stringify(["lines", given.stack, given.log, given.merged, given.unit, given.bands, kinds, isDark(), size.width, room]);
    if (this.plot && shape === this.shape) this.plot.setColumns(lineColumns(given));
    else this.replace(shape, new TimePlot(this.empty(), size, this.page.view, content(), this.events));
    return { shape: "lines", loaded, rows, heat: null, image: null, shades: null, difference: null };
  }

  private heat(panel: Panel, loaded: Loaded, first: Answer, size: Size): Shown {
    const second = loaded.answers[1];
    const number = unitOf(first.key.find((key) => key.number !== null)?.number);
    const subtracted = this.page.isDifference(panel) && second?.heat ? this.difference(loaded, first.heat!, second.heat) : null;
    const shades = subtracted ? null : heatShades(first.heat!, panel.palette);
    const zero = loaded.runs[0] ? this.page.zero(loaded.runs[0]) : 0;
    const image = subtracted ? HeatImage.ofDifference(subtracted) : HeatImage.of(first.heat!, zero, shades!, keptIn(loaded));
    const bands = this.bands(loaded, first);
    const room = rightRoom(this.page.store.now.panels, this.page.catalog);
    const shape = JSON.stringify(["heat", number, bands, isDark(), size.width, room]);
    if (this.plot && this.heatPlot && shape === this.shape) {
      this.heatPlot.replace(image);
      this.plot.setColumns([[image.times[0] ?? 0, image.times[image.columns] ?? 1], [0, 1]]);
    } else {
      this.heatPlot = heatContent(image, number, bands, (at) => this.hovered(at));
      this.replace(shape, new TimePlot(this.empty(), size, this.page.view, { ...this.heatPlot.content, room }, this.events));
    }
    const kind = subtracted ? "difference" : "heat";
    return { shape: kind, loaded, rows: [], heat: first.heat!, image, shades, difference: subtracted };
  }

  private difference(loaded: Loaded, a: Heat, b: Heat): Difference {
    const [first, second] = loaded.runs;
    return difference(a, b, [first ? this.page.zero(first) : 0, second ? this.page.zero(second) : 0]);
  }

  private hovered(at: { left: number; top: number; time: number } | null): void {
    const tall = this.plot?.plot.over.clientHeight ?? 1;
    this.hover(at && { ...at, share: 1 - at.top / (tall || 1) });
  }

  /** Phases, gaps and loss of the first run; with several on one clock, only what all share. */
  private bands(loaded: Loaded, answer: Answer): Bands {
    const run = loaded.runs[0];
    return run ? bandsOf(run, this.page.zero(run), answer.table || null) : NO_BANDS;
  }

  private empty(): HTMLElement {
    this.plot?.destroy();
    this.plot = null;
    this.host.replaceChildren();
    return this.host;
  }

  private replace(shape: string, plot: TimePlot): void {
    this.shape = shape;
    this.plot = plot;
    if (!shape.startsWith('["heat"')) this.heatPlot = null;
  }

  /** The group whose line is nearest to a place, or whose area holds it. */
  rowAt(time: number, share: number, panel: Panel): Row | null {
    const plot = this.plot?.plot;
    if (!plot || !this.shown) return null;
    const rows = this.shown.rows.filter((row) => isShown(row, panel, this.shown!.rows) && row.line);
    const tall = plot.over.clientHeight;
    if (isStacked(panel, this.shown.loaded.answers) && panel.log !== true) {
      const value = plot.posToVal((1 - share) * tall, "y");
      let height = 0;
      return rows.find((row) => !row.right && (height += valueAt(row, time) ?? 0) >= value) ?? null;
    }
    // In pixels: lines may be on different axes.
    const far = (row: Row): number => {
      const value = valueAt(row, time);
      return value === null ? Infinity : Math.abs(plot.valToPos(value, row.right ? "right" : "y") - (1 - share) * tall);
    };
    const near = [...rows].sort((a, b) => far(a) - far(b))[0] ?? null;
    return near && far(near) < tall * NEAR ? near : null;
  }

  /** Follows the view while new answers are on their way. */
  redraw(): void {
    this.plot?.redraw();
  }

  cross(at: number | null): void {
    this.plot?.cross(at);
  }

  unselect(): void {
    this.plot?.unselect();
  }

  resize(size: Size): void {
    this.plot?.resize(size);
  }

  /** Draws anew in other colours. */
  forget(): void {
    this.shape = "";
  }

  /** Takes the plot away, and stays with what it showed: another drawing of the same stands there. */
  hold(shown: Shown): void {
    this.destroy();
    this.shown = shown;
  }

  destroy(): void {
    this.plot?.destroy();
    this.plot = null;
    this.heatPlot = null;
    this.shape = "";
    this.shown = null;
    this.host.replaceChildren();
  }
}

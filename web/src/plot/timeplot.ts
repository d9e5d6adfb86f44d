// A plot over the worksheet's time axis: uPlot with our axes, bands, crosshair, zoom and
// selection. Lines and heat maps both are one.

import uPlot from "uplot";

import { elapsed, timeStep, timeTicks } from "../units/time";
import { drawHatching, drawPhases } from "./bands";
import type { Bands } from "./bands";
import { FONT, theme } from "./theme";
import type { Theme } from "./theme";
import type { View } from "../sheet/view";
import { listenForFingers } from "./touch";
import type { Place } from "./touch";

/** Width of the axis at each side, in CSS pixels: the same in all panels, so that times line up. */
export const LEFT_AXIS = 66;
export const RIGHT_AXIS = 60;
const NARROW_AXIS = 58;
const BOTTOM_AXIS = 22;
/** The right margin leaves room for half of the last tick's label. */
const MARGIN = 20;

/** Milliseconds within which a second click makes a double click. */
const DOUBLE_CLICK = 300;

/** A rectangle that was dragged: shares of the value axis, times on the worksheet's clock. */
export interface Dragged {
  from: number;
  to: number;
  low: number;
  high: number;
  /** Where the pointer was let go, in the page. */
  x: number;
  y: number;
}

export interface PlotEvents {
  /** A rectangle or stretch was dragged; `menu` if the reader wants to choose what to do. */
  dragged(area: Dragged, menu: boolean): void;
  clicked(at: { time: number; share: number; x: number; y: number }): void;
}

export interface Size {
  width: number;
  height: number;
}

/** What a kind of plot adds to the common part. */
export interface Content {
  options: Pick<uPlot.Options, "series"> & Partial<Pick<uPlot.Options, "bands">>;
  axes: uPlot.Axis[];
  scales: uPlot.Scales;
  columns: uPlot.AlignedData;
  /** Whether a drag has a height, too. */
  rectangle: boolean;
  bands: Bands;
  /** Pixels to leave at the right where there is no axis; `null`: a margin. */
  room?: number | null;
  /** Draws under the lines. */
  under?: (draw: CanvasRenderingContext2D, plot: uPlot) => void;
  /** Told the place of the pointer in the plot, in CSS pixels; `null` when it left. */
  hover?: (at: { left: number; top: number; time: number } | null) => void;
}

/** Ticks for so many CSS pixels and a stretch of values. */
export type Ticks = (space: number, least: number, most: number) => { value: number; text: string }[];

/** The axis of values, with ticks and texts from the caller. */
export function valueAxis(scale: string, ticks: Ticks, side: 1 | 3, look: Theme): uPlot.Axis {
  let last: { value: number; text: string }[] = [];
  return {
    scale,
    side,
    size: side === 1 ? RIGHT_AXIS : window.innerWidth < 600 ? NARROW_AXIS : LEFT_AXIS,
    font: FONT,
    stroke: look.faint,
    gap: 5,
    splits: (plot, _axis, least, most) => {
      last = ticks(plot.bbox.height / (window.devicePixelRatio || 1), least, most);
      return last.map((tick) => tick.value);
    },
    values: (_plot, splits) => splits.map((split) => last.find((tick) => tick.value === split)?.text ?? ""),
    // The ticks are chosen already; on a log axis uPlot would leave most of them out.
    filter: (_plot, splits) => splits,
    grid: { show: side === 3, stroke: look.grid, width: 1 },
    ticks: { show: false },
  };
}

/** One plot in the page. It is made anew when what it shows changes in kind. */
export class TimePlot {
  readonly plot: uPlot;
  private dragging = false;
  private menu = false;
  /** The timer of a click that may yet become a double one. */
  private single = 0;

  constructor(
    host: HTMLElement,
    size: Size,
    private readonly view: View,
    private readonly content: Content,
    private readonly events: PlotEvents,
  ) {
    this.plot = new uPlot(this.options(size), content.columns, host);
    this.plot.over.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.plot.over.addEventListener("mouseleave", () => this.leave());
    this.plot.over.addEventListener("dblclick", () => {
      clearTimeout(this.single);
      view.whole();
    });
    this.plot.over.addEventListener("mousedown", (event) => {
      this.menu = event.shiftKey || event.ctrlKey || event.metaKey;
      if (event.button === 0) this.followOutside(event);
    });
    this.plot.over.addEventListener("click", (event) => this.click(event));
    listenForFingers({
      over: this.plot.over,
      view,
      timeAt: (left) => this.plot.posToVal(left, "x"),
      draw: (from, to) => {
        this.menu = false;
        this.drawn(from, to);
      },
      done: (kept) => (kept ? this.selected() : this.unselect()),
    });
  }

  private options(size: Size): uPlot.Options {
    const look = theme();
    return {
      ...size,
      ...this.content.options,
      padding: [8, this.content.axes.some((axis) => axis.scale === "right") ? 0 : (this.content.room ?? MARGIN), 0, 0],
      legend: { show: false },
      scales: { x: { time: false, auto: false, range: () => [this.view.range.from, this.view.range.to] }, ...this.content.scales },
      axes: [timeAxis(look), ...this.content.axes],
      cursor: {
        drag: { x: true, y: this.content.rectangle, setScale: false, dist: 5, uni: 10 },
        points: { show: false },
        y: this.content.rectangle,
      },
      hooks: {
        drawClear: [(plot) => drawPhases(plot.ctx, frameOf(plot), this.content.bands, look)],
        drawAxes: [(plot) => this.under(plot)],
        draw: [(plot) => drawHatching(plot.ctx, frameOf(plot), this.content.bands, look)],
        setSelect: [() => this.selected()],
        setCursor: [(plot) => this.pointed(plot)],
      },
    };
  }

  private under(plot: uPlot): void {
    if (!this.content.under) return;
    const { left, top, width, height } = plot.bbox;
    plot.ctx.save();
    plot.ctx.beginPath();
    plot.ctx.rect(left, top, width, height);
    plot.ctx.clip();
    this.content.under(plot.ctx, plot);
    plot.ctx.restore();
  }

  /** Shows other columns of the same series. */
  setColumns(columns: uPlot.AlignedData): void {
    this.content.columns = columns;
    this.plot.setData(columns, false);
    this.plot.redraw(false, true);
    this.redraw();
  }

  /** Draws what is in view now. */
  redraw(): void {
    this.plot.setScale("x", { min: this.view.range.from, max: this.view.range.to });
  }

  resize(size: Size): void {
    if (size.width !== this.plot.width || size.height !== this.plot.height) this.plot.setSize(size);
  }

  /** Moves the crosshair to a time that another panel points at. */
  cross(at: number | null): void {
    if (this.plot.cursor.event) return;
    const left = at === null ? -10 : this.plot.valToPos(at, "x");
    this.plot.setCursor({ left, top: at === null ? -10 : 0 }, false);
  }

  destroy(): void {
    clearTimeout(this.single);
    this.plot.destroy();
  }

  private pointed(plot: uPlot): void {
    const { left, top, event } = plot.cursor;
    if (!event || left === undefined || top === undefined) return;
    if (left < 0 || top < 0) return;
    const time = plot.posToVal(left, "x");
    this.view.point(time);
    this.content.hover?.({ left, top, time });
  }

  private leave(): void {
    this.view.point(null);
    this.content.hover?.(null);
  }

  /** A drag that leaves the plot goes on along its edges. */
  private followOutside(begun: MouseEvent): void {
    const place = (event: MouseEvent): Place => {
      const box = this.plot.over.getBoundingClientRect();
      return { left: event.clientX - box.left, top: event.clientY - box.top };
    };
    const from = place(begun);
    const move = (event: MouseEvent): void => {
      if (!this.plot.over.contains(event.target as Node)) this.drawn(from, place(event));
    };
    document.addEventListener("mousemove", move);
    document.addEventListener("mouseup", () => document.removeEventListener("mousemove", move), { once: true, capture: true });
  }

  /** Draws what is selected, as far as it lies in the plot. */
  private drawn(from: Place, to: Place): void {
    const { clientWidth, clientHeight } = this.plot.over;
    const within = (value: number, most: number): number => Math.min(Math.max(value, 0), most);
    const left = within(Math.min(from.left, to.left), clientWidth);
    const right = within(Math.max(from.left, to.left), clientWidth);
    const top = this.content.rectangle ? within(Math.min(from.top, to.top), clientHeight) : 0;
    const bottom = this.content.rectangle ? within(Math.max(from.top, to.top), clientHeight) : clientHeight;
    this.plot.setSelect({ left, top, width: right - left, height: bottom - top }, false);
  }

  private selected(): void {
    const { left, top, width, height } = this.plot.select;
    if (width < 3) {
      this.unselect();
      return;
    }
    this.dragging = true;
    // The click that ends a drag comes at once, or, after a finger, never.
    setTimeout(() => (this.dragging = false), 50);
    const whole = this.plot.over.clientHeight || 1;
    const box = this.plot.over.getBoundingClientRect();
    this.events.dragged(
      {
        from: this.plot.posToVal(left, "x"),
        to: this.plot.posToVal(left + width, "x"),
        low: Math.max(0, 1 - (top + height) / whole),
        high: Math.min(1, 1 - top / whole),
        x: box.left + left + width,
        y: box.top + top + height,
      },
      this.menu,
    );
  }

  /** Takes the dragged rectangle away. */
  unselect(): void {
    this.plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  private click(event: MouseEvent): void {
    if (this.dragging) {
      this.dragging = false;
      return;
    }
    clearTimeout(this.single);
    const box = this.plot.over.getBoundingClientRect();
    const at = {
      time: this.plot.posToVal(event.clientX - box.left, "x"),
      share: 1 - (event.clientY - box.top) / (box.height || 1),
      x: event.clientX,
      y: event.clientY,
    };
    // A click opens a menu under the pointer, which would take the second click of a double one.
    if (event.detail < 2) this.single = window.setTimeout(() => this.events.clicked(at), DOUBLE_CLICK);
  }

  /** With Ctrl the wheel zooms about the pointer; sideways it pans. Else the page scrolls. */
  private wheel(event: WheelEvent): void {
    const box = this.plot.over.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const about = this.plot.posToVal(event.clientX - box.left, "x");
      this.view.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.006), about);
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      event.preventDefault();
      this.view.pan((event.shiftKey ? event.deltaY || event.deltaX : event.deltaX) / (box.width || 1));
    }
  }
}

function timeAxis(look: Theme): uPlot.Axis {
  const wanted = (plot: uPlot): number => Math.max(2, plot.bbox.width / (window.devicePixelRatio || 1) / 86);
  return {
    scale: "x",
    size: BOTTOM_AXIS,
    font: FONT,
    stroke: look.faint,
    gap: 4,
    splits: (plot, _axis, min, max) => timeTicks(min, max, wanted(plot)),
    values: (plot, splits) => {
      const { min, max } = plot.scales.x!;
      const step = timeStep((max ?? 1) - (min ?? 0), wanted(plot));
      return splits.map((at) => elapsed(at, step));
    },
    grid: { stroke: look.grid, width: 1 },
    ticks: { show: false },
  };
}

function frameOf(plot: uPlot) {
  return { ...plot.bbox, place: (seconds: number) => Math.round(plot.valToPos(seconds, "x", true)) };
}

// What lies behind and over every plot: phases as bands, gaps and loss as hatching.

import type { Loss, Run } from "../api/types";
import type { Theme } from "./theme";

/** Bands of one run on the worksheet's clock. */
export interface Bands {
  phases: { name: string; from: number; to: number }[];
  gaps: { from: number; to: number }[];
  loss: { from: number; to: number }[];
}

/** Events thinned out by less than this are not worth a warning. */
const LEAST_WEIGHT = 1;

/** What to draw for a run, with `zero` taken from its times. Only tables that count for `table`. */
export function bandsOf(run: Run, zero: number, table: string | null): Bands {
  const move = <T extends { from: number; to: number }>(s: T): T => ({
    ...s,
    from: s.from - zero,
    to: s.to - zero,
  });
  const matters = (loss: Loss): boolean =>
    (loss.dropped > 0 || (loss.weight ?? 1) > LEAST_WEIGHT) &&
    (table === null || loss.table === null || loss.table === table);
  return {
    phases: run.phases.map(move),
    gaps: run.gaps.map(move),
    loss: run.loss.filter(matters).map(move),
  };
}

export const NO_BANDS: Bands = { phases: [], gaps: [], loss: [] };

/** A pattern of slanted lines, `size` device pixels apart. */
export function hatching(colour: string, size: number): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const draw = tile.getContext("2d");
  if (!draw) return colour;
  draw.strokeStyle = colour;
  draw.lineWidth = Math.max(1, size / 7);
  draw.beginPath();
  for (const shift of [-size, 0, size]) {
    draw.moveTo(shift, size);
    draw.lineTo(shift + size, 0);
  }
  draw.stroke();
  return draw.createPattern(tile, "repeat") ?? colour;
}

interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
  /** Device pixels of a time, from the left of the canvas. */
  place(seconds: number): number;
}

/** Every second phase is shaded, and each begins with a line. */
export function drawPhases(draw: CanvasRenderingContext2D, frame: Frame, bands: Bands, theme: Theme): void {
  draw.save();
  bands.phases.forEach((phase, i) => {
    const from = Math.max(frame.place(phase.from), frame.left);
    const to = Math.min(frame.place(phase.to), frame.left + frame.width);
    if (to <= from) return;
    if (i % 2 === 0) {
      draw.fillStyle = theme.band;
      draw.fillRect(from, frame.top, to - from, frame.height);
    }
    draw.fillStyle = theme.grid;
    draw.fillRect(from, frame.top, 1, frame.height);
  });
  draw.restore();
}

/** Gaps over the whole height; loss as a strip along the top, since there still is something. */
export function drawHatching(draw: CanvasRenderingContext2D, frame: Frame, bands: Bands, theme: Theme): void {
  const ratio = window.devicePixelRatio || 1;
  draw.save();
  draw.fillStyle = hatching(theme.hatch, Math.round(7 * ratio));
  const strip = Math.min(frame.height, Math.round(9 * ratio));
  const paint = (s: { from: number; to: number }, height: number): void => {
    const from = Math.max(frame.place(s.from), frame.left);
    const to = Math.min(frame.place(s.to), frame.left + frame.width);
    if (to > from) draw.fillRect(from, frame.top, Math.max(to - from, ratio), height);
  };
  for (const gap of bands.gaps) paint(gap, frame.height);
  for (const loss of bands.loss) paint(loss, strip);
  draw.restore();
}

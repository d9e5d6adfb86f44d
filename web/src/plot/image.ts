// The cells of a heat map as pixels: one a cell across, rows laid out along the value axis.

import type { Heat } from "../api/types";
import type { Ruler } from "../units/ruler";
import type { Rgb } from "./palette";

/** Steps of the palette. */
const STEPS = 256;

/** A palette as packed pixels, from the least to the greatest. */
export function packed(colour: (share: number) => Rgb): Uint32Array {
  const colours = new Uint32Array(STEPS);
  for (let i = 0; i < STEPS; i++) {
    const [r, g, b] = colour(i / (STEPS - 1));
    // Pixels are bytes red, green, blue, alpha; all machines that run browsers are little-endian.
    colours[i] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }
  return colours;
}

/** Whether the edges of rows are at even distances along the axis. */
export function isEven(edges: readonly number[], ruler: Ruler): boolean {
  const rows = edges.length - 1;
  return edges.every((edge, i) => Math.abs(ruler.share(edge) - i / rows) < 0.2 / rows);
}

/** For each line of pixels, from the top, the row that it shows. */
export function rowOfLine(edges: readonly number[], ruler: Ruler, most: number): Int32Array {
  const rows = edges.length - 1;
  if (isEven(edges, ruler)) return Int32Array.from({ length: rows }, (_, i) => rows - 1 - i);
  const lines = Math.max(rows, most);
  const found = new Int32Array(lines).fill(-1);
  for (let row = 0; row < rows; row++) {
    const from = Math.max(0, ruler.share(edges[row]!));
    const to = Math.min(1, ruler.share(edges[row + 1]!));
    const top = Math.round((1 - to) * lines);
    // A row that is thinner than a line still gets one.
    const bottom = Math.max(Math.round((1 - from) * lines), top + 1);
    found.fill(row, Math.min(top, lines - 1), bottom);
  }
  return found;
}

/** Writes the pixels: `width` columns a line. Empty cells and gaps stay transparent. */
export function paint(
  pixels: Uint32Array,
  heat: Pick<Heat, "cells">,
  width: number,
  lines: Int32Array,
  share: (amount: number) => number,
  colours: Uint32Array,
): void {
  const last = colours.length - 1;
  for (let line = 0; line < lines.length; line++) {
    const row = lines[line]!;
    for (let column = 0; column < width; column++) {
      const amount = row < 0 ? 0 : (heat.cells[row * width + column] ?? 0);
      let colour = 0;
      if (amount !== 0) {
        const at = Math.round(share(amount) * last);
        colour = colours[at < 0 ? 0 : at > last ? last : at]!;
      }
      pixels[line * width + column] = colour;
    }
  }
}

/** Stretches of columns of one width: each is drawn at once. */
export function evenStretches(times: readonly number[]): { first: number; end: number }[] {
  const found: { first: number; end: number }[] = [];
  const columns = times.length - 1;
  let first = 0;
  for (let i = 1; i <= columns; i++) {
    const width = times[first + 1]! - times[first]!;
    const expected = times[first]! + (i - first) * width;
    const off = i === columns || Math.abs(times[i + 1]! - expected - width) > width * 0.3;
    if (off) {
      found.push({ first, end: i });
      first = i;
    }
  }
  return found;
}

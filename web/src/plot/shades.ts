// From amounts to shares of the palette: linear, log, or by rank.

import type { Palette } from "../sheet/worksheet";

/** 0 for the least amount, 1 for the greatest; and back. */
export interface Shades {
  palette: Palette;
  least: number;
  most: number;
  share: (amount: number) => number;
  /** The amount at a share of the palette. */
  amount: (share: number) => number;
}

type Amounts = readonly (number | null)[] | Float64Array;

/** The positive amounts, rising. */
function positive(cells: Amounts): Float64Array {
  let count = 0;
  for (let i = 0; i < cells.length; i++) if ((cells[i] ?? 0) > 0) count++;
  const found = new Float64Array(count);
  for (let i = 0, at = 0; i < cells.length; i++) {
    const cell = cells[i] ?? 0;
    if (cell > 0) found[at++] = cell;
  }
  return found.sort();
}

/** Shades over the amounts of these cells. Empty cells and gaps have no part in them. */
export function shadesOf(cells: Amounts, palette: Palette): Shades {
  const sorted = positive(cells);
  const least = sorted[0] ?? 0;
  const most = sorted[sorted.length - 1] ?? 0;
  if (palette === "linear" || most === 0) {
    const share = (amount: number): number => (most > 0 ? amount / most : 0);
    return { palette, least: 0, most, share, amount: (s) => s * most };
  }
  if (palette === "rank") return byRank(sorted);
  // All cells hold the same: there is nothing to tell apart.
  if (least === most) return { palette, least, most, share: () => 1, amount: () => most };
  const span = Math.log(most / least);
  return {
    palette,
    least,
    most,
    share: (amount) => Math.log(amount / least) / span,
    amount: (s) => least * Math.exp(s * span),
  };
}

/** The share of an amount is the share of the distinct amounts that are not above it. */
function byRank(sorted: Float64Array): Shades {
  const distinct = sorted.filter((amount, i) => i === 0 || amount !== sorted[i - 1]);
  const last = Math.max(distinct.length - 1, 1);
  return {
    palette: "rank",
    least: distinct[0]!,
    most: distinct[distinct.length - 1]!,
    share(amount) {
      if (distinct.length === 1) return 1;
      let low = 0;
      let high = distinct.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (distinct[middle]! <= amount) low = middle;
        else high = middle - 1;
      }
      return low / last;
    },
    amount: (s) => distinct[Math.round(Math.min(1, Math.max(0, s)) * (distinct.length - 1))]!,
  };
}

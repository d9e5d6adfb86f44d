// Value axes: from values to places along an axis, and round ticks in one unit. The same rules
// as the pictures of `sonde plot` (`crates/surfaces/src/axis.rs`).

import { amount, scaleOf } from "./amount";
import type { Unit } from "./amount";

export interface AxisTick {
  value: number;
  text: string;
}

/** A drag that ends nearer to an end of an axis than this share of it ends there. */
const AT_END = 0.005;

/** A linear or logarithmic axis; a log axis may have a band for zero at its lower end. */
export class Ruler {
  private constructor(
    readonly lower: number,
    readonly upper: number,
    readonly log: boolean,
    /** On a log axis: the least value above the band of zero; 0 without a band. */
    readonly least: number,
  ) {}

  static linear(lower: number, upper: number): Ruler {
    return new Ruler(lower, upper > lower ? upper : lower + 1, false, 0);
  }

  /** A log axis; if `lower` is not above zero, zero gets a band below `least`. */
  static log(lower: number, upper: number, least: number): Ruler {
    if (lower > 0) return new Ruler(lower, Math.max(upper, lower * 1.0001), true, 0);
    const floor = least > 0 && least < upper ? least : upper / 10;
    return new Ruler(0, upper, true, floor);
  }

  /** For the row edges of a heat map. */
  static forEdges(edges: readonly number[], log: boolean): Ruler {
    const lower = edges[0] ?? 0;
    const upper = edges[edges.length - 1] ?? 1;
    const least = edges.find((edge) => edge > 0) ?? upper;
    if (!log || upper <= 0 || lower < 0) return Ruler.linear(lower, upper);
    return Ruler.log(lower, upper, least);
  }

  /** Length from the lower end, only to be compared with others. */
  private length(value: number): number {
    if (!this.log) return value - this.lower;
    if (this.least === 0) return Math.log(value / this.lower);
    const band = this.band();
    return value >= this.least ? band + Math.log(value / this.least) : (band * value) / this.least;
  }

  private band(): number {
    return Math.max(Math.log(this.upper / this.least), 1) * 0.06;
  }

  /** 0 at the lower end, 1 at the upper; below 0 or above 1 outside. */
  share(value: number): number {
    if (this.log && this.least === 0 && value <= 0) return -Infinity;
    return this.length(value) / this.length(this.upper);
  }

  /** The value at a share of the axis. */
  value(share: number): number {
    const whole = this.length(this.upper);
    if (!this.log) return this.lower + share * whole;
    if (this.least === 0) return this.lower * Math.exp(share * whole);
    const band = this.band();
    const at = share * whole;
    return at >= band ? this.least * Math.exp(at - band) : (at / band) * this.least;
  }

  /** The values between two shares that were dragged; at an end of the axis there is no bound. */
  dragged(low: number, high: number): [number, number] {
    return [low <= AT_END ? -Infinity : this.value(low), high >= 1 - AT_END ? Infinity : this.value(high)];
  }

  /** Round ticks, about `wanted` of them. */
  ticks(unit: Unit, wanted: number): AxisTick[] {
    if (!this.log) return linearTicks(this.lower, this.upper, unit, wanted);
    const lower = this.least > 0 ? this.least : this.lower;
    const ticks = logTicks(lower, this.upper, unit, wanted);
    return this.least > 0 ? [{ value: 0, text: "0" }, ...ticks] : ticks;
  }
}

/** The least round number, 1, 2 or 5 times a power of the base, that is `least` or more. */
function roundStep(least: number, binary: boolean): number {
  if (binary) {
    const power = Math.pow(1024, Math.floor(Math.log(least) / Math.log(1024)));
    const factors = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
    return (factors.find((f) => f * power >= least * 0.999999) ?? 1024) * power;
  }
  const power = Math.pow(10, Math.floor(Math.log10(least)));
  return ([1, 2, 5, 10].find((f) => f * power >= least * 0.999999) ?? 10) * power;
}

function linearTicks(lower: number, upper: number, unit: Unit, wanted: number): AxisTick[] {
  const span = upper - lower;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const scale = scaleOf(Math.max(Math.abs(lower), Math.abs(upper)), unit);
  const binary = unit.base === "bytes" && scale.by === 1 && span > 64;
  let step = roundStep(span / scale.by / Math.max(wanted, 1), binary);
  const whole = unit.base === "bytes" || (unit.base === "count" && !unit.rate);
  if (whole && scale.by === 1) step = Math.max(step, 1);
  const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)));
  const ticks: AxisTick[] = [];
  const first = Math.ceil(lower / scale.by / step - 1e-9);
  const last = Math.floor(upper / scale.by / step + 1e-9);
  for (let i = first; i <= last && ticks.length < 100; i++) {
    const number = i * step;
    const gap = scale.suffix === "" || unit.base === "count" ? "" : " ";
    const text = number === 0 ? "0" : number.toFixed(decimals) + gap + scale.suffix;
    ticks.push({ value: number * scale.by, text });
  }
  return ticks;
}

function logTicks(lower: number, upper: number, unit: Unit, wanted: number): AxisTick[] {
  const binary = unit.base === "bytes";
  const base = binary ? 2 : 10;
  const from = Math.ceil(Math.log(lower) / Math.log(base) - 1e-9);
  const to = Math.floor(Math.log(upper) / Math.log(base) + 1e-9);
  const powers = Math.max(to - from + 1, 0);
  const strides = binary ? [1, 2, 5, 10, 20, 50] : [1, 2, 3, 6, 12, 50];
  const stride = strides.find((s) => powers / s <= wanted) ?? Math.max(powers, 1);
  const within = !binary && stride === 1 && powers * 3 <= wanted ? [1, 2, 5] : [1];
  const ticks: AxisTick[] = [];
  for (let p = Math.floor((from - 1) / stride) * stride; p <= to + 1; p += stride) {
    for (const m of within) {
      // 1/10^9 is nearest to a billionth, 10^-9 is not.
      const value = p < 0 ? m / Math.pow(base, -p) : m * Math.pow(base, p);
      if (value >= lower * 0.999999 && value <= upper * 1.000001) {
        ticks.push({ value, text: trimmed(value, unit) });
      }
    }
  }
  if (ticks.length < 2 && upper / lower <= 20) return linearTicks(lower, upper, unit, wanted);
  return ticks;
}

/** A tick of a log axis carries its unit, since the axis spans several. */
function trimmed(value: number, unit: Unit): string {
  const { by, suffix } = scaleOf(value, unit);
  const number = value / by;
  if (number < 0.0005 || number >= 1e6) return amount(value, unit);
  const gap = suffix === "" || unit.base === "count" ? "" : " ";
  return String(Number(number.toPrecision(4))) + gap + suffix;
}

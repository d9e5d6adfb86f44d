// Amounts with a unit, printed and read as everywhere in Sonde (`crates/run/src/unit.rs`).

/** A unit by its name on the wire: `bytes`, `bytes/s`, `watts`; `rate` means per second. */
export interface Unit {
  base: "count" | "bytes" | "seconds" | "ratio" | "joules" | "celsius";
  rate: boolean;
}

type Step = readonly [by: number, suffix: string, rate: string];

/** Divide by `by`, append `suffix`. */
export interface Scale {
  by: number;
  suffix: string;
}

const STEPS: Record<Unit["base"], readonly Step[]> = {
  bytes: [
    [1, "B", "B/s"],
    [1024, "KiB", "KiB/s"],
    [1048576, "MiB", "MiB/s"],
    [1073741824, "GiB", "GiB/s"],
    [1099511627776, "TiB", "TiB/s"],
    [1125899906842624, "PiB", "PiB/s"],
  ],
  count: [
    [1, "", "/s"],
    [1e3, "k", "k/s"],
    [1e6, "M", "M/s"],
    [1e9, "G", "G/s"],
    [1e12, "T", "T/s"],
  ],
  seconds: [
    [1e-9, "ns", "ns/s"],
    [1e-6, "µs", "µs/s"],
    [1e-3, "ms", "ms/s"],
    [1, "s", "s/s"],
  ],
  joules: [
    [1e-3, "mJ", "mW"],
    [1, "J", "W"],
    [1e3, "kJ", "kW"],
    [1e6, "MJ", "MW"],
  ],
  ratio: [[0.01, "%", "%/s"]],
  celsius: [[1, "°C", "°C/s"]],
};

/** Reads a unit's name; one that is not known counts things. */
export function unitOf(name: string | null | undefined): Unit {
  if (name === "watts") return { base: "joules", rate: true };
  const rate = name?.endsWith("/s") ?? false;
  const base = rate ? name?.slice(0, -2) : name;
  return { base: base && base in STEPS ? (base as Unit["base"]) : "count", rate };
}

/** The unit of the amounts that a rate is made of. */
export function amountUnit(unit: Unit): Unit {
  return { base: unit.base, rate: false };
}

/** The scale in which `largest` reads best. */
export function scaleOf(largest: number, unit: Unit): Scale {
  const steps = STEPS[unit.base];
  const size = Math.abs(largest);
  let step = steps.find((s) => s[0] === 1) ?? steps[0]!;
  if (size !== 0 && Number.isFinite(size)) {
    // A value that rounds up to the next step's unit belongs to the next step.
    step = steps.findLast((s) => size >= s[0] * 0.9995) ?? steps[0]!;
  }
  return { by: step[0], suffix: unit.rate ? step[2] : step[1] };
}

/** Three significant digits, at most three decimals: `0`, `<0.001`, `0.12`, `12.3`, `12345`. */
export function digits(value: number | null): string {
  if (value === null || Number.isNaN(value)) return "-";
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (size >= 99.95) return even(value, 0);
  if (size >= 9.995) return even(value, 1);
  if (size >= 0.0995) return even(value, 2);
  if (size >= 0.0005) return even(value, 3);
  return value > 0 ? "<0.001" : ">-0.001";
}

/** `toFixed`, but for numbers so large that it would change to exponents. */
function even(value: number, decimals: number): string {
  return Math.abs(value) < 1e21 ? value.toFixed(decimals) : value.toExponential(2);
}

/** One amount for a person: `4.00 KiB/s`, `1.25 ms`, `73.0 %`, `812`; `-` if not known. */
export function amount(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  const { by, suffix } = scaleOf(value, unit);
  const number = value / by;
  const exact = unit.base === "count" && !unit.rate && by === 1 && Number.isInteger(number);
  const text = exact ? number.toFixed(0) : digits(number);
  return text + (suffix === "" || unit.base === "count" ? "" : " ") + suffix;
}

/** The scale for a column or legend of values: all in one unit, see `column_scale`. */
export function columnScale(values: readonly (number | null)[], unit: Unit): Scale {
  const sizes = values
    .filter((v): v is number => v !== null && Number.isFinite(v))
    .map((v) => Math.abs(v));
  const largest = sizes.reduce((a, b) => Math.max(a, b), 0);
  const best = scaleOf(largest, unit);
  if (unit.base === "ratio" || unit.base === "celsius") return best;
  const most = unit.base === "count" ? 1e6 : 1e5;
  if (unit.base === "count" && largest < most) return scaleOf(0, unit);
  const least = sizes.filter((v) => v > 0).reduce((a, b) => Math.min(a, b), Infinity);
  if (least / best.by >= 0.1) return best;
  const below = scaleOf(best.by / 2, unit);
  return largest / below.by < most ? below : best;
}

/** A value of such a column, without its suffix. */
export function columnDigits(value: number | null, scale: Scale, unit: Unit): string {
  if (value === null || Number.isNaN(value)) return "-";
  const whole = unit.base === "count" || unit.base === "bytes";
  if (whole && scale.by === 1 && Number.isInteger(value)) return value.toFixed(0);
  return digits(value / scale.by);
}

/** What a person writes behind a number, its factor and the base unit. */
const WRITTEN: Record<string, readonly [number, Unit["base"] | null]> = {
  "": [1, null],
  ns: [1e-9, "seconds"],
  us: [1e-6, "seconds"],
  µs: [1e-6, "seconds"],
  μs: [1e-6, "seconds"],
  ms: [1e-3, "seconds"],
  s: [1, "seconds"],
  sec: [1, "seconds"],
  m: [60, "seconds"],
  min: [60, "seconds"],
  h: [3600, "seconds"],
  d: [86400, "seconds"],
  B: [1, "bytes"],
  K: [1024, "bytes"],
  KiB: [1024, "bytes"],
  M: [1048576, "bytes"],
  MiB: [1048576, "bytes"],
  G: [1073741824, "bytes"],
  GiB: [1073741824, "bytes"],
  T: [1099511627776, "bytes"],
  TiB: [1099511627776, "bytes"],
  PiB: [1125899906842624, "bytes"],
  kB: [1e3, "bytes"],
  KB: [1e3, "bytes"],
  MB: [1e6, "bytes"],
  GB: [1e9, "bytes"],
  TB: [1e12, "bytes"],
  PB: [1e15, "bytes"],
  k: [1e3, "count"],
  "%": [0.01, "ratio"],
  J: [1, "joules"],
  C: [1, "celsius"],
  "°C": [1, "celsius"],
};

/** Reads `10ms`, `4KiB`, `35%`, `1e6`; `null` if it is none. */
export function parseAmount(text: string): number | null {
  const found = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*)$/.exec(text.trim());
  const factor = found && Object.hasOwn(WRITTEN, found[2]!) ? WRITTEN[found[2]!] : undefined;
  return found && factor ? Number(found[1]) * factor[0] : null;
}

/**
 * The number with the fewest digits, in the unit it reads best in, from `low` up to but without
 * `high`.
 */
export function roundest(low: number, high: number, base: Unit["base"]): number {
  if (!(low < high) || !Number.isFinite(low) || !Number.isFinite(high)) return low;
  const { by } = scaleOf(high, { base, rate: false });
  for (let decimals = -6; decimals <= 9; decimals++) {
    const step = 10 ** -decimals;
    const candidate = Number((Math.ceil(low / by / step - 1e-9) * step).toFixed(Math.max(decimals, 0)));
    // As it would be read back.
    const value = by === 1e-3 || by === 1e-6 || by === 1e-9 || by >= 1 ? candidate * by : candidate / (1 / by);
    if (value >= low && value < high) return value;
  }
  return low;
}

/** Suffixes an exact amount may be written with in an expression, for each unit. */
const EXACT: Partial<Record<Unit["base"], readonly string[]>> = {
  seconds: ["s", "ms", "us", "ns"],
  bytes: ["TiB", "GiB", "MiB", "KiB", "B"],
};

/**
 * An amount as an expression's bound, which reads back as exactly this number: the largest unit
 * with few digits, else all digits in the base unit.
 */
export function exactText(value: number, base: Unit["base"]): string {
  const suffixes = EXACT[base] ?? [""];
  for (const suffix of suffixes) {
    const number = value / WRITTEN[suffix]![0];
    const text = String(Number(number.toPrecision(12)));
    const short = Math.abs(number) >= 1 && text.length <= 9 && !text.includes("e");
    if (short && parseAmount(text + suffix) === value) return text + suffix;
  }
  const unit = base === "seconds" ? "s" : base === "bytes" ? "B" : "";
  return String(value) + unit;
}

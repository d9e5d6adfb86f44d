// Colours, the same as in the pictures of `sonde plot` (`crates/surfaces/src/palette.rs`).

export type Rgb = readonly [number, number, number];

/** Okabe and Ito, "Color Universal Design" (2008), strongest on white first. */
const ON_WHITE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#df9800", "#46a8e0", "#000000", "#9c9300"];
/** The same hues on black: blue is lightened, black becomes white, yellow its original. */
const ON_BLACK = ["#3d9be0", "#f07f33", "#1fb88c", "#d68fb6", "#e8a820", "#7cc7f2", "#f2f2f2", "#d9cf4a"];
/** The rest that was summed up. */
const OTHER = { light: "#969696", dark: "#8a8a8a" };
/** Dashes of lines when the eight colours were used up once, twice, …; empty is solid. */
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [10, 3, 2, 3]];

/** The colour of the nth group. */
export function seriesColour(n: number, dark: boolean): string {
  return (dark ? ON_BLACK : ON_WHITE)[n % 8]!;
}

/** How the line of the nth group is dashed. */
export function seriesDash(n: number): number[] {
  return [...DASHES[Math.floor(n / 8) % DASHES.length]!];
}

export function otherColour(dark: boolean): string {
  return dark ? OTHER.dark : OTHER.light;
}

/**
 * The colour of a heat map's cell: 0 the least amount, 1 the greatest. On white it darkens, on
 * black it lightens, evenly in OKLab (B. Ottosson, "A perceptual color space", 2020).
 */
export function heatColour(share: number, dark: boolean): Rgb {
  const t = Math.min(1, Math.max(0, Number.isNaN(share) ? 0 : share));
  const chroma = 0.045 + 0.44 * t * (1 - t) * (1 - 0.25 * t) + 0.035 * t;
  if (!dark) return oklab(0.9 - 0.62 * t, chroma, 235 + 30 * t);
  return oklab(0.36 + 0.58 * t, Math.max(chroma, 0.07) * 0.95, 262 - 62 * t);
}

/** A difference, -1 to 1: blue where there is less, orange where there is more. */
export function differenceColour(share: number, dark: boolean): Rgb {
  const t = Math.min(1, Math.max(-1, Number.isNaN(share) ? 0 : share));
  const size = Math.abs(t);
  const lightness = dark ? 0.3 + 0.45 * size : 0.96 - 0.42 * size;
  return oklab(lightness, 0.02 + 0.14 * size, t < 0 ? 255 : 50);
}

function oklab(l: number, chroma: number, degrees: number): Rgb {
  const hue = (degrees * Math.PI) / 180;
  const a = chroma * Math.cos(hue);
  const b = chroma * Math.sin(hue);
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    gamma(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
    gamma(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
    gamma(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short),
  ];
}

/** Linear light to an sRGB byte (IEC 61966-2-1). */
function gamma(light: number): number {
  const clamped = Math.min(1, Math.max(0, light));
  const v = clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * clamped ** (1 / 2.4) - 0.055;
  return Math.round(v * 255);
}

/** A colour for a stylesheet. */
export function css([r, g, b]: Rgb): string {
  return `rgb(${r} ${g} ${b})`;
}

// Times of a run: seconds since its start, as people read them.

/** Steps of a time axis, in seconds. */
const STEPS = [
  1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
  0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
  86400, 172800, 604800,
];

/** The least step that leaves at most `wanted` ticks in `span` seconds. */
export function timeStep(span: number, wanted: number): number {
  return STEPS.find((step) => span / step <= wanted) ?? 604800 * Math.ceil(span / wanted / 604800);
}

/** The round times within a stretch. */
export function timeTicks(from: number, to: number, wanted: number): number[] {
  const step = timeStep(to - from, Math.max(wanted, 1));
  const first = Math.ceil(from / step - 1e-9) + 0;
  const last = Math.floor(to / step + 1e-9);
  const ticks: number[] = [];
  for (let i = first; i <= last && ticks.length < 1000; i++) ticks.push(i * step);
  return ticks;
}

/** `7 s`, `0.25 s`, `1:30`, `1:02:30`, `2d 3:00`, with as many decimals as `step` has. */
export function elapsed(seconds: number, step: number): string {
  const decimals = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9));
  const rounded = Number(Math.abs(seconds).toFixed(decimals));
  const sign = seconds < 0 && rounded > 0 ? "-" : "";
  if (rounded < 60) return `${sign}${rounded.toFixed(decimals)} s`;
  const days = Math.floor(rounded / 86400);
  const hours = Math.floor((rounded % 86400) / 3600);
  const minutes = Math.floor((rounded % 3600) / 60);
  const rest = (rounded % 60).toFixed(decimals).padStart(decimals ? 3 + decimals : 2, "0");
  const two = (n: number): string => String(n).padStart(2, "0");
  if (days > 0) {
    const of = minutes || Number(rest) ? `${hours}:${two(minutes)}` : `${hours} h`;
    return `${sign}${days} d ${of}`;
  }
  if (hours > 0) return `${sign}${hours}:${two(minutes)}:${rest}`;
  return `${sign}${minutes}:${rest}`;
}

/** How long something took, in one unit: `12.3 s`, `4 min`, `1 h 20 min`. */
export function length(seconds: number): string {
  if (seconds < 120) return `${Number(seconds.toPrecision(3))} s`;
  if (seconds < 7200) return `${Math.round(seconds / 6) / 10} min`;
  if (seconds < 172800) {
    const minutes = Math.round(seconds / 60);
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }
  return `${Math.round(seconds / 8640) / 10} d`;
}

/** The time of day in the reader's zone, with decimals as `step` needs; empty if not known. */
export function clock(started: string, seconds: number, step = 1): string {
  const at = new Date(Date.parse(started) + seconds * 1000);
  if (Number.isNaN(at.getTime())) return "";
  const two = (n: number): string => String(n).padStart(2, "0");
  const text = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  if (step >= 1) return text;
  const thousandths = String(at.getMilliseconds()).padStart(3, "0");
  return `${text}.${step >= 0.1 ? thousandths.slice(0, 1) : thousandths}`;
}

/** Day and time of day in the reader's zone. */
export function date(started: string): string {
  const at = new Date(started);
  if (Number.isNaN(at.getTime())) return started;
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(started, 0)}`;
}

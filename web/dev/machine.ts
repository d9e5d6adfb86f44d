// A made-up machine for developing the page and for its tests: every number is a function of the
// time and the group, so that parts always sum to the whole. Nothing of it is in the product.

/** Seconds of the made-up runs. */
export const SECONDS = 600;
export const PHASES = [
  { name: "setup", from: 0, to: 40 },
  { name: "steady", from: 40, to: 520 },
  { name: "cool down", from: 520, to: 600 },
];
export const GAP = { from: 300, to: 307 };
export const LOSS = { table: "disk_event", from: 200, to: 222, dropped: 1840, weight: 4 };
/** When, and how long, the made latency bubble waits. */
export const BUBBLE = { from: 372, to: 441, low: 0.25, high: 0.9 };

/** Words of each dimension, with their share of the whole. */
export const WORDS: Record<string, [string, number][]> = {
  device: [["nvme0n1", 0.62], ["sda", 0.27], ["dm-0", 0.08], ["loop3", 0.03]],
  op: [["read", 0.66], ["write", 0.3], ["discard", 0.03], ["flush", 0.01]],
  mode: [["user", 0.48], ["system", 0.27], ["softirq", 0.13], ["irq", 0.07], ["nice", 0.05]],
  interface: [["eth0", 0.84], ["eth1", 0.16]],
  direction: [["receive", 0.7], ["transmit", 0.3]],
  kind: [["cache", 0.55], ["anonymous", 0.3], ["slab", 0.1], ["free", 0.05]],
  process: spread("fio", 42),
  command: [["fio", 0.71], ["postgres", 0.17], ["kworker", 0.08], ["sshd", 0.04]],
  cgroup: [["/system.slice", 0.05], ["/system.slice/docker-a1.scope", 0.35], ["/system.slice/docker-b2.scope", 0.25], ["/user.slice", 0.02], ["/user.slice/user-0.slice", 0.33]],
  file: [["/srv/data/base.img", 0.55], ["/srv/data/index/a.idx", 0.22], ["/srv/data/index/b.idx", 0.14], ["/var/log/syslog", 0.09]],
  layer: [["disk", 1]],
};

/** Many groups, each smaller than the one before. */
function spread(name: string, many: number): [string, number][] {
  const sizes = Array.from({ length: many }, (_, i) => 1 / (i + 1) ** 1.3);
  const all = sizes.reduce((a, b) => a + b, 0);
  return sizes.map((size, i) => [`${name}[${1200 + 7 * i}]`, size / all]);
}

/** A number between 0 and 1 from numbers: the same each time. */
export function hash(...numbers: number[]): number {
  let h = 2166136261;
  for (const n of numbers) {
    h = Math.imul(h ^ Math.round(n * 1000), 16777619);
    h ^= h >>> 13;
  }
  return ((h >>> 0) % 100000) / 100000;
}

/** Whether nothing was observed in the interval that ends at `t`. */
export function inGap(t: number): boolean {
  return t > GAP.from && t <= GAP.to;
}

/** How busy the machine is, about 1. */
function load(t: number, salt: number): number {
  const phase = t < 40 ? 0.25 + t / 60 : t > 520 ? Math.max(0.04, 1 - (t - 520) / 50) : 1;
  const wave = 1 + 0.16 * Math.sin(t / 21 + salt) + 0.1 * Math.sin(t / 4.7 + 2 * salt);
  return phase * wave * (0.9 + 0.2 * hash(Math.floor(t), salt));
}

/** Per second of the whole, by statistic. */
const RATES: Record<string, number> = {
  "disk.ios": 18200,
  "disk.bytes": 3.1e8,
  "disk.time": 4.2,
  "cpu.time": 6.4,
  "net.bytes": 8.8e7,
  "memory.bytes": 3.2e10,
  "cgroup.time": 6.1,
  "file.ops": 22000,
};

/** The value of a group in the interval that ends at `t`: per second for sums. */
export function valueAt(statistic: string, words: string[], dimensions: string[], t: number, run: number): number {
  let share = 1;
  let salt = run * 3;
  dimensions.forEach((dimension, i) => {
    const place = (WORDS[dimension] ?? []).findIndex(([word]) => word === words[i]);
    share *= WORDS[dimension]?.[place]?.[1] ?? 0;
    salt += (place + 1) * (i + 1);
  });
  if (statistic === "disk.mean_latency") return 0.0004 + 0.0002 * load(t, salt) + (bubbling(t, run) ? 0.003 : 0);
  if (statistic === "cpu.utilisation") return Math.min(1, 0.55 * load(t, salt));
  const whole = RATES[statistic] ?? 1000;
  if (statistic === "memory.bytes") return whole * share * (1 + 0.0004 * t * (salt % 3));
  return whole * share * load(t, salt) * (run === 0 ? 1 : 1.15);
}

/** Whether requests are being passed over at `t`. */
export function bubbling(t: number, run: number): boolean {
  return run === 0 && t > BUBBLE.from && t <= BUBBLE.to;
}

/** The share of a lognormal distribution below a value. */
function below(value: number, median: number, sigma: number): number {
  if (value <= 0) return 0;
  const z = Math.log(value / median) / sigma;
  return 1 / (1 + Math.exp(-1.702 * z));
}

/** I/Os in the interval that ends at `t` and took `low` to `high` seconds. */
export function iosBetween(low: number, high: number, t: number, run: number): number {
  const rate = 18200 * load(t, run * 3 + 1);
  const drift = 1 + 0.25 * Math.sin(t / 60);
  const main = below(high, 0.00021 * drift, 0.3) - below(low, 0.00021 * drift, 0.3);
  const slow = below(high, 0.0014, 0.42) - below(low, 0.0014, 0.42);
  const tail = below(high, 0.009, 0.6) - below(low, 0.009, 0.6);
  let ios = rate * (0.8 * main + 0.19 * slow + 0.004 * tail);
  if (bubbling(t, run)) {
    const centre = 0.35 + 0.4 * Math.abs(Math.sin(t / 9));
    ios += 42 * (below(high, centre, 0.09) - below(low, centre, 0.09));
  }
  const noise = hash(t, Math.log(low + 1e-9) * 100, run) - 0.5;
  return Math.max(0, Math.round(ios + noise * Math.sqrt(ios + 0.12)));
}

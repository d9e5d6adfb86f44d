// How long script and paint of a frame take while panning and zooming on cached answers: a heat
// map of 2,000 columns and 200 rows, stacked areas of nine groups and lines below it. Read from
// Chromium's trace: all tasks of the page's main thread between two animation frames, and with
// them the drawing that other threads do for it.
//
//   npm run build && npm run bench      prints one line of JSON

import { chromium } from "playwright-core";

import { settled } from "../e2e/browser.mjs";
import { serve } from "../e2e/mock.mjs";

const COLUMNS = 2000;
const ROWS = 200;
const FRAMES = 300;
const SECONDS = 2000;

/** A full heat map: every cell holds something. */
function heat(expr) {
  const edges = Array.from({ length: ROWS + 1 }, (_, i) => 1e-5 * 10 ** ((5 * i) / ROWS));
  const cells = Array.from({ length: ROWS * COLUMNS }, (_, i) => 1 + ((i * 2654435761) % 9973));
  const common = { expr, unit: "count", value_unit: "count/s", kind: "sum", help: "", table: "disk", caveat: null, stands_for: 1, from: 0, to: SECONDS, bucket: 1 };
  const quantiles = { events: 1, min: 1e-5, p50: 1e-3, p90: 1e-2, p99: 0.1, "p99.9": 0.5, max: 1, mean: 0.002 };
  return {
    ...common,
    shape: "heat",
    key: [{ dimension: "latency", number: "seconds" }],
    heat: { times: Array.from({ length: COLUMNS + 1 }, (_, i) => i), edges, log: true, cells, hidden: { amount: 0, share: 0, events: 0 }, total: 1e9, greatest: 9973 },
    fold: { edges, amounts: edges.slice(1).map(() => 5), quantiles },
  };
}

function lines(expr) {
  const groups = Array.from({ length: 8 }, (_, g) => {
    const mean = Array.from({ length: COLUMNS }, (_, i) => 100 / (g + 1) + 10 * Math.sin(i / (20 + g)));
    return { key: [`g${g}`], label: `g${g}`, total: 1e5, mean: 50, min: 1, max: 99, series: { mean, min: mean, max: mean } };
  });
  const times = Array.from({ length: COLUMNS }, (_, i) => i + 1);
  return { expr, unit: "bytes", value_unit: "bytes/s", kind: "sum", help: "", table: "disk", caveat: null, stands_for: 1, from: 0, to: SECONDS, shape: "lines", bucket: 1, key: [{ dimension: "device", number: null }], times, groups, others: null };
}

const answers = { heat: JSON.stringify(heat("disk.ios by latency")), lines: JSON.stringify(lines("disk.bytes by device")) };
const server = await serve("");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage({ viewport: { width: 2440, height: 1100 } });
await page.route("**/api/v1/eval*", (route) => {
  const kind = new URL(route.request().url()).searchParams.get("expr").includes("latency") ? "heat" : "lines";
  return route.fulfill({ contentType: "application/json", body: answers[kind] });
});
await page.route("**/api/v1/runs", async (route) => {
  const body = await (await route.fetch()).json();
  for (const run of body.runs) Object.assign(run, { seconds: SECONDS, gaps: [], loss: [], subjects: { disk: ["latency", "device"], cpu: ["mode"] } });
  return route.fulfill({ json: body });
});
await page.goto(server.address);
await settled(page);
await page.waitForTimeout(800);

await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline", "devtools.timeline", "cc", "blink", "blink.user_timing"] });
await page.evaluate(async (frames) => {
  const over = document.querySelector(".u-over");
  const box = over.getBoundingClientRect();
  const wheel = (more) => over.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true, clientX: box.left + box.width * 0.4, clientY: box.top + 50, ...more }));
  for (let i = 0; i < frames; i++) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    performance.mark("sonde-frame");
    // In, along, and out again, faster than new answers are asked for.
    if (i % 60 < 15) wheel({ ctrlKey: true, deltaY: -40 });
    else if (i % 60 < 45) wheel({ shiftKey: true, deltaY: i % 60 < 30 ? 60 : -60 });
    else wheel({ ctrlKey: true, deltaY: 40 });
  }
}, FRAMES);
const trace = JSON.parse((await browser.stopTracing()).toString());
await browser.close();
await server.close();

const events = trace.traceEvents;
const marks = events.filter((e) => e.name === "sonde-frame").sort((a, b) => a.ts - b.ts);
const main = marks[0];
const tasks = events.filter((e) => e.ph === "X" && e.pid === main.pid && e.tid === main.tid && /RunTask$/.test(e.name));
const raster = events.filter((e) => e.ph === "X" && e.tid !== main.tid && /^(RasterTask|RasterBufferProvider|ImageDecodeTask|Decode Image|DecodeLazyPixelRef)$/.test(e.name));
// Processor time where the trace has it: what else the machine does must not count.
const cost = (e) => (e.tdur ?? e.dur) / 1000;
// Tasks within tasks are counted with the outer one.
let end = 0;
const outer = tasks.sort((a, b) => a.ts - b.ts || b.dur - a.dur).filter((t) => {
  if (t.ts < end) return false;
  end = t.ts + t.dur;
  return true;
});
const frames = marks.slice(0, -1).map((mark, i) => {
  const next = marks[i + 1].ts;
  // A task belongs to the frame whose mark stands in it, else to the one in which it begins.
  const inside = outer.filter((t) => (t.ts <= mark.ts ? t.ts + t.dur > mark.ts : t.ts + t.dur <= next || t.ts < next && t.ts + t.dur < next));
  const drawn = raster.filter((t) => t.ts >= mark.ts && t.ts < next);
  const sum = (list) => list.reduce((total, e) => total + cost(e), 0);
  return { script: sum(inside), raster: sum(drawn), wall: (next - mark.ts) / 1000 };
});
if (process.env.BREAKDOWN) {
  const names = new Map();
  for (const e of events.filter((x) => x.ph === "X" && x.tid === main.tid && x.pid === main.pid)) names.set(e.name, (names.get(e.name) ?? 0) + cost(e) / frames.length);
  console.error([...names].sort((a, b) => b[1] - a[1]).slice(0, 25).map(([n, ms]) => `${ms.toFixed(2)} ${n}`).join("\n"));
}
const at = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))];
const figures = (name) => ({ p50: Number(at(frames.map((f) => f[name]), 0.5).toFixed(2)), p95: Number(at(frames.map((f) => f[name]), 0.95).toFixed(2)), max: Number(at(frames.map((f) => f[name]), 1).toFixed(2)) });
const both = frames.map((f) => f.script + f.raster);
console.log(JSON.stringify({ frames: frames.length, cells: COLUMNS * ROWS, tasks_ms: figures("script"), raster_ms: figures("raster"), wall_ms: figures("wall"), frame_p95_ms: Number(at(both, 0.95).toFixed(2)) }));

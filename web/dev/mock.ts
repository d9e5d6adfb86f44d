// A server of the HTTP API with a made-up machine behind it, for `npm run dev` and the tests of
// the page: two finished runs, or with `?live` in SONDE_MOCK a growing one. Not in the product.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Connect, Plugin } from "vite";

import type { Finding, Run, Runs } from "../src/api/types";
import { evaluate, events, Refused } from "./answers";
import { CATALOG } from "./catalog";
import { BUBBLE, GAP, LOSS, PHASES, SECONDS } from "./machine";

const STARTED = "2026-11-20T09:14:03Z";

/** What the server is made to be: finished runs (one or two), or a live one. */
export interface MockState {
  runs: 1 | 2;
  live: boolean;
  began: number;
  sheets: Map<string, string>;
  problems: string[];
}

/** A state, by the environment's SONDE_MOCK: `live`, `two`, `problems`. */
export function mockState(wanted = process.env.SONDE_MOCK ?? ""): MockState {
  return {
    runs: wanted.includes("two") ? 2 : 1,
    live: wanted.includes("live"),
    began: Date.now() - 100_000,
    sheets: new Map(),
    problems: wanted.includes("problems") ? ["table disk_event: damaged after row 18211; what is before it was read"] : [],
  };
}

function secondsOf(state: MockState): number {
  return state.live ? Math.min(SECONDS, Math.floor((Date.now() - state.began) / 1000)) : SECONDS;
}

function runOf(state: MockState, id: string, name: string): Run {
  const seconds = secondsOf(state);
  const subjects = Object.fromEntries(
    CATALOG.subjects.filter((s) => s.name !== "nfs").map((s) => [s.name, s.dimensions.map((d) => d.name).filter((d) => d !== "offset")]),
  );
  return {
    id,
    path: `/srv/runs/${name}`,
    name,
    title: id === "a" ? "fio random read beside a deep stream" : null,
    host: "stor3",
    started: state.live ? new Date(state.began).toISOString() : STARTED,
    dated: true,
    seconds,
    every: 1,
    live: state.live,
    end: state.live ? null : "ok",
    command: state.live ? null : ["fio", "--name=lone", "--rw=randread", "--direct=1", "job.fio"],
    detail: "events",
    phases: state.live ? [] : PHASES,
    gaps: [GAP].filter((gap) => gap.to < seconds),
    loss: [LOSS].filter((loss) => loss.to < seconds),
    since_boot: false,
    subjects,
    own_cost: { cpu_share: 0.0042, memory: 2.3e7, bytes_written: 8.1e6, late: 0, dropped: 1840 },
    problems: state.problems,
    notes: {},
  };
}

function runsOf(state: MockState): Runs {
  if (state.live) return { version: "0.1.0", live: true, runs: [runOf(state, "live", "this host")] };
  const runs = [runOf(state, "a", "bubble")];
  if (state.runs === 2) runs.push({ ...runOf(state, "b", "read-expire-20"), loss: [] });
  return { version: "0.1.0", live: false, runs };
}

const FINDINGS: Finding[] = [
  {
    name: "latency-bubble",
    score: 0.12,
    sentence: "148 reads of nvme0n1 took 250 to 900 ms while 99 % took at most 4.1 ms; they waited in the scheduler's queue",
    from: BUBBLE.from,
    to: BUBBLE.to,
    expr: "disk.ios by latency where device = nvme0n1",
    causes: ["a sorted queue in which a deep stream starves a far request", "write-back or I/O throttling of a control group"],
  },
  { name: "small-segments", score: 0.04, sentence: "packets of eth0 carried 1.4 segments on average", from: 60, to: 500, expr: "net.bytes by interface", causes: ["offloads are off"] },
];

const INVENTORY = {
  start: {
    host: { name: "stor3", kernel: "6.12.9", boot: "2026-11-01T04:00:11Z" },
    processors: { logical: 32, model: "made-up processor", governor: "performance" },
    disks: { nvme0n1: { size: 1.92e12, scheduler: "mq-deadline", nr_requests: 1023, read_expire: 1000 }, sda: { size: 4e12, scheduler: "bfq" } },
    sysctl: { "vm.dirty_ratio": 20, "vm.swappiness": 60, "net.core.rmem_max": 212992 },
  },
  changed: [{ path: "disks.nvme0n1.read_expire", before: 500, after: 1000 }],
};

function output(url: URL): unknown {
  const lines = Array.from({ length: 90 }, (_, i) => `Jobs: 2 (f=2): [R(2)][${i + 1}%][r=${280 + (i % 13)}MiB/s][eta ${(89 - i) * 6}s]`);
  const text = url.searchParams.get("stream") === "stderr" ? "" : lines.join("\n") + "\n";
  const from = Number(url.searchParams.get("from") ?? 0);
  const first = Math.min(Math.ceil(from / 6.66), text ? lines.length : 0);
  const offset = lines.slice(0, first).join("\n").length + Math.min(first, 1);
  const before = url.searchParams.get("before");
  if (before !== null) return { ...output(new URL("output", url)) as object, text: text.slice(0, Number(before)), next: Number(before) };
  return { text: text.slice(offset), offset, next: text.length, total: text.length, lines: text ? lines.slice(first).map((_, i) => ({ line: i, at: (first + i) * 6.66 })) : null };
}

/** Amounts of two control groups, level by level. */
function levels(url: URL): unknown {
  const leaf = (name: string, sum: number): unknown => ({ name, own: sum, sum, children: [], others: null });
  const system = { name: "/system.slice", own: 1, sum: 60, children: [leaf("/system.slice/docker-a1.scope", 40), leaf("/system.slice/docker-b2.scope", 19)], others: null };
  const root = { name: "/", own: 2, sum: 95, children: [system, leaf("/user.slice", 30)], others: { count: 2, sum: 3 } };
  const query = (name: string): number => Number(url.searchParams.get(name) ?? 0);
  return { expr: url.searchParams.get("expr"), dimension: "cgroup", adds: true, unit: "seconds", names: 7, from: query("from"), to: query("to"), roots: [root], others: null };
}

function evaluated(state: MockState, url: URL): unknown {
  const query = (name: string, usual: number): number => Number(url.searchParams.get(name) ?? usual);
  return evaluate({
    expr: url.searchParams.get("expr") ?? "",
    run: url.searchParams.get("run") === "b" ? 1 : 0,
    from: query("from", 0),
    to: query("to", secondsOf(state)),
    width: query("width", 1000),
    rows: query("rows", 80),
    top: query("top", 8),
    outliers: query("outliers", 0.001),
    seconds: secondsOf(state),
  });
}

/** Answers a request of the API; `false` if it is none. */
export async function answer(state: MockState, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const url = new URL(request.url ?? "/", "http://localhost");
  if (!url.pathname.startsWith("/api/v1/")) return false;
  const resource = url.pathname.slice("/api/v1/".length);
  const send = (body: unknown, status = 200): void => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  try {
    if (resource === "runs") send(runsOf(state));
    else if (resource === "catalog") send(CATALOG);
    else if (resource === "eval") send(evaluated(state, url));
    else if (resource === "events") send(events(url.searchParams.get("where") ?? "", Number(url.searchParams.get("limit") ?? 200)));
    else if (resource === "findings") send(state.live ? { limits: [], findings: [] } : { limits: [{ resource: "disk", name: "nvme0n1", share: 0.97, full: true, text: "nvme0n1 was busy for 97 % of the time" }], findings: FINDINGS });
    else if (resource === "inventory") send(INVENTORY);
    else if (resource === "output") send(output(url));
    else if (resource === "levels") send(levels(url));
    else if (resource === "worksheets") send({ worksheets: [...state.sheets].map(([name, text]) => ({ name, worksheet: JSON.parse(text) as unknown })) });
    else if (resource.startsWith("worksheets/")) await worksheet(state, decodeURIComponent(resource.slice(11)), request, send);
    else if (resource === "keep") send({ path: "/srv/runs/live" });
    else if (resource === "stream") stream(state, response);
    else send({ error: { message: `no such resource: ${resource}`, hint: null, at: null } }, 404);
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    send({ error: { message: thrown.message, hint: thrown.hint, at: thrown.at } }, thrown.status);
  }
  return true;
}

async function worksheet(state: MockState, name: string, request: IncomingMessage, send: (body: unknown, status?: number) => void): Promise<void> {
  if (request.method === "PUT") {
    let body = "";
    for await (const piece of request) body += String(piece);
    state.sheets.set(name, body);
    send({});
    return;
  }
  const sheet = state.sheets.get(name);
  if (sheet) send(JSON.parse(sheet));
  else send({ error: { message: `no worksheet ${name}`, hint: null, at: null } }, 404);
}

function stream(state: MockState, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const timer = setInterval(() => {
    const tick = { run: "live", seconds: secondsOf(state), own_cost: { cpu_share: 0.004, memory: 2.2e7, bytes_written: 1e6, late: 0, dropped: 0 }, loss: [] };
    response.write(`event: tick\ndata: ${JSON.stringify(tick)}\n\n`);
  }, 1000);
  response.on("close", () => clearInterval(timer));
}

/** The same policy as the product's server sends: what it refuses shows up in the tests. */
const POLICY = "default-src 'self'; style-src 'self'; script-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/** The made-up server as a part of Vite's, for development and, with the policy, for the build. */
export function mockServer(): Plugin {
  const state = mockState();
  const handle: Connect.NextHandleFunction = (request, response, next) => {
    answer(state, request, response).then((done) => {
      if (!done) next();
    }, next);
  };
  return {
    name: "made-up-machine",
    configureServer(server) {
      server.middlewares.use(handle);
    },
    configurePreviewServer(server) {
      server.middlewares.use((_request, response, next) => {
        response.setHeader("content-security-policy", POLICY);
        next();
      });
      server.middlewares.use(handle);
    },
  };
}

// Answers from the server of `sonde view`, over its HTTP API.

import { Refusal } from "./provider";
import type { EventsQuestion, Provider, Question, SavedWorksheet, StreamListener } from "./provider";
import type { Answer, Catalog, Events, Findings, Inventory, Levels, Output, OutputStart, Runs, Stretch, Tick } from "./types";

const ROOT = "/api/v1/";
/** Bytes of a command's output that are asked for at a time. */
const OUTPUT_PIECE = 262144;
/** Lines of it: empty ones are many in few bytes. */
const OUTPUT_LINES = 2000;

type Parameters = Record<string, string | number | undefined>;

/** The address of a resource with its parameters, those left out that are undefined. */
export function address(resource: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return ROOT + resource + (text ? `?${text}` : "");
}

/** Reads the server's JSON error; its absence is an error of its own. */
export function readRefusal(status: number, body: string): Refusal {
  if (status === 401) {
    return new Refusal(
      "this browser's session is not known to the server",
      "open the address that `sonde view` printed",
      null,
      status,
    );
  }
  try {
    const { error } = JSON.parse(body) as {
      error?: { message?: unknown; hint?: unknown; at?: unknown };
    };
    if (error && typeof error.message === "string") {
      const at = Array.isArray(error.at) && error.at.length === 2 ? (error.at as [number, number]) : null;
      return new Refusal(error.message, typeof error.hint === "string" ? error.hint : null, at, status);
    }
  } catch {
    // Not JSON: told below.
  }
  return new Refusal(`the server answered with status ${status}`, null, null, status);
}

async function ask(where: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(where, { ...init, credentials: "same-origin" });
  } catch (thrown) {
    if (init.signal?.aborted) throw thrown;
    throw new Refusal("the server cannot be reached");
  }
  if (!response.ok) throw readRefusal(response.status, await response.text());
  return response;
}

async function json<T>(where: string, signal?: AbortSignal): Promise<T> {
  const response = await ask(where, signal ? { signal } : {});
  try {
    return (await response.json()) as T;
  } catch (thrown) {
    if (signal?.aborted) throw thrown;
    throw new Refusal("the server's answer is cut off or damaged", null, null, -1);
  }
}

function eventParameters(q: EventsQuestion): Parameters {
  return {
    run: q.run,
    subject: q.subject,
    where: q.where || undefined,
    from: q.from,
    to: q.to,
    order: q.order,
    limit: q.limit,
  };
}

/** A server at the page's own address. */
export class HttpProvider implements Provider {
  readonly fixed = false;

  runs(): Promise<Runs> {
    return json(address("runs"));
  }

  catalog(): Promise<Catalog> {
    return json(address("catalog"));
  }

  evaluate(q: Question, signal?: AbortSignal): Promise<Answer> {
    return json(address("eval", { ...q }), signal);
  }

  events(q: EventsQuestion, signal?: AbortSignal): Promise<Events> {
    return json(address("events", eventParameters(q)), signal);
  }

  eventsAddress(q: EventsQuestion): string {
    return address("events", { ...eventParameters(q), format: "csv" });
  }

  findings(run: string): Promise<Findings> {
    return json(address("findings", { run }));
  }

  inventory(run: string): Promise<Inventory> {
    return json(address("inventory", { run }));
  }

  output(run: string, stream: "stdout" | "stderr", start: OutputStart): Promise<Output> {
    return json(address("output", { run, stream, ...start, limit: OUTPUT_PIECE, lines: OUTPUT_LINES }));
  }

  levels(run: string, expr: string, range: Stretch, width: number): Promise<Levels> {
    return json(address("levels", { run, expr, from: range.from, to: range.to, width }));
  }

  async worksheets(run: string): Promise<SavedWorksheet[]> {
    return (await json<{ worksheets: SavedWorksheet[] }>(address("worksheets", { run }))).worksheets;
  }

  async saveWorksheet(run: string, name: string, sheet: unknown): Promise<void> {
    await ask(address(`worksheets/${encodeURIComponent(name)}`, { run }), {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(sheet),
    });
  }

  async keep(name: string): Promise<string> {
    const response = await ask(address("keep"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name }),
    });
    return ((await response.json()) as { path: string }).path;
  }

  listen(listener: StreamListener): () => void {
    const source = new EventSource(address("stream"));
    source.addEventListener("tick", (message) => {
      try {
        listener.tick(JSON.parse((message as MessageEvent<string>).data) as Tick);
      } catch {
        // A message that was cut off: the next one tells the same and more.
      }
    });
    source.addEventListener("ended", () => {
      source.close();
      listener.ended();
    });
    source.addEventListener("error", () => {
      listener.lost();
    });
    return () => source.close();
  }

  summary(): [] {
    return [];
  }

  worksheet(): unknown {
    return null;
  }
}

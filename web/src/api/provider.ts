// Where answers come from: the server of `sonde view`, or a report that carries them.

import type { Answer, Catalog, Events, Findings, Inventory, Levels, Output, OutputStart, Runs, Stretch, SummaryPart, Tick } from "./types";

/** What is asked of one run. */
export interface Question {
  run: string;
  expr: string;
  from: number;
  to: number;
  /** Pixel columns. */
  width: number;
  /** Rows of a heat map. */
  rows?: number;
  /** Groups that get a line of their own. */
  top?: number;
  scale?: "log" | "linear" | undefined;
  /** The share of the amount that may lie above a heat map. */
  outliers?: number;
}

export interface EventsQuestion {
  run: string;
  subject: string;
  where: string;
  from: number;
  to: number;
  order: string;
  limit: number;
}

/** A worksheet in the run's directory, as somebody wrote it. */
export interface SavedWorksheet {
  name: string;
  worksheet: unknown;
}

export interface StreamListener {
  tick(tick: Tick): void;
  ended(): void;
  lost(): void;
}

/** The place that answers. Every promise may fail with a {@link Refusal}. */
export interface Provider {
  /** Whether there is no server behind it: nothing can be saved or asked anew. */
  readonly fixed: boolean;
  runs(): Promise<Runs>;
  catalog(): Promise<Catalog>;
  evaluate(question: Question, signal?: AbortSignal): Promise<Answer>;
  events(question: EventsQuestion, signal?: AbortSignal): Promise<Events>;
  /** Where the same events are as CSV; `null` if nowhere. */
  eventsAddress(question: EventsQuestion): string | null;
  findings(run: string): Promise<Findings>;
  inventory(run: string): Promise<Inventory>;
  output(run: string, stream: "stdout" | "stderr", start: OutputStart): Promise<Output>;
  levels(run: string, expr: string, range: Stretch, width: number): Promise<Levels>;
  worksheets(run: string): Promise<SavedWorksheet[]>;
  saveWorksheet(run: string, name: string, sheet: unknown): Promise<void>;
  keep(name: string): Promise<string>;
  /** Listens to a live run; the returned function stops it. */
  listen(listener: StreamListener): () => void;
  /** What a report tells of its run in a few lines. Empty where there is none. */
  summary(): SummaryPart[];
  /** The worksheet to begin with, where the place has one. */
  worksheet(): unknown;
}

/** Why there is no answer, in words for the reader. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly hint: string | null = null,
    /** The characters of the expression that are at fault. */
    readonly at: [number, number] | null = null,
    readonly status = 0,
  ) {
    super(message);
    this.name = "Refusal";
  }

  /** Whether the server itself could not be reached. */
  get unreachable(): boolean {
    return this.status === 0 && this.hint === null && this.at === null;
  }
}

/** Words for anything that was thrown. */
export function refusalOf(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  return new Refusal(thrown instanceof Error ? thrown.message : String(thrown), null, null, -1);
}

/** Whether a request was given up by the page itself. */
export function wasGivenUp(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "AbortError";
}

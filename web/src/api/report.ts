// Answers from a report: one file that carries everything it can show, and asks nobody.

import { Refusal } from "./provider";
import type { Provider, Question } from "./provider";
import { resample } from "./resample";
import type { Answer, Catalog, Events, Findings, Inventory, Levels, Output, Runs, SummaryPart } from "./types";

/** What stands in the report's `<script type="application/json" id="sonde-report">`. */
export interface Carried {
  runs: Runs | Runs["runs"];
  catalog: Catalog;
  findings?: Findings | Record<string, Findings>;
  inventory?: Inventory | Record<string, Inventory>;
  /** By run and expression, as answers are. */
  levels?: Record<string, Levels> | null;
  output?: { stdout?: Output | null; stderr?: Output | null } | null;
  summary?: SummaryPart[];
  worksheet?: unknown;
  answers: Record<string, Answer>;
}

const NOT_HERE = "not in this report";
const HINT = "`sonde view` answers any expression; `sonde report --expr` puts more into a report";

/** What the page carries, if it is a report. */
export function carried(page: Document): Carried | null {
  const script = page.getElementById("sonde-report");
  if (!script?.textContent) return null;
  return JSON.parse(script.textContent) as Carried;
}

/** One run's part, whether it is given by run or for the only one. */
function ofRun<T>(given: T | Record<string, T> | undefined, run: string, field: string): T | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  if (field in given) return given as T;
  return (given as Record<string, T>)[run];
}

export class ReportProvider implements Provider {
  readonly fixed = true;

  constructor(private readonly report: Carried) {}

  runs(): Promise<Runs> {
    const runs = this.report.runs;
    return Promise.resolve(Array.isArray(runs) ? { version: "", live: false, runs } : runs);
  }

  catalog(): Promise<Catalog> {
    return Promise.resolve(this.report.catalog);
  }

  evaluate(q: Question): Promise<Answer> {
    const answer = this.report.answers[`${q.run}|${q.expr}`];
    if (!answer) return Promise.reject(new Refusal(`\`${q.expr}\` is ${NOT_HERE}`, HINT, null, 404));
    const runs = Array.isArray(this.report.runs) ? this.report.runs : this.report.runs.runs;
    const end = runs.find((run) => run.id === q.run)?.seconds;
    return Promise.resolve(resample(answer, q.from, q.to, q.width, end));
  }

  events(): Promise<Events> {
    return Promise.reject(new Refusal(`single events are ${NOT_HERE}`, HINT, null, 404));
  }

  eventsAddress(): null {
    return null;
  }

  findings(run: string): Promise<Findings> {
    const found = ofRun(this.report.findings, run, "findings");
    return Promise.resolve(found ?? { limits: [], findings: [] });
  }

  inventory(run: string): Promise<Inventory> {
    const found = ofRun(this.report.inventory, run, "start");
    return Promise.resolve(found ?? { start: null, changed: [] });
  }

  /** Its beginning is all there is of it. */
  output(_run: string, stream: "stdout" | "stderr"): Promise<Output> {
    const nothing: Output = { text: "", offset: 0, next: 0, total: 0, lines: null };
    return Promise.resolve(this.report.output?.[stream] ?? nothing);
  }

  /** Of the whole time: that is what the report has. */
  levels(run: string, expr: string): Promise<Levels> {
    const found = this.report.levels?.[`${run}|${expr}`];
    return found ? Promise.resolve(found) : Promise.reject(new Refusal("levels of this expression are not in the report", "open the run with `sonde view`"));
  }

  worksheets(): Promise<[]> {
    return Promise.resolve([]);
  }

  saveWorksheet(): Promise<void> {
    return Promise.reject(new Refusal("a report cannot be written to", "the link in the address keeps it"));
  }

  keep(): Promise<string> {
    return Promise.reject(new Refusal("a report is already kept", "there is nothing live in it"));
  }

  listen(): () => void {
    return () => undefined;
  }

  summary(): SummaryPart[] {
    return this.report.summary ?? [];
  }

  worksheet(): unknown {
    return this.report.worksheet ?? null;
  }

  /** Expressions that the report can answer, for the list of what may be typed. */
  expressions(): string[] {
    return [...new Set(Object.keys(this.report.answers).map((key) => key.slice(key.indexOf("|") + 1)))];
  }
}

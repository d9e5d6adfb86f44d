// What may stand next in an expression: names from the catalog, in the order of the language.

import type { Catalog, Dimension, Run, Subject } from "../api/types";
import { tokens } from "./syntax";
import type { Token } from "./syntax";

export interface Suggestion {
  /** What to put in place of the characters `from` to `to`. */
  text: string;
  help: string;
  unit: string;
  from: number;
  to: number;
  /** Whether this run can answer it as far as is known. */
  known: boolean;
}

/** Dimensions that every subject has. */
const EVERYWHERE: Dimension[] = [
  { name: "host", help: "The host observed.", number: null },
  { name: "phase", help: "The phase, as marked while recording.", number: null },
  { name: "time", help: "Seconds since the run's start.", number: "seconds" },
];

/** A subject by name. */
export function subjectOf(catalog: Catalog, name: string): Subject | undefined {
  return catalog.subjects.find((subject) => subject.name === name);
}

/** All dimensions of a subject, with those that every subject has. */
export function dimensionsOf(subject: Subject | undefined): Dimension[] {
  const own = subject?.dimensions ?? [];
  return [...own, ...EVERYWHERE.filter((e) => !own.some((d) => d.name === e.name))];
}

/** What a subject can be broken down by: time is the axis of all. */
export function breakdowns(subject: Subject | undefined): Dimension[] {
  return dimensionsOf(subject).filter((d) => d.name !== "time");
}

/** Whether a run can answer by a dimension, as far as it tells. */
export function canAnswer(run: Run | null, subject: string, dimension: string): boolean {
  const answered = run?.subjects[subject];
  return !answered || answered.includes(dimension) || EVERYWHERE.some((e) => e.name === dimension);
}

/** The statistic's help and unit, by its names. */
export function measureOf(catalog: Catalog, subject: string, measure: string) {
  const found = subjectOf(catalog, subject);
  return [...(found?.measures ?? []), ...(found?.derived ?? [])].find((m) => m.name === measure);
}

type Wants = "subject" | "measure" | "dimension" | "tested" | "operator" | "value" | "by" | "more" | "and";

/** What the grammar wants behind these words. */
export function wants(before: Token[]): Wants {
  const last = before[before.length - 1];
  if (!last) return "subject";
  const clause = before.findLast((t) => t.kind === "keyword" && t.text !== "and" && t.text !== "in");
  if (last.kind === "point") return "measure";
  if (last.kind === "keyword") {
    return last.text === "by" ? "dimension" : last.text === "in" ? "value" : "tested";
  }
  if (!clause) return before.length >= 3 ? "by" : "subject";
  if (clause.text === "by") return last.kind === "comma" ? "dimension" : "more";
  if (last.kind === "operator" || last.kind === "comma") return "value";
  if (last.kind === "name") return "operator";
  return "and";
}

/** Suggestions at the cursor, best first. */
export function complete(text: string, cursor: number, catalog: Catalog, run: Run | null): Suggestion[] {
  const before = tokens(text.slice(0, cursor));
  const last = before[before.length - 1];
  const typing = last && last.to === cursor && last.kind === "name" ? last : null;
  const wanted = wants(typing ? before.slice(0, -1) : before);
  const from = typing?.from ?? cursor;
  const typed = typing?.text.toLowerCase() ?? "";
  const subject = before[0] ? subjectOf(catalog, before[0].text) : undefined;
  return matching(names(wanted, subject, catalog, run), typed).map((name) => ({
    ...name,
    from,
    to: cursor,
  }));
}

type Name = Omit<Suggestion, "from" | "to">;

function plain(text: string, help: string): Name {
  return { text, help, unit: "", known: true };
}

function names(wanted: Wants, subject: Subject | undefined, catalog: Catalog, run: Run | null): Name[] {
  const dimensions = dimensionsOf(subject).map((d) => ({
    text: d.name,
    help: d.help,
    unit: d.number ?? "",
    known: canAnswer(run, subject?.name ?? "", d.name),
  }));
  switch (wanted) {
    case "subject":
      return catalog.subjects.map((s) => ({
        text: `${s.name}.`,
        help: s.help,
        unit: "",
        known: !run || s.name in run.subjects,
      }));
    case "measure":
      return [...(subject?.measures ?? []), ...(subject?.derived ?? [])].map((m) => ({
        text: m.name,
        help: m.help,
        unit: m.unit,
        known: true,
      }));
    case "dimension":
      return dimensions.filter((d) => breakdowns(subject).some((b) => b.name === d.text));
    case "tested":
      return dimensions;
    case "operator":
      return catalog.operators.map((o) => plain(o, ""));
    case "by":
      return [plain("by", "break down by a dimension"), plain("where", "keep only a part")];
    case "more":
      return [plain("where", "keep only a part")];
    case "and":
      return [plain("and", "keep only what also …")];
    case "value":
      return [];
  }
}

/** Those that begin with what was typed, then those that hold it; known ones before others. */
function matching(all: Name[], typed: string): Name[] {
  const rank = (n: Name): number => (n.text.toLowerCase().startsWith(typed) ? 0 : 1) + (n.known ? 0 : 2);
  return all
    .filter((n) => n.text.toLowerCase().includes(typed) && n.text !== typed)
    .sort((a, b) => rank(a) - rank(b));
}

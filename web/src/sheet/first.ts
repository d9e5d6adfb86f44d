// The worksheet that a run opens with: what it can answer, the most telling first.

import type { Run } from "../api/types";
import { empty, panelOf } from "./worksheet";
import type { Panel, Worksheet } from "./worksheet";

/** Statistics to begin with: the first of a line that the run has a table for. */
const FIRST: readonly (readonly [subject: string, by: string, expr: string])[][] = [
  [
    ["disk", "latency", "disk.ios by latency"],
    ["workload", "latency", "workload.ops by latency"],
  ],
  [
    ["disk", "op", "disk.bytes by device, op"],
    ["disk", "device", "disk.bytes by device"],
    ["workload", "op", "workload.bytes by op"],
  ],
  [["cpu", "mode", "cpu.time by mode"]],
  [["net", "interface", "net.bytes by interface, direction"]],
  [["memory", "kind", "memory.bytes by kind"]],
];

/** Panels when none of those is there. */
const FALLBACK = 4;

/** The first worksheet of these runs. */
export function firstSheet(runs: Run[]): Worksheet {
  const sheet = empty(runs.map((run) => run.id));
  const can = (subject: string, by: string): boolean =>
    runs.some((run) => run.subjects[subject]?.includes(by) ?? false);
  for (const line of FIRST) {
    const found = line.find(([subject, by]) => can(subject, by));
    if (found) sheet.panels.push(panelFor(found[2], runs));
  }
  if (sheet.panels.length === 0) {
    const other = Object.entries(runs[0]?.subjects ?? {}).slice(0, FALLBACK);
    sheet.panels = other.flatMap(([subject, by]) => fallback(subject, by));
  }
  return sheet;
}

function panelFor(expr: string, runs: Run[]): Panel {
  return panelOf(expr, { run: runs.length > 1 && expr.endsWith("latency") ? runs[0]!.id : null });
}

function fallback(subject: string, by: string[]): Panel[] {
  const known: Record<string, string> = {
    other: "other.value by tool, column, unit",
    distribution: "distribution.count by name",
    workload: "workload.ops by tool",
  };
  const expr = known[subject];
  return expr && by.length > 0 ? [panelOf(expr)] : [];
}

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

/** The same of runs that have none of those, as imported ones; as many as fit below one another. */
const ELSE: readonly (readonly [subject: string, by: string, expr: string])[][] = [
  [
    ["file", "latency", "file.ops by latency"],
    ["file", "op", "file.ops by op"],
  ],
  [
    ["process", "mode", "process.time by process"],
    ["process", "process", "process.resident by process"],
  ],
  [["nfs", "op", "nfs.ops by op"]],
  [["nfsd", "op", "nfsd.ops by op"]],
  [["arc", "kind", "arc.hits by kind"]],
  [["zfs", "dataset", "zfs.bytes by dataset"]],
  [["zpool", "pool", "zpool.bytes by pool"]],
  [["tcp", "direction", "tcp.segments by direction"]],
  [["ip", "direction", "ip.packets by direction"]],
  [["interrupt", "kind", "interrupt.count by kind"]],
  [["distribution", "name", "distribution.count by name"]],
  [["workload", "tool", "workload.ops by tool"]],
  [["other", "column", "other.value by tool, column, unit"]],
];
const FALLBACK = 4;

/** The first worksheet of these runs. */
export function firstSheet(runs: Run[]): Worksheet {
  const sheet = empty(runs.map((run) => run.id));
  const can = (subject: string, by: string): boolean =>
    runs.some((run) => run.subjects[subject]?.includes(by) ?? false);
  const panels = (lines: typeof FIRST): Panel[] =>
    lines.flatMap((line) => {
      const found = line.find(([subject, by]) => can(subject, by));
      return found ? [panelFor(found[2], runs)] : [];
    });
  sheet.panels = panels(FIRST);
  if (sheet.panels.length === 0) sheet.panels = panels(ELSE).slice(0, FALLBACK);
  return sheet;
}

function panelFor(expr: string, runs: Run[]): Panel {
  return panelOf(expr, { run: runs.length > 1 && expr.endsWith("latency") ? runs[0]!.id : null });
}

// Several runs on one clock: each run's time less the moment that all are aligned to.

import type { Run } from "../api/types";
import type { Range } from "./view";

/** What runs can be aligned to: their start, and each phase that all of them have. */
export function alignments(runs: Run[]): { value: string; label: string }[] {
  const names = runs[0]?.phases.map((phase) => phase.name) ?? [];
  const shared = names.filter((name) => runs.every((run) => run.phases.some((p) => p.name === name)));
  return [
    { value: "start", label: "start of the run" },
    ...[...new Set(shared)].map((name) => ({ value: `phase:${name}`, label: `start of ${name}` })),
  ];
}

/** The moment of a run, in its own seconds, that is zero on the common clock. */
export function zeroOf(run: Run, align: string): number {
  const name = /^(?:phase|mark):(.*)$/.exec(align)?.[1];
  if (name === undefined) return 0;
  return run.phases.find((phase) => phase.name === name)?.from ?? 0;
}

/** From the earliest start to the latest end, on the common clock. */
export function boundsOf(runs: Run[], align: string): Range {
  if (runs.length === 0) return { from: 0, to: 1 };
  const zeros = runs.map((run) => zeroOf(run, align));
  // Of a live run what is older is gone.
  const from = Math.min(...runs.map((run, i) => (run.kept_from ?? 0) - zeros[i]!));
  const to = Math.max(...runs.map((run, i) => run.seconds - zeros[i]!));
  return { from: from + 0, to: to > from ? to : from + 1 };
}

// Of which time a panel's numbers are: columns count whole, so it may be more than is in view.

import type { Answer, Run } from "../api/types";
import type { Range } from "../sheet/view";
import { elapsed } from "../units/time";

/** A difference below this share of what is in view is not told. */
const LEAST = 0.005;

/** What the numbers beside a picture are of, where that is more than was asked for; else empty. */
export function countedWords(answer: Pick<Answer, "from" | "to" | "bucket">, run: Pick<Run, "seconds">, zero: number, asked: Range): string {
  const from = Math.max(answer.from, 0) - zero;
  const to = Math.min(answer.to, run.seconds) - zero;
  const more = Math.max(asked.from - from, to - asked.to);
  if (more <= LEAST * (asked.to - asked.from) || asked.from < -zero || asked.to > run.seconds - zero) return "";
  // As exact as the columns' edges are.
  const step = Math.min(answer.bucket, 1) / 10;
  return `Its numbers are of whole columns, ${elapsed(from, step)} to ${elapsed(to, step)}.`;
}

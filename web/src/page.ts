// What every part of the page may use: where answers come from, the worksheet, the view.

import type { Provider } from "./api/provider";
import { Refusal } from "./api/provider";
import type { Catalog, Run, Runs } from "./api/types";
import { numberDimension } from "./panel/load";
import { boundsOf, zeroOf } from "./sheet/clock";
import type { Store } from "./sheet/store";
import type { View } from "./sheet/view";
import type { Panel } from "./sheet/worksheet";

/** A title can be a whole command line; the tip of the name has it. */
const LONGEST = 40;

const short = (name: string): string => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);

/** Runs under the name that their reader gave them: the title, else the directory's. */
export function named(runs: Runs): Runs {
  const label = (run: Run): string => short(run.title ?? run.path?.replace(/\/+$/, "").split("/").pop() ?? run.name);
  const labels = runs.runs.map(label);
  const twice = (name: string): boolean => labels.indexOf(name) !== labels.lastIndexOf(name);
  const list = runs.runs.map((run, i) => {
    const name = run.live && runs.live ? (run.host ?? "this host") : labels[i]!;
    const directory = run.path?.replace(/\/+$/, "").split("/").pop() ?? run.id;
    const apart = runs.runs.filter((other) => (other.path ?? "").replace(/\/+$/, "").endsWith(`/${directory}`)).length > 1 ? run.id : directory;
    return { ...run, name: twice(name) ? `${name} (${apart})` : name };
  });
  return { ...runs, runs: list };
}

/** Seconds of a live run that are followed when nothing else was chosen. */
const FOLLOWED = 120;

export class Page {
  private known: Runs = { version: "", live: false, runs: [] };
  catalog: Catalog = { subjects: [], operators: [] };
  /** The name under which the worksheet was last opened or saved. */
  sheetName: string | null = null;
  private ofHead: string | null = null;
  /** The server does not answer: nothing that is shown is live. */
  gone = false;

  constructor(
    readonly provider: Provider,
    readonly store: Store,
    readonly view: View,
    /** Told when the server cannot be reached. */
    readonly unreachable: () => void,
  ) {}

  get runs(): Runs {
    return this.known;
  }

  set runs(runs: Runs) {
    this.known = named(runs);
  }

  run(id: string): Run | undefined {
    return this.runs.runs.find((run) => run.id === id);
  }

  /** The runs of the worksheet that there are, or the first. */
  chosen(): Run[] {
    const found = this.store.now.runs.flatMap((id) => this.run(id) ?? []);
    return found.length > 0 ? found : this.runs.runs.slice(0, 1);
  }

  /** Of which run the head, the strip of time and the drawer tell: where there are several, one. */
  told(): Run {
    return this.chosen().find((run) => run.id === this.ofHead) ?? this.first();
  }

  /** The head tells of another run. */
  tell(id: string): void {
    this.ofHead = id;
  }

  /** The run that questions without one are for. */
  first(): Run {
    const run = this.chosen()[0];
    if (!run) throw new Refusal("there is no run");
    return run;
  }

  /** The runs that a panel shows: one, two to be subtracted, or all. */
  runsOf(panel: Panel): Run[] {
    if (panel.run === null) return this.chosen();
    const single = this.run(panel.run);
    if (single) return [single];
    const pair = panel.run.split("-").flatMap((id) => this.run(id) ?? []);
    return pair.length === 2 && numberDimension(panel.expr, this.catalog) === null ? this.chosen() : pair;
  }

  /** The runs that a panel is of, but which are not open here: a link may be of more. */
  missing(panel: Panel): string[] {
    if (panel.run === null || this.run(panel.run)) return [];
    return panel.run.split("-").filter((id) => !this.run(id));
  }

  /** Whether a panel shows the difference of two runs; only heat maps are subtracted. */
  isDifference(panel: Panel): boolean {
    if (panel.run === null || this.run(panel.run) || numberDimension(panel.expr, this.catalog) === null) return false;
    return this.runsOf(panel).length === 2;
  }

  /** The moment of a run that is zero on the worksheet's clock. */
  zero(run: Run): number {
    return zeroOf(run, this.store.now.align);
  }

  /** Sets what there is to see, and what of it the worksheet shows. */
  fitView(): void {
    const sheet = this.store.now;
    this.view.setBounds(boundsOf(this.chosen(), sheet.align));
    if (sheet.from !== null && sheet.to !== null) {
      this.view.follow = false;
      this.view.show(sheet.from, sheet.to);
    } else if (this.chosen().some((run) => run.live)) {
      this.view.follow = true;
      this.followEnd();
    } else {
      this.view.whole();
    }
  }

  /** Keeps the end of a growing run in view. */
  followEnd(): void {
    const { bounds, range } = this.view;
    const span = this.view.follow && !this.view.isWhole ? Math.max(range.to - range.from, 10) : FOLLOWED;
    this.view.show(Math.max(bounds.from, bounds.to - Math.max(span, 10)), bounds.to);
  }

  /** Shows the worksheet with a panel added; the new panel's place, or `null` if there is no room. */
  addPanel(panel: Panel, after = this.store.now.panels.length - 1): number | null {
    return this.store.insertPanel(after, panel) ? after + 1 : null;
  }
}

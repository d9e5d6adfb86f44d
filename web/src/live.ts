// A live run: a tick an interval, and what to do when the server is gone.

import { refusalOf } from "./api/provider";
import type { Tick } from "./api/types";
import type { Notices } from "./chrome/notices";
import type { Page } from "./page";

/** Waits between attempts to reach the server, in seconds; the last one repeats. */
const WAITS = [1, 2, 4, 8, 15];
/** Two ticks nearer than this are answered once, in milliseconds. */
const APART = 250;
/** How often a run that another process records is looked at, in milliseconds. */
const LOOK_EVERY = 2000;

export interface LiveEvents {
  /** The run has grown. */
  grown(): void;
  /** The server does not answer. */
  gone(): void;
  /** The server is back: everything may have changed. */
  back(): void;
}

export class Live {
  private stop: (() => void) | null = null;
  private attempt = 0;
  private last = 0;

  constructor(
    private readonly page: Page,
    private readonly notices: Notices,
    private readonly events: LiveEvents,
  ) {}

  /** Listens, where there is something live. */
  listen(): void {
    this.stop?.();
    this.stop = null;
    if (!this.page.runs.live) {
      this.stop = this.watch();
      return;
    }
    this.stop = this.page.provider.listen({
      tick: (tick) => this.tick(tick),
      ended: () => {
        this.notices.keep("ended", "note", "The observation has ended. What was seen stays here until the server stops.");
        const { runs } = this.page;
        this.page.runs = { ...runs, runs: runs.runs.map((run) => ({ ...run, live: false })) };
        this.events.grown();
      },
      lost: () => this.unreachable(),
    });
  }

  /** A run that another process still records has no stream: it is looked at now and then. */
  private watch(): (() => void) | null {
    if (!this.page.runs.runs.some((run) => run.live)) return null;
    const timer = setInterval(() => {
      this.page.provider.runs().then(
        (runs) => {
          this.page.runs = runs;
          this.events.grown();
          if (!runs.runs.some((run) => run.live)) this.listen();
        },
        () => this.unreachable(),
      );
    }, LOOK_EVERY);
    return () => clearInterval(timer);
  }

  private tick(tick: Tick): void {
    const run = this.page.run(tick.run) ?? this.page.runs.runs[0];
    if (!run) return;
    run.seconds = Math.max(run.seconds, tick.seconds);
    if (tick.own_cost) run.own_cost = tick.own_cost;
    if (tick.loss) run.loss = tick.loss;
    const now = performance.now();
    if (now - this.last < APART || document.hidden) return;
    this.last = now;
    this.events.grown();
  }

  /** Says that the server is gone, and tries until it is back. */
  unreachable(): void {
    if (this.page.gone) return;
    this.page.gone = true;
    this.attempt = 0;
    this.stop?.();
    this.stop = null;
    this.events.gone();
    this.wait();
  }

  private wait(): void {
    const seconds = WAITS[Math.min(this.attempt, WAITS.length - 1)]!;
    this.attempt += 1;
    const again = ` Trying again in ${seconds} s.`;
    this.notices.keep("gone", "wrong", "The server cannot be reached: `sonde view` was stopped, or the connection is cut. What is shown stays.", again);
    setTimeout(() => void this.tryAgain(), seconds * 1000);
  }

  private async tryAgain(): Promise<void> {
    try {
      this.page.runs = await this.page.provider.runs();
    } catch (thrown) {
      const refusal = refusalOf(thrown);
      if (refusal.status === 401) {
        this.notices.keep("gone", "wrong", "Another server is at this address now, which does not know this browser: open the address that `sonde view` printed.");
        return;
      }
      this.wait();
      return;
    }
    this.page.gone = false;
    this.notices.take("gone");
    this.notices.say("The server is back.");
    this.events.back();
    this.listen();
  }
}

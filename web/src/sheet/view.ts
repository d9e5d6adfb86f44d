// The stretch of time that all panels show, and the time that the crosshair is at.

/** A stretch on the worksheet's clock, in seconds. */
export interface Range {
  from: number;
  to: number;
}

type Listener = () => void;

/** No view is shorter than this, in seconds. */
const SHORTEST = 1e-5;

/** What is in view. `bounds` is all there is. */
export class View {
  range: Range = { from: 0, to: 1 };
  bounds: Range = { from: 0, to: 1 };
  /** Whether the end of a growing run stays in view. */
  follow = false;
  cursor: number | null = null;
  private moved: Listener[] = [];
  private pointed: Listener[] = [];
  private frame = 0;

  /** Hears of each new range, once a frame. */
  onMove(listener: Listener): void {
    this.moved.push(listener);
  }

  onPoint(listener: Listener): void {
    this.pointed.push(listener);
  }

  get isWhole(): boolean {
    return this.range.from <= this.bounds.from && this.range.to >= this.bounds.to;
  }

  /** Shows this stretch, kept within what there is. */
  show(from: number, to: number): void {
    const next = within({ from, to }, this.bounds);
    if (next.from === this.range.from && next.to === this.range.to) return;
    this.range = next;
    this.announce();
  }

  setBounds(bounds: Range): void {
    this.bounds = bounds;
  }

  whole(): void {
    this.show(this.bounds.from, this.bounds.to);
  }

  /** Zooms by a factor; the time `about` stays where it is. */
  zoom(factor: number, about = (this.range.from + this.range.to) / 2): void {
    this.show(about - (about - this.range.from) * factor, about + (this.range.to - about) * factor);
  }

  /** Moves by a share of what is in view. */
  pan(share: number): void {
    const by = (this.range.to - this.range.from) * share;
    this.show(this.range.from + by, this.range.to + by);
  }

  point(at: number | null): void {
    if (at === this.cursor) return;
    this.cursor = at;
    for (const listener of this.pointed) listener();
  }

  announce(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      for (const listener of this.moved) listener();
    });
  }
}

/** A range moved, and only then cut, so that it lies within the bounds. */
export function within(range: Range, bounds: Range): Range {
  const whole = bounds.to - bounds.from;
  const wanted = Math.max(range.to - range.from, Math.min(SHORTEST, whole));
  if (!(wanted < whole)) return { ...bounds };
  let from = range.from;
  if (range.to - range.from < wanted) from = (range.from + range.to - wanted) / 2;
  from = Math.min(Math.max(from, bounds.from), bounds.to - wanted);
  return { from, to: from + wanted };
}

// Fingers on a plot: one sideways pans, two zoom, one that rests and then moves selects, as a
// mouse does by dragging. Up and down scrolls the page as ever.

import type { View } from "../sheet/view";

/** Milliseconds that a finger rests before it selects. */
const REST = 350;
/** Pixels that a resting finger may tremble. */
const TREMBLE = 8;

/** What a plot does with fingers. */
export interface Touched {
  /** The element under the fingers. */
  over: HTMLElement;
  view: View;
  /** The time at so many pixels from the left. */
  timeAt: (left: number) => number;
  /** A rectangle is being drawn, from corner to corner in pixels of the element. */
  draw: (from: Place, to: Place) => void;
  /** It is done; `false`: it was given up. */
  done: (kept: boolean) => void;
}

export interface Place {
  left: number;
  top: number;
}

interface Finger {
  begun: Place;
  at: Place;
}

/** Listens for fingers; mice and their like are left to others. */
export function listenForFingers(touched: Touched): void {
  const { over, view } = touched;
  const fingers = new Map<number, Finger>();
  let selecting = false;
  let moved = false;
  let timer = 0;

  const place = (event: PointerEvent): Place => {
    const box = over.getBoundingClientRect();
    return { left: event.clientX - box.left, top: event.clientY - box.top };
  };
  const end = (kept: boolean): void => {
    window.clearTimeout(timer);
    if (selecting) touched.done(kept);
    selecting = false;
  };
  const rest = (): void => {
    const [finger] = fingers.values();
    if (!finger || fingers.size !== 1 || moved) return;
    selecting = true;
    touched.draw(finger.begun, { left: finger.begun.left + 1, top: finger.begun.top + 1 });
  };

  over.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    if (fingers.size === 0) moved = false;
    fingers.set(event.pointerId, { begun: place(event), at: place(event) });
    end(false);
    if (fingers.size === 1) timer = window.setTimeout(rest, REST);
  });
  over.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    const before = finger.at;
    const spread = spreadOf(fingers);
    finger.at = place(event);
    if (Math.hypot(finger.at.left - finger.begun.left, finger.at.top - finger.begun.top) > TREMBLE) moved = true;
    if (selecting) {
      touched.draw(finger.begun, finger.at);
    } else if (fingers.size === 2) {
      view.follow = false;
      view.zoom(spread / Math.max(spreadOf(fingers), 1), touched.timeAt(middleOf(fingers)));
    } else if (fingers.size === 1 && moved) {
      view.follow = false;
      view.pan((before.left - finger.at.left) / (over.clientWidth || 1));
    }
  });
  const lift = (kept: boolean) => (event: PointerEvent): void => {
    if (!fingers.delete(event.pointerId)) return;
    end(kept);
  };
  over.addEventListener("pointerup", lift(true));
  over.addEventListener("pointercancel", lift(false));
  // A finger that selects does not scroll the page, nor call up the browser's menu.
  over.addEventListener("touchmove", (event) => selecting && event.preventDefault(), { passive: false });
  over.addEventListener("contextmenu", (event) => (selecting || fingers.size > 0) && event.preventDefault());
}

/** How far two fingers are apart, sideways. */
function spreadOf(fingers: Map<number, Finger>): number {
  const [one, two] = fingers.values();
  return one && two ? Math.abs(one.at.left - two.at.left) : 0;
}

function middleOf(fingers: Map<number, Finger>): number {
  const lefts = [...fingers.values()].map((finger) => finger.at.left);
  return lefts.reduce((a, b) => a + b, 0) / Math.max(lefts.length, 1);
}

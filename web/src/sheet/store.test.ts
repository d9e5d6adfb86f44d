import { beforeEach, describe, expect, it, vi } from "vitest";

import { Store } from "./store";
import { empty, MOST_PANELS, panelOf } from "./worksheet";

/** A store with a worksheet, and what it did to its history, in order. */
const begun = (): { store: Store; done: string[] } => {
  const done: string[] = [];
  const history = {
    pushState: () => done.push("push"),
    replaceState: () => done.push("replace"),
    back: () => done.push("back"),
    forward: () => done.push("forward"),
  };
  const store = new Store(history as unknown as History);
  store.begin({ ...empty(["a"]), panels: [panelOf("disk.ios")] });
  return { store, done };
};

/** What hears of another address. */
let arrive: (event: { state: unknown }) => void = () => undefined;

beforeEach(() => {
  vi.stubGlobal("window", { addEventListener: (_: string, listener: typeof arrive) => (arrive = listener) });
});

describe("steps", () => {
  it("are taken back in the order they were made, however soon", async () => {
    const { store, done } = begun();
    store.change({ from: 1, to: 2 });
    store.undo();
    await vi.waitFor(() => expect(done).toEqual(["replace", "push", "back"]));
  });

  it("are not taken back twice, nor more than there are", async () => {
    const { store, done } = begun();
    store.change({ from: 1, to: 2 });
    store.undo();
    store.undo();
    store.redo();
    store.redo();
    await vi.waitFor(() => expect(done).toEqual(["replace", "push", "back", "forward"]));
  });
});

describe("what cannot be shown", () => {
  it("is a panel more than a link holds, which is told", () => {
    const { store } = begun();
    const full = vi.fn();
    store.events = { full, damaged: vi.fn() };
    const panels = Array.from({ length: MOST_PANELS }, () => panelOf("disk.ios"));
    expect(store.change({ panels })).toBe(true);
    expect(full).not.toHaveBeenCalled();
    expect(store.insertPanel(0, panelOf("cpu.time"))).toBe(false);
    expect(full).toHaveBeenCalledOnce();
    expect(store.now.panels).toEqual(panels);
  });

  it("is a damaged link that was put into the address, which is told and replaced", async () => {
    const { store, done } = begun();
    const damaged = vi.fn();
    store.events = { full: vi.fn(), damaged };
    const before = store.now;
    vi.stubGlobal("location", { hash: "#w=d.AAAA" });
    arrive({ state: null });
    await vi.waitFor(() => expect(done).toEqual(["replace", "replace"]));
    expect(damaged).toHaveBeenCalledOnce();
    expect(store.now).toBe(before);
    vi.stubGlobal("location", { hash: "#elsewhere" });
    arrive({ state: null });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(damaged).toHaveBeenCalledOnce();
  });
});

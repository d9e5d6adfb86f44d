import { describe, expect, it } from "vitest";

import type { Provider } from "./api/provider";
import type { Run, Runs } from "./api/types";
import { named, Page } from "./page";
import type { Store } from "./sheet/store";
import { View } from "./sheet/view";
import { panelOf } from "./sheet/worksheet";

const runs = (...of: Partial<Run>[]): Runs => ({ version: "", live: false, runs: of.map((run, i) => ({ id: "ab"[i], live: false, ...run }) as Run) });
const names = (all: Runs): string[] => named(all).runs.map((run) => run.name);

describe("names of runs", () => {
  it("are titles, and directories where there is none", () => {
    expect(names(runs({ title: "mixed", path: "/r/one" }, { title: null, path: "/r/two/" }))).toEqual(["mixed", "two"]);
  });
  it("are told apart by directory, and by number where that is the same", () => {
    expect(names(runs({ title: "fio", path: "/r/one" }, { title: "fio", path: "/r/two" }))).toEqual(["fio (one)", "fio (two)"]);
    expect(names(runs({ title: "fio", path: "/a/run" }, { title: "fio", path: "/b/run" }))).toEqual(["fio (a)", "fio (b)"]);
  });
  it("are no longer than a line", () => {
    const [name] = names(runs({ title: "sh -c ".padEnd(300, "x"), path: "/r/one" }));
    expect(name!.length).toBe(40);
    expect(name!.endsWith("…")).toBe(true);
  });
});

describe("runs of a link", () => {
  it("that are not open here are known", () => {
    const page = new Page({} as Provider, {} as unknown as Store, new View(), () => undefined);
    const missing = (run: string | null): string[] => page.missing(panelOf("disk.ios", { run }));
    page.runs = runs({ title: "one" });
    expect([missing("a-b"), missing("b"), missing("a"), missing(null)]).toEqual([["b"], ["b"], [], []]);
    page.runs = runs({ title: "one" }, { title: "two" });
    expect(missing("a-b")).toEqual([]);
  });
});

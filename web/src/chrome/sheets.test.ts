import { expect, it } from "vitest";

import { freeName } from "./sheets";

it("a name that is free is proposed", () => {
  expect(freeName([])).toBe("worksheet");
  expect(freeName(["worksheet", "worksheet-2", "mine"])).toBe("worksheet-3");
});

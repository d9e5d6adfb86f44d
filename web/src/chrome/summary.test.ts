import { describe, expect, it } from "vitest";

import { blocks } from "./summary";

describe("the summary of a report", () => {
  it("has entries that follow each other as one list, with what goes on with them", () => {
    const line = { line: "on vm for 21.3 s; ended with status 0" };
    const table = { columns: [{ name: "disk", number: false }], rows: [["vda"]] };
    const found = blocks([line, { label: "bound by", text: "processors 80 % busy" }, { label: "found", text: "run-queue" }, { label: "", text: "known causes: …" }, table, { label: "not here", text: "nfs" }]);
    expect(found).toEqual([
      line,
      [
        { label: "bound by", texts: ["processors 80 % busy"] },
        { label: "found", texts: ["run-queue", "known causes: …"] },
      ],
      table,
      [{ label: "not here", texts: ["nfs"] }],
    ]);
  });
});

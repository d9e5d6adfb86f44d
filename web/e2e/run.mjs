// The page in a real browser before the made-up machine: what a reader does, and what must come
// of it. Any error in the browser's console, and any request elsewhere, fails a case.
//
//   npm run build && npm run e2e [WORDS]      only cases whose names hold these words

import assert from "node:assert/strict";

import { AROUND } from "./around.mjs";
import { CASES } from "./cases.mjs";
import { open, watched } from "./browser.mjs";
import { serve } from "./mock.mjs";

const words = process.argv[2] ?? "";
let failed = 0;
for (const { name, machine, options, expected, run } of [...CASES, ...AROUND].filter((one) => one.name.includes(words))) {
  const server = await serve(machine ?? "");
  const browser = await open(options ?? {});
  const { page, wrong } = await watched(browser.context, server.origin);
  page.setDefaultTimeout(15_000);
  try {
    await run({ page, server, context: browser.context });
    const unexpected = wrong.filter((line) => !(expected ?? []).some((part) => line.includes(part)));
    assert.deepEqual(unexpected, [], "errors in the browser");
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}\n      ${error.stack.replaceAll("\n", "\n      ")}`);
    await page.screenshot({ path: `shots/failed-${name.replaceAll(/\W+/g, "-")}.png` }).catch(() => {});
  }
  await browser.close();
  await server.close();
}
process.exit(failed > 0 ? 1 : 0);

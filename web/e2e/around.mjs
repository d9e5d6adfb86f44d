// The cases of what surrounds the panels: head, messages, drawer, dialogs, links.

import assert from "node:assert/strict";

import { settled } from "./browser.mjs";
import { link } from "./cases.mjs";

/** Whether an element is on the screen, and nothing lies over it. */
const inSight = (locator) =>
  locator.evaluate((element) => {
    const box = element.getBoundingClientRect();
    const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return box.top >= 0 && box.bottom <= window.innerHeight && element.contains(at);
  });

/** The line below the name of the run. */
const facts = (page) => page.locator(".runs p").innerText();

const MANY = ["disk.bytes by device", "disk.ios by latency", "cpu.time by mode", "disk.bytes by op"].map((expr) => ({ expr }));

async function goneIsSeen({ page, server }) {
  await page.goto(link(server, { runs: ["live"], panels: MANY }));
  await settled(page);
  assert.match(await facts(page), /live/);
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await page.route("**/api/v1/**", (route) => route.abort());
  const said = page.locator(".notice.wrong", { hasText: "cannot be reached" });
  await said.waitFor();
  assert.ok(await inSight(said), "the message is in sight");
  assert.match(await facts(page), /server gone/);
  assert.doesNotMatch(await facts(page), /live|recording/);
  assert.equal(await page.locator(".pulse").count(), 0);
  await page.unroute("**/api/v1/**");
  await page.locator(".pulse").waitFor();
  assert.match(await facts(page), /live/);
}

async function endedElsewhere({ page, server }) {
  let ended = false;
  await page.route("**/api/v1/runs", async (route) => {
    const response = await route.fetch();
    const runs = await response.json();
    if (!ended) Object.assign(runs.runs[0], { live: true, end: "recording", problems: ["this run is still being recorded: it grows"] });
    await route.fulfill({ response, json: runs });
  });
  await page.goto(server.address);
  await settled(page);
  await page.locator(".notice.wrong", { hasText: "it grows" }).waitFor();
  assert.match(await facts(page), /live.*recording/);
  ended = true;
  await page.waitForFunction(() => !document.querySelector(".runs p").textContent.includes("live"));
  assert.doesNotMatch(await facts(page), /recording/);
  assert.equal(await page.locator(".notice.wrong", { hasText: "it grows" }).count(), 0);
  assert.equal(await page.locator(".pulse").count(), 0);
  assert.equal(await page.getByRole("button", { name: "follow" }).count(), 0);
}

export const AROUND = [
  { name: "a server that is gone is told wherever one is", machine: "live", run: goneIsSeen, expected: ["net::ERR_FAILED"] },
  { name: "a run recorded elsewhere ends on the page too", run: endedElsewhere },
];

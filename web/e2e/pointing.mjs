// Cases of pointing at pictures: clicks, double clicks, and what a panel's own drawing offers.

import assert from "node:assert/strict";

import { settled } from "./browser.mjs";

/** A link to a worksheet. */
const link = (server, sheet) => `${server.address}#w=j.${Buffer.from(JSON.stringify({ v: 1, runs: ["a"], from: null, to: null, align: "start", ...sheet })).toString("base64url")}`;

const panels = (page) => page.locator(".panel").count();

/** The whole run, and nothing else: whatever lies under the pointer. */
async function doubleClick({ page, server }) {
  for (const expr of ["disk.ios by latency", "disk.bytes by device"]) {
    await page.goto("about:blank");
    await page.goto(link(server, { from: 200, to: 400, panels: [{ expr }] }));
    await settled(page);
    for (const y of [0.3, 0.6, 0.9]) {
      await page.keyboard.press("+");
      await settled(page);
      const box = await page.locator(".panel .u-over").boundingBox();
      await page.mouse.dblclick(box.x + box.width * 0.4, box.y + box.height * y, { delay: 40 });
      await page.waitForFunction(() => document.querySelector(".time-range").textContent === "0 s – 10:00");
      await page.waitForTimeout(500);
      assert.equal(await page.locator(".menu").count(), 0, `a menu at ${y} of ${expr}`);
      assert.equal(await panels(page), 1);
    }
    // A single click still opens it.
    const box = await page.locator(".panel .u-over").boundingBox();
    await page.mouse.click(box.x + box.width * 0.4, box.y + box.height * 0.9);
    await page.locator(".menu").waitFor();
  }
}

/** A click on a cell leads on with the edges that its tip told. */
async function cellItself({ page, server }) {
  await page.goto(link(server, { panels: [{ expr: "disk.ios by latency", outliers: 0 }] }));
  await settled(page);
  const box = await page.locator(".panel .u-over").boundingBox();
  const number = (text) => {
    const [, value, unit] = /^([\d.]+)\s*(\S*)$/.exec(text.trim());
    return value * { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1 }[unit];
  };
  let asked = 0;
  for (let i = 1; i < 20; i++) {
    const at = [box.x + box.width * 0.43, box.y + (box.height * i) / 20];
    await page.mouse.move(...at);
    await page.waitForTimeout(60);
    const [low, high] = (await page.locator(".tip b").first().innerText()).split("…").map(number);
    await page.mouse.click(...at);
    await page.locator(".menu").waitFor();
    const [, from, below] = /latency >= (\S+) and latency < (\S+)/.exec(await page.locator(".menu-title").innerText());
    assert.ok(Math.abs(number(from) / low - 1) < 0.01 && Math.abs(number(below) / high - 1) < 0.01, `${low} … ${high}: ${from} … ${below}`);
    asked += 1;
    await page.keyboard.press("Escape");
  }
  assert.equal(asked, 19);
}

/** What a distribution shows can be saved, selected by numbers and drawn on the other axis. */
async function foldOffers({ page, server }) {
  await page.goto(link(server, { panels: [{ expr: "disk.ios by latency", kind: "fold" }] }));
  await page.locator(".fold").waitFor();
  await settled(page);
  const menu = async () => {
    await page.getByRole("button", { name: "more for this panel" }).click();
    return page.locator(".menu");
  };
  assert.equal(await (await menu()).getByRole("menuitemcheckbox", { name: "Logarithmic axis" }).getAttribute("aria-checked"), "true");
  const saved = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Save as CSV" }).click();
  assert.equal((await saved).suggestedFilename(), "disk.ios-by-latency.csv");
  const before = await page.locator(".fold path.bars").getAttribute("d");
  await (await menu()).getByRole("menuitemcheckbox", { name: "Logarithmic axis" }).click();
  await page.waitForFunction((d) => document.querySelector(".fold path.bars")?.getAttribute("d") !== d, before);
  await page.keyboard.press("s");
  assert.equal(await page.locator('dialog input[aria-label="latency from"]').count(), 1);
}

/** Each run's own part, named. */
async function runByRun({ page, server }) {
  await page.goto(link(server, { runs: ["a", "b"], panels: [{ expr: "disk.ios by device", kind: "events" }] }));
  await page.locator(".events tbody tr").nth(1).waitFor();
  assert.deepEqual(await page.locator(".of-run .which").allInnerTexts(), ["fio random read beside a deep stream", "read-expire-20"]);
  assert.equal(await page.locator(".of-run .events table").count(), 2);
}

/** All pictures have the same width, and what leads on from a line is of its own expression. */
async function secondAxis({ page, server }) {
  await page.goto(link(server, { panels: [{ expr: "disk.ios by latency" }, { expr: "disk.bytes by device" }] }));
  await settled(page);
  await page.locator(".panel").nth(1).getByRole("button", { name: "more for this panel" }).click();
  await page.getByRole("menuitem", { name: "Second axis" }).click();
  await page.locator("dialog input").fill("cpu.time by mode");
  await page.keyboard.press("Enter");
  await page.locator(".legend .name", { hasText: "→" }).first().waitFor();
  await settled(page);
  const widths = await page.$$eval(".panel .u-over", (all) => all.map((over) => Math.round(over.getBoundingClientRect().width)));
  assert.equal(widths[0], widths[1]);
  await page.locator(".panel").nth(1).locator(".legend tr", { hasText: "→" }).first().getByRole("button", { name: /^break/ }).click();
  await page.getByRole("menuitem", { name: "Only this" }).click();
  await settled(page);
  assert.match(await page.locator(".panel input.expr").nth(2).inputValue(), /^cpu\.time by mode where mode = /);
}

export const POINTING = [
  { name: "a double click shows the whole run and opens nothing", run: doubleClick },
  { name: "a click takes the cell itself", run: cellItself },
  { name: "a distribution is saved, selected and scaled", run: foldOffers },
  { name: "a second axis", run: secondAxis },
  { name: "events run by run", machine: "two", run: runByRun },
];

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

async function onPaper({ page, server }) {
  await page.goto(link(server, { panels: [{ expr: "disk.ios by latency" }, { expr: "disk.bytes by device" }, { expr: "disk.ios by latency where latency >= 200ms", kind: "events" }] }));
  await settled(page);
  const events = page.locator(".events tbody tr");
  await events.first().waitFor();
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 718, height: 1000 });
  const adjust = (selector) => page.locator(selector).first().evaluate((element) => getComputedStyle(element).printColorAdjust);
  for (const coloured of [".swatch", ".ramp i"]) assert.equal(await adjust(coloured), "exact", coloured);
  assert.deepEqual(await page.locator(".heat-legend .choice button:visible").allInnerTexts(), ["log", "0.1 %"]);
  // All rows and columns of a table are on the paper.
  const box = await page.locator(".table-box").evaluate(({ clientHeight, scrollHeight, clientWidth, scrollWidth }) => [scrollHeight - clientHeight, scrollWidth - clientWidth]);
  assert.deepEqual(box, [0, 0]);
  assert.ok((await page.locator(".table-box").boundingBox()).height > (await events.count()) * 10);
}

async function twoRunsOnAPhone({ page, server }) {
  await page.goto(link(server, { runs: ["a", "b"], panels: [{ expr: "cgroup.time by cgroup" }, { expr: "disk.bytes by op" }, { expr: "disk.ios by latency" }] }));
  await page.locator(".panel .u-over").nth(1).waitFor();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
  for (const tool of await page.getByRole("button", { name: "remove this panel" }).all()) {
    const { x, width } = await tool.boundingBox();
    assert.ok(x + width <= 390, "all tools are on the screen");
  }
}

async function headOfEachRun({ page, server }) {
  await page.goto(link(server, { runs: ["a", "b"], panels: [{ expr: "disk.bytes by op" }] }));
  const names = page.locator("button.run-name");
  await names.nth(1).waitFor();
  const [first, second] = (await names.allInnerTexts()).map((text) => text.replace(/^[ab]\s*/, ""));
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.keyboard.press("2");
  await page.locator(".drawer .which", { hasText: first }).waitFor();
  assert.ok((await page.locator(".own-cost").innerText()).startsWith("own cost of a"));
  await names.nth(1).click();
  await page.locator(".drawer .which", { hasText: second }).waitFor();
  assert.equal(await names.nth(1).getAttribute("aria-pressed"), "true");
  assert.ok((await page.locator(".own-cost").innerText()).startsWith("own cost of b"));
  for (const part of ["findings", "inventory"]) {
    assert.ok(asked.some((url) => url.includes(`/${part}?`) && url.includes("run=b")), `${part} of run b`);
  }
}

const time = (page) => page.locator(".time-range").innerText();

async function undoAtOnce({ page, server }) {
  await page.goto(server.address);
  await settled(page);
  const whole = await time(page);
  await page.keyboard.press("+");
  await page.waitForTimeout(700);
  const first = await time(page);
  assert.notEqual(first, whole);
  await page.keyboard.press("+");
  await page.waitForFunction((text) => document.querySelector(".time-range").textContent !== text, first);
  const second = await time(page);
  await page.keyboard.press("u");
  await page.waitForFunction((text) => document.querySelector(".time-range").textContent === text, first);
  await page.waitForTimeout(600);
  assert.equal(await time(page), first, "only the second zoom is gone");
  await page.keyboard.press("U");
  await page.waitForFunction((text) => document.querySelector(".time-range").textContent === text, second);
}

async function pastedLink({ page, server }) {
  await page.goto(link(server, { panels: [{ expr: "disk.ios by latency" }] }));
  await settled(page);
  await page.evaluate(() => { location.hash = "#w=d.AAAA"; });
  await page.locator(".notice.wrong", { hasText: "damaged; what was shown stays" }).waitFor();
  await page.waitForFunction(() => location.hash !== "#w=d.AAAA");
  assert.equal(await page.locator(".panel").count(), 1);
}

async function fullWorksheet({ page, server }) {
  await page.goto(link(server, { panels: Array.from({ length: 48 }, () => ({ expr: "cpu.time by mode" })) }));
  await settled(page);
  const field = page.locator(".add-bar input.expr");
  await field.fill("disk.ios by latency");
  await field.press("Enter");
  await page.locator(".notice.said", { hasText: "at most 48 panels" }).waitFor();
  assert.equal(await page.locator(".panel").count(), 48);
  assert.equal(await field.inputValue(), "disk.ios by latency");
}

async function allSuggestions({ page, server }) {
  const known = await (await fetch(`${server.origin}/api/v1/catalog`)).json();
  const subject = { ...known.subjects[0], name: "many", measures: Array.from({ length: 30 }, (_, i) => ({ name: `m${i}`, unit: "count", help: "" })) };
  await page.route("**/api/v1/catalog", (route) => route.fulfill({ json: { ...known, subjects: [...known.subjects, subject] } }));
  await page.goto(server.address);
  await settled(page);
  await page.keyboard.press("a");
  await page.keyboard.type("many.m");
  assert.equal(await page.locator(".add-bar .suggestions li").count(), 30);
}

async function runNotOpen({ page, server }) {
  await page.goto(link(server, { runs: ["a", "b"], panels: [{ expr: "disk.ios by latency", run: "a-b" }, { expr: "disk.bytes by op", run: "b" }, { expr: "disk.bytes by op" }] }));
  await page.locator(".panel").nth(2).locator(".u-over").waitFor();
  await page.locator(".notice.wrong", { hasText: "not open here: b" }).waitFor();
  const said = await page.locator(".panel .expr-message.wrong").allInnerTexts();
  assert.match(said[0], /of run a-b, and b is not open here/);
  assert.match(said[1], /of run b, and b is not open here/);
  assert.equal(await page.locator(".panel canvas").count(), await page.locator(".panel").nth(2).locator("canvas").count());
}

async function saveAsksFirst({ page, server }) {
  await page.goto(server.address);
  await settled(page);
  const saved = async () => (await (await fetch(`${server.origin}/api/v1/worksheets?run=a`)).json()).worksheets;
  const save = async (name) => {
    await page.getByRole("button", { name: "save this worksheet" }).click();
    const field = page.locator("dialog input");
    await field.waitFor();
    const proposed = await field.inputValue();
    if (name) await field.fill(name);
    await page.keyboard.press("Enter");
    return proposed;
  };
  assert.equal(await save("mine"), "worksheet");
  await page.locator(".notice.said", { hasText: "Saved as mine" }).waitFor();
  const before = (await saved())[0].worksheet.panels;
  // The same name again is proposed, and asked about.
  await page.keyboard.press("x");
  await page.waitForFunction((n) => document.querySelectorAll(".panel").length === n - 1, before.length);
  assert.equal(await save(null), "mine");
  await page.locator("dialog", { hasText: "There is a worksheet mine" }).waitFor();
  await page.getByRole("button", { name: "close without a change" }).click();
  assert.equal((await saved())[0].worksheet.panels.length, before.length);
  await save(null);
  await page.getByRole("button", { name: "Replace it" }).click();
  await page.waitForFunction(async (n) => (await (await fetch("/api/v1/worksheets?run=a")).json()).worksheets[0].worksheet.panels.length === n, before.length - 1);
}

export const AROUND = [
  { name: "a server that is gone is told wherever one is", machine: "live", run: goneIsSeen, expected: ["net::ERR_FAILED"] },
  { name: "a run recorded elsewhere ends on the page too", run: endedElsewhere },
  { name: "paper has the colours and all of a table", run: onPaper },
  { name: "two runs at phone width", machine: "two", options: { viewport: { width: 390, height: 844 } }, run: twoRunsOnAPhone },
  { name: "the head and the drawer tell of the run that is chosen", machine: "two", run: headOfEachRun },
  { name: "undo right after a zoom takes just that back", run: undoAtOnce },
  { name: "a damaged link in the open page is told", run: pastedLink },
  { name: "a panel more than a link holds is refused", run: fullWorksheet },
  { name: "all that may stand next is offered", run: allSuggestions },
  { name: "a run of a link that is not open is told", run: runNotOpen },
  { name: "a saved worksheet is replaced only if the reader says so", run: saveAsksFirst },
];

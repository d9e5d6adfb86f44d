// The cases of the browser tests.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { settled } from "./browser.mjs";
import { POINTING } from "./pointing.mjs";

/** The expressions of the panels, from the top. */
const expressions = (page) => page.$$eval(".panel input.expr", (fields) => fields.map((field) => field.value));

/** Drags over the nth picture; places are shares of its width and height. */
async function drag(page, n, from, to) {
  const over = page.locator(".panel .u-over").nth(n);
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at(to), { steps: 4 });
  await page.mouse.up();
}

/** A link to a worksheet. */
export const link = (server, sheet) => `${server.address}#w=j.${Buffer.from(JSON.stringify({ v: 1, runs: ["a"], from: null, to: null, align: "start", ...sheet })).toString("base64url")}`;

async function fromFindingToCulprit({ page, server }) {
  await page.goto(server.address);
  await settled(page);
  await page.locator(".chip").first().click();
  await settled(page);
  assert.equal((await expressions(page))[0], "disk.ios by latency where device = nvme0n1");
  assert.match(await page.locator(".hidden-part").first().innerText(), /nothing hidden/);
  await drag(page, 0, [0.2, 0.02], [0.8, 0.3]);
  const title = await page.locator(".menu-title").innerText();
  const [, low, high, from, to] = /^latency >= (\d+)ms and latency < (\d+)ms and time in ([\d.]+)s\.\.([\d.]+)s$/.exec(title).map(Number);
  assert.ok(low >= 20 && low <= 90 && high >= 600 && high <= 983, title);
  assert.ok(from > 360 && from < 390 && to > 430 && to < 445, title);
  await page.getByRole("menuitem", { name: "by process" }).click();
  await settled(page);
  assert.equal((await expressions(page))[1], `disk.ios by process where device = nvme0n1 and ${title}`);
  assert.match(await page.locator(".panel").nth(1).locator(".legend tbody tr").first().innerText(), /fio\[\d+\]/);
  // Back: the panel is gone, then the zoom and the first panel.
  const many = (await expressions(page)).length;
  await page.keyboard.press("u");
  await page.waitForFunction((n) => document.querySelectorAll(".panel").length === n - 1, many);
  await page.keyboard.press("U");
  await page.waitForFunction((n) => document.querySelectorAll(".panel").length === n, many);
}

async function linkReopensTheSame({ page, server, context }) {
  await page.goto(server.address);
  await settled(page);
  await page.locator(".panel").first().getByRole("button", { name: "how many cells hold less" }).click();
  await page.locator(".panel .legend .name").nth(1).click();
  await drag(page, 1, [0.3, 0.5], [0.6, 0.5]);
  await page.waitForTimeout(900);
  await settled(page);
  const time = await page.locator(".time-range").innerText();
  assert.notEqual(time, "0 s – 10:00");
  const second = await context.newPage();
  await second.goto(page.url());
  await settled(second);
  assert.deepEqual(await expressions(second), await expressions(page));
  assert.equal(await second.locator(".time-range").innerText(), time);
  assert.equal(await second.locator('.choice [aria-pressed="true"]', { hasText: "rank" }).count(), 1);
  assert.equal(await second.locator('.name[aria-pressed="true"]').count(), 1);
}

async function legendSumsToTheWhole({ page, server }) {
  await page.goto(link(server, { panels: [{ expr: "disk.bytes by device" }] }));
  await settled(page);
  const numbers = async (selector) => (await page.locator(`.legend ${selector} td:last-child`).allInnerTexts()).map(Number);
  const parts = (await numbers("tbody")).reduce((a, b) => a + b, 0);
  const [whole] = await numbers("tfoot");
  assert.ok(Math.abs(parts - whole) <= whole * 0.01, `${parts} ${whole}`);
  // `other` opens on demand.
  await page.goto("about:blank");
  await page.goto(link(server, { panels: [{ expr: "disk.bytes by process" }] }));
  await settled(page);
  assert.equal(await page.locator(".legend tbody tr").count(), 9);
  await page.locator(".legend .name", { hasText: "other (34)" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".legend tbody tr").length === 33);
}

async function keyboardOnly({ page, server }) {
  await page.goto(server.address);
  await settled(page);
  await page.keyboard.press("a");
  await page.keyboard.type("disk.ios by laten");
  await page.keyboard.press("Tab");
  assert.equal((await page.locator(".add-bar input.expr").inputValue()).trim(), "disk.ios by latency");
  await page.keyboard.press("Enter");
  await settled(page);
  assert.equal((await expressions(page)).at(-1), "disk.ios by latency");
  await page.keyboard.press("s");
  for (const text of ["372", "441", "200ms", "1s"]) {
    await page.keyboard.press("Control+A");
    await page.keyboard.type(text);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.locator(".menu").waitFor();
  await page.keyboard.press("p");
  await page.keyboard.press("Enter");
  await settled(page);
  const last = (await expressions(page)).at(-1);
  assert.equal(last, "disk.ios by process where latency >= 200ms and latency < 1s and time in 372s..441s");
  const before = await page.locator(".time-range").innerText();
  await page.keyboard.press("+");
  await page.keyboard.press("ArrowRight");
  await page.waitForTimeout(100);
  assert.notEqual(await page.locator(".time-range").innerText(), before);
  await page.keyboard.press("0");
  await page.keyboard.press("t");
  await page.locator(".table-box table").first().waitFor();
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog[open]").count(), 0);
}

async function errorsWhereTyped({ page, server }) {
  await page.goto(link(server, { panels: [{ expr: "disk.ios by latncy" }, { expr: "dsik.ios" }] }));
  await page.locator(".expr-message.wrong").nth(1).waitFor();
  assert.equal(await page.locator(".ink .bad").first().innerText(), "latncy");
  assert.match(await page.locator(".expr-message.wrong").nth(1).innerText(), /did you mean disk/);
  const field = page.locator(".panel input.expr").first();
  await field.fill("disk.ios by latency");
  await field.press("Enter");
  await page.locator(".panel .u-over").first().waitFor();
  assert.equal(await page.locator(".expr-message.wrong:visible").count(), 1);
}

async function serverGoneAndBack({ page, server }) {
  await page.goto(server.address);
  await settled(page);
  const pictures = await page.locator(".panel canvas").count();
  await page.route("**/api/v1/**", (route) => route.abort());
  await page.keyboard.press("+");
  await page.locator(".notice.wrong", { hasText: "cannot be reached" }).waitFor();
  assert.equal(await page.locator(".panel canvas").count(), pictures, "what was shown stays");
  await page.unroute("**/api/v1/**");
  await page.locator(".notice.said", { hasText: "back" }).waitFor();
  await settled(page);
  assert.equal(await page.locator(".notice.wrong").count(), 0);
}

async function eventsSortAndSave({ page, server }) {
  await page.goto(link(server, { panels: [{ expr: "disk.ios by latency where latency >= 200ms", kind: "events" }] }));
  await page.locator(".events tbody tr").first().waitFor();
  const column = (n) => page.locator(`.events tbody td:nth-child(${n})`).allInnerTexts();
  await page.getByRole("button", { name: "sort by process" }).click();
  const words = await column(8);
  assert.deepEqual(words, [...words].sort());
  const wait = page.waitForEvent("download");
  await page.getByRole("button", { name: "save these rows" }).click();
  const text = await readFile(await (await wait).path(), "utf8");
  assert.match(text, /^time \(seconds\),latency \(seconds\),queue_time \(seconds\)/);
  assert.equal(text.trim().split("\r\n").length, words.length + 1);
}

async function twoRuns({ page, server }) {
  await page.goto(link(server, { runs: ["a", "b"], panels: [{ expr: "disk.bytes by op" }, { expr: "disk.ios by latency", run: "a-b" }] }));
  await settled(page);
  assert.equal(await page.locator(".legend .name", { hasText: "b · read" }).count(), 1);
  assert.match(await page.locator(".heat-legend").innerText(), /read-expire-20 less fio random read/);
  await page.selectOption(".runs select", "phase:steady");
  await settled(page);
  assert.match(await page.locator(".time-range").innerText(), /^-40 s/);
}

async function liveWithoutFlicker({ page, server }) {
  await page.goto(link(server, { runs: ["live"], panels: [{ expr: "disk.bytes by device" }, { expr: "disk.ios by latency" }] }));
  await settled(page);
  await page.evaluate(() => document.querySelectorAll(".panel canvas").forEach((canvas) => (canvas.dataset.same = "yes")));
  const end = async () => /– (.*)$/.exec(await page.locator(".time-range").innerText())[1];
  const first = await end();
  await page.waitForFunction((t) => !document.querySelector(".time-range").textContent.endsWith(t), first);
  await page.waitForTimeout(1500);
  assert.equal(await page.locator('.panel canvas:not([data-same="yes"])').count(), 0, "a canvas was made anew");
  await page.keyboard.press(" ");
  const paused = await end();
  await page.waitForTimeout(2500);
  assert.equal(await end(), paused);
  await page.keyboard.press(" ");
  await page.waitForFunction((t) => !document.querySelector(".time-range").textContent.endsWith(t), paused);
  await page.getByRole("button", { name: "write what was observed" }).click();
  await page.locator("dialog input").fill("kept");
  await page.keyboard.press("Enter");
  await page.locator(".notice", { hasText: "/srv/runs/live" }).waitFor();
}

async function phoneWidth({ page, server }) {
  await page.goto(server.address);
  await settled(page);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
  await page.keyboard.press("2");
  await page.locator(".drawer .fact").first().waitFor();
}

/** Where in time the page is, as its head says. */
const inView = (page) => page.locator(".time-range").innerText();

async function fingers({ page, server, context }) {
  await page.goto(server.address);
  await settled(page);
  const client = await context.newCDPSession(page);
  const touch = (type, points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const box = await page.locator(".panel .u-over").first().boundingBox();
  const y = box.y + box.height / 2;
  const pinch = async () => {
    await touch("touchStart", [[box.x + 120, y], [box.x + 160, y]]);
    for (let i = 1; i <= 8; i++) await touch("touchMove", [[box.x + 120 - i * 8, y], [box.x + 160 + i * 8, y]]);
    await touch("touchEnd", []);
  };
  const whole = await inView(page);
  await pinch();
  await page.waitForFunction((text) => document.querySelector(".time-range").textContent !== text, whole);
  const zoomed = await inView(page);
  // One finger moves in time; the page does not scroll sideways.
  await touch("touchStart", [[box.x + 200, y]]);
  for (let i = 1; i <= 8; i++) await touch("touchMove", [[box.x + 200 - i * 10, y]]);
  await touch("touchEnd", []);
  await page.waitForFunction((text) => document.querySelector(".time-range").textContent !== text, zoomed);
  assert.equal(await page.locator(".menu").count(), 0);
  const moved = await inView(page);
  // One that rests first selects, and moves nothing.
  await touch("touchStart", [[box.x + 80, y - 60]]);
  await page.waitForTimeout(500);
  for (let i = 1; i <= 8; i++) await touch("touchMove", [[box.x + 80 + i * 12, y - 60 + i * 10]]);
  await touch("touchEnd", []);
  await page.locator(".menu").waitFor();
  assert.equal(await inView(page), moved);
  await page.getByRole("menuitem", { name: "by process" }).click();
  await settled(page);
  assert.match((await expressions(page))[1], /by process where .*time in/);
}

async function outputBesideTime({ page, server }) {
  await page.goto(server.address);
  await settled(page);
  await page.keyboard.press("3");
  const lines = page.locator(".output-lines .line");
  await lines.first().waitFor();
  assert.equal(await lines.count(), 90);
  // The crosshair marks the last line before it.
  const box = await page.locator(".panel .u-over").first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 30);
  const here = page.locator(".output-lines .line.here");
  await here.waitFor();
  const at = Number(await here.getAttribute("data-at"));
  assert.ok(Math.abs(at - 300) < 10, `the line of ${at} s is marked at the middle of 600 s`);
  // Zoomed in, lines of another time step back, and the first of this time is to be seen.
  await page.mouse.move(5, 5);
  for (let i = 0; i < 3; i++) await page.keyboard.press("+");
  await page.waitForFunction(() => document.querySelectorAll(".output-lines .line.outside").length > 20);
  const within = page.locator(".output-lines .line:not(.outside)").first();
  const first = Number(await within.getAttribute("data-at"));
  assert.ok(first > 100 && first < 300, `the first in view is of ${first} s`);
  await page.waitForFunction(() => {
    const box = document.querySelector(".output-lines .line:not(.outside)").getBoundingClientRect();
    return box.top >= 0 && box.bottom <= window.innerHeight;
  });
  // A line's time is a way to it.
  await lines.first().getByRole("button").click();
  await settled(page);
}

async function reportFromDisk({ page, server }) {
  const ask = async (path) => (await fetch(`${server.origin}/api/v1/${path}`)).json();
  const expr = "disk.ios by latency";
  const answer = await ask(`eval?run=a&expr=${encodeURIComponent(expr)}&from=0&to=600&width=600&rows=60`);
  const carried = {
    runs: await ask("runs"),
    catalog: await ask("catalog"),
    findings: { a: await ask("findings?run=a") },
    inventory: { a: await ask("inventory?run=a") },
    output: null,
    worksheet: { v: 1, runs: ["a"], from: null, to: null, align: "start", panels: [{ expr }, { expr: "cpu.time" }] },
    answers: { [`a|${expr}`]: answer },
  };
  const dist = new URL("../dist/assets/", import.meta.url);
  const script = (await readFile(new URL("page.js", dist), "utf8")).replaceAll("</script", "<\\/script");
  const sheet = await readFile(new URL("page.css", dist), "utf8");
  const data = JSON.stringify(carried).replaceAll("<", "\\u003c");
  const dir = await mkdtemp(join(tmpdir(), "sonde-report-"));
  const path = join(dir, "report.html");
  await writeFile(path, `<!doctype html><meta charset=utf-8><title>r</title><style>${sheet}</style><div id=page></div><script type="application/json" id="sonde-report">${data}</script><script type="module">${script}</script>`);
  await page.context().setOffline(true);
  await page.goto(pathToFileURL(path).href);
  await page.locator(".panel .u-over").first().waitFor();
  await page.locator(".expr-message.wrong", { hasText: "not in this report" }).waitFor();
  await drag(page, 0, [0.3, 0.3], [0.6, 0.6]);
  await page.getByRole("menuitem", { name: "Zoom to this time" }).click();
  await page.waitForFunction(() => document.querySelector(".panel-words").textContent.includes("whole time only"));
  await rm(dir, { recursive: true });
}

async function damagedLink({ page, server }) {
  await page.goto(`${server.address}#w=d.AAAA`);
  await settled(page);
  await page.locator(".notice.wrong", { hasText: "damaged; this is" }).waitFor();
  await page.locator(".notice.wrong", { hasText: "damaged after row" }).waitFor();
}

export const CASES = [
  { name: "from a finding to the process by dragging, and back", run: fromFindingToCulprit },
  { name: "a link reopens the same worksheet", run: linkReopensTheSame },
  { name: "parts sum to the whole, and other opens", run: legendSumsToTheWhole },
  { name: "keyboard only", run: keyboardOnly },
  { name: "errors are shown where they were typed", run: errorsWhereTyped, expected: ["status of 400"] },
  { name: "server gone and back", run: serverGoneAndBack, expected: ["net::ERR_FAILED"] },
  { name: "events are sorted and saved", run: eventsSortAndSave },
  { name: "two runs on one clock", machine: "two", run: twoRuns },
  { name: "live without flicker, pause, keep", machine: "live", run: liveWithoutFlicker },
  { name: "phone width", options: { viewport: { width: 390, height: 844 } }, run: phoneWidth },
  { name: "fingers", options: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, run: fingers },
  { name: "the output beside the time axis", run: outputBesideTime },
  { name: "a report from disk without network", run: reportFromDisk, expected: ["file:"] },
  { name: "a damaged link and a damaged run are told", machine: "problems", run: damagedLink },
  ...POINTING,
];

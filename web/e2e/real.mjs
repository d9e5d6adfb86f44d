// The page before `sonde view` with a recorded run that has events of a disk, and live: what the
// page tells is compared with what `sonde get` prints.
//
//   SONDE=… node e2e/real.mjs RUN [OTHER-RUN]

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { open, settled, watched } from "./browser.mjs";
import { enter, overlay, view } from "./sonde.mjs";

const [run, other] = process.argv.slice(2);
const sonde = process.env.SONDE ?? "sonde";
const get = (expr) => JSON.parse(execFileSync(sonde, ["get", run, expr, "--json"], { encoding: "utf8" }));
const expressions = (page) => page.$$eval(".panel input.expr", (fields) => fields.map((field) => field.value));
let failed = 0;

async function visit(name, arguments_, act, expected = []) {
  const server = await view(arguments_);
  const browser = await open();
  await overlay(browser.context, server.origin);
  const { page, wrong } = await watched(browser.context, server.origin);
  page.setDefaultTimeout(20_000);
  try {
    await enter(page, server);
    await settled(page);
    // Before the page is laid over, the server says that it has none.
    const unexpected = () => wrong.filter((line) => !["status of 404", ...expected].some((part) => line.includes(part)));
    await act(page, server);
    assert.deepEqual(unexpected(), [], "errors in the browser");
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}\n      ${error.stack.replaceAll("\n", "\n      ")}`);
    await page.screenshot({ path: `shots/failed-real-${name.replaceAll(/\W+/g, "-")}.png` }).catch(() => {});
  }
  await browser.close();
  await server.close();
}

async function drag(page, from, to) {
  const box = await page.locator(".panel .u-over").first().boundingBox();
  await page.mouse.move(box.x + from[0] * box.width, box.y + from[1] * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + to[0] * box.width, box.y + to[1] * box.height, { steps: 4 });
  // What is selected follows the pointer once a frame.
  await page.waitForTimeout(60);
  await page.mouse.up();
}

/** The sum of the groups' totals, as `sonde get` has them. */
const totalOf = (expr) => get(expr).groups.reduce((sum, group) => sum + group.total, 0);

/** A link to one panel. */
const one = (server, panel) => `${server.origin}/#w=j.${Buffer.from(JSON.stringify({ v: 1, runs: ["a"], from: null, to: null, align: "start", panels: [panel] })).toString("base64url")}`;

await visit("a rectangle is broken down by process; its numbers are those of sonde get", [run], async (page) => {
  await page.locator(".panel").first().getByRole("button", { name: "no outliers hidden" }).or(page.getByRole("button", { name: "leave at most 0 %" })).first().click();
  await settled(page);
  await drag(page, [0.001, 0.05], [0.999, 0.6]);
  await page.getByRole("menuitem", { name: "by process" }).click();
  await settled(page);
  const expr = (await expressions(page))[1];
  assert.match(expr, /^disk\.ios by process where latency >= .* and latency < \S+$/);
  const shown = await page.locator(".panel").nth(1).locator(".legend tbody tr").evaluateAll((rows) => rows.map((row) => Number(row.lastElementChild.textContent)));
  const told = totalOf(expr);
  const sum = shown.reduce((a, b) => a + b, 0);
  assert.ok(told > 0 && Math.abs(sum - told) <= told * 0.005 + 0.5 * shown.length, `the page ${sum}, sonde get ${told}: ${expr}`);
  // The table of events has just as many.
  await page.locator(".panel").nth(1).getByRole("button", { name: "the slowest single events" }).click();
  await page.locator(".events tbody tr").first().waitFor();
});

await visit("cells sum to what sonde get tells", [run], async (page) => {
  const events = await page.locator(".quantiles dd").first().innerText();
  const told = totalOf("disk.ios by latency");
  const shown = Number(events.replace("k", "")) * (events.endsWith("k") ? 1000 : 1);
  assert.ok(Math.abs(shown - told) <= told * 0.005, `${events} and ${told}`);
});

await visit("within a sample a rectangle has just its events", [run], async (page, server) => {
  const { seconds } = await page.evaluate(async () => (await (await fetch("/api/v1/runs")).json()).runs[0]);
  // Shorter than an interval of any run that is given.
  const [from, span] = [Math.floor(seconds / 2) + 0.2, 0.08];
  const sheet = { v: 1, runs: ["a"], from, to: from + span, align: "start", panels: [{ expr: "disk.ios by latency where layer = stacked", outliers: 0 }] };
  await page.goto("about:blank");
  await page.goto(`${server.origin}/#w=j.${Buffer.from(JSON.stringify(sheet)).toString("base64url")}`);
  await settled(page);
  assert.match(await page.locator(".panel-words").first().innerText(), /single events/);
  // Findings come later and move what is below them.
  await page.waitForLoadState("networkidle");
  await drag(page, [0.2, 0.001], [0.8, 0.999]);
  await page.getByRole("menuitem", { name: "by process" }).click();
  await settled(page);
  const expr = (await expressions(page))[1];
  const [, first, last] = /time in ([\d.]+)s\.\.([\d.]+)s$/.exec(expr) ?? [];
  assert.ok(last - first > 0.5 * span && last - first < 0.7 * span, expr);
  const told = totalOf(expr);
  const shown = await page.locator(".panel").nth(1).locator(".legend tbody tr").evaluateAll((rows) => rows.map((row) => Number(row.lastElementChild.textContent)));
  assert.ok(told > 0 && shown.reduce((a, b) => a + b, 0) === told, `the page ${shown}, sonde get ${told}: ${expr}`);
  // Each of them is in the table of events, at a time of its own.
  await page.locator(".panel").nth(1).getByRole("button", { name: "the slowest single events" }).click();
  await page.locator(".events tbody tr").first().waitFor();
  assert.equal(await page.locator(".panel").nth(1).locator(".events tbody tr").count(), Math.min(told, 200));
});

await visit("a worksheet is saved in the run and opened again", [run], async (page) => {
  await page.getByRole("button", { name: "save this worksheet" }).click();
  await page.locator("dialog input").fill("browser-test");
  await page.keyboard.press("Enter");
  await page.locator(".notice", { hasText: "Saved" }).waitFor();
  await page.locator(".panel").first().getByRole("button", { name: "remove this panel" }).click();
  const fewer = (await expressions(page)).length;
  await page.getByRole("button", { name: "open a saved worksheet" }).click();
  await page.locator("dialog .sheets button").first().click();
  await page.waitForFunction((n) => document.querySelectorAll(".panel").length === n + 1, fewer);
});

await visit("what the run does not have says what to record", [run], async (page, server) => {
  await page.goto("about:blank");
  await page.goto(one(server, { expr: "file.ops by file" }));
  const said = page.locator(".expr-message.wrong");
  await said.waitFor();
  assert.match(await said.innerText(), /record/);
}, ["status of 4"]);

if (other) {
  await visit("two runs and their difference", [run, other], async (page, server) => {
    await page.goto("about:blank");
    await page.goto(`${server.origin}/#w=j.${Buffer.from(JSON.stringify({ v: 1, runs: ["a", "b"], panels: [{ expr: "disk.ios by latency", run: "a-b" }, { expr: "disk.bytes by op" }] })).toString("base64url")}`);
    await settled(page);
    assert.match(await page.locator(".heat-legend").innerText(), /less/);
    await page.screenshot({ path: "shots/real-two.png" });
  });
}

await visit("live: it grows, pauses, and goes on", ["--detail", "distributions"], async (page) => {
  const end = () => page.locator(".time-range").innerText();
  const first = await end();
  await page.waitForFunction((t) => document.querySelector(".time-range").textContent !== t, first);
  await page.waitForTimeout(6000);
  await page.screenshot({ path: "shots/real-live.png" });
  await page.keyboard.press(" ");
  const paused = await end();
  await page.waitForTimeout(2500);
  assert.equal(await end(), paused);
  await page.keyboard.press(" ");
  await page.waitForFunction((t) => document.querySelector(".time-range").textContent !== t, paused);
});

process.exit(failed > 0 ? 1 : 0);

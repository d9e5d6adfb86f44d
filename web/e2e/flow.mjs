// Walks through the page as a reader would, before the made-up machine, and takes pictures.

import { mkdir } from "node:fs/promises";

import { open, settled, watched } from "./browser.mjs";
import { serve } from "./mock.mjs";

const server = await serve(process.env.SONDE_MOCK ?? "");
await mkdir("shots", { recursive: true });
const browser = await open({ colorScheme: process.env.THEME === "dark" ? "dark" : "light" });
const { page, wrong } = await watched(browser.context, server.origin);
let n = 0;
const shot = async (name) => page.screenshot({ path: `shots/flow-${++n}-${name}.png` });
await page.goto(server.address);
await settled(page);
const plot = page.locator(".panel .u-over").first();
const drag = async (from, to) => {
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + from[0] * box.width, box.y + from[1] * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + to[0] * box.width, box.y + to[1] * box.height, { steps: 5 });
  await page.mouse.up();
};
await page.locator(".chip").first().click();
await settled(page);
await shot("finding");
await drag([0.2, 0.02], [0.8, 0.3]);
await shot("drag");
await page.getByRole("menuitem", { name: "by process" }).click();
await settled(page);
await shot("by-process");
await drag([0.2, 0.02], [0.8, 0.3]);
await page.getByRole("menuitem", { name: "Slowest events" }).click();
await settled(page);
await shot("events");
await page.keyboard.press("0");
await settled(page);
const box = await page.locator(".panel .u-over").nth(1).boundingBox();
await page.mouse.move(box.x + 300, box.y + 60);
await page.waitForTimeout(100);
await shot("crosshair");
await page.mouse.move(box.x + 300, 5);
await page.locator(".add-bar input.expr").first().click();
await page.keyboard.type("disk.ios by ");
await shot("complete");
await page.keyboard.type("latncy");
await page.keyboard.press("Enter");
await page.waitForTimeout(700);
await shot("error");
await page.keyboard.press("?");
await shot("keys");
await page.keyboard.press("Escape");
for (const key of ["1", "2", "3"]) {
  await page.keyboard.press(key);
  await page.waitForTimeout(400);
  await shot(`drawer-${key}`);
}
for (const line of wrong) console.log(line);
await browser.close();
await server.close();

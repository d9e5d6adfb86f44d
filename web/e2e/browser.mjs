// Chromium for the tests of the page: Debian's, headless, without any traffic of its own.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** A browser context in an empty profile of its own. `close` takes both away. */
export async function open(options = {}) {
  const profile = await mkdtemp(join(tmpdir(), "sonde-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: FLAGS,
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  return {
    context,
    async close() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** A page that remembers what went wrong in it: errors, refused by policy, requests elsewhere. */
export async function watched(context, origin) {
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => {
    if (message.type() === "error") wrong.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !["data:", "blob:"].includes(url.protocol)) wrong.push(`request elsewhere: ${url.href}`);
  });
  return { page, wrong };
}

/** Waits until no panel is busy and all have a picture. */
export async function settled(page) {
  await page.waitForFunction(() => {
    const panels = [...document.querySelectorAll(".panel")];
    return panels.length > 0 && panels.every((panel) => !panel.classList.contains("busy") && panel.querySelector(".plot").childElementCount > 0);
  });
  await page.waitForTimeout(150);
}

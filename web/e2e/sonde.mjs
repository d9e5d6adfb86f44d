// `sonde view` itself, started for a test: SONDE is the binary. With SONDE_PAGE=dist the page
// comes from web/dist instead of from the binary, so that it need not be built anew for each
// change of the page.

import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";

const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'";

/** Starts it with these arguments; gives the address that opens the page once. */
export async function view(arguments_, options = {}) {
  const child = spawn(process.env.SONDE ?? "sonde", ["view", "--no-open", ...arguments_], { stdio: ["ignore", "pipe", "pipe"], ...options });
  let said = "";
  const address = await new Promise((resolve, reject) => {
    const read = (piece) => {
      said += piece;
      const found = /https?:\/\/\S+\?token=\S+/.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (status) => reject(new Error(`sonde view ended with ${status}: ${said}`)));
  });
  return {
    address,
    origin: new URL(address).origin,
    said: () => said,
    close: () =>
      new Promise((resolve) => {
        child.removeAllListeners("exit");
        if (child.exitCode !== null) return resolve();
        child.on("exit", resolve);
        child.kill("SIGINT");
      }),
  };
}

/** Lets the page come from web/dist, if SONDE_PAGE says so. */
export async function overlay(context, origin) {
  if (process.env.SONDE_PAGE !== "dist") return;
  await context.route(`${origin}/**`, async (route) => {
    const url = new URL(route.request().url());
    if (url.pathname.startsWith("/api/") || url.searchParams.has("token")) return route.continue();
    const path = url.pathname === "/" ? "index.html" : url.pathname.slice(1);
    try {
      const body = await readFile(new URL(`../dist/${path}`, import.meta.url));
      return await route.fulfill({ body, headers: { "content-type": TYPES[path.split(".").pop()] ?? "application/octet-stream", "content-security-policy": POLICY } });
    } catch {
      return route.fulfill({ status: 404 });
    }
  });
}

/** Opens the page: the address with its token first, then, if the page is laid over, the page. */
export async function enter(page, server) {
  await page.goto(server.address);
  if (process.env.SONDE_PAGE === "dist") await page.goto(`${server.origin}/`);
}

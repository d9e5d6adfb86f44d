// Pictures of the page at both widths and in both themes, to be looked at:
//   npm run shots [ADDRESS]     without an address, of the made-up machine
// They go to web/shots.

import { mkdir } from "node:fs/promises";

import { open, settled, watched } from "./browser.mjs";
import { serve } from "./mock.mjs";

const given = process.argv[2];
const server = given ? { address: given, origin: new URL(given).origin, close: () => {} } : await serve(process.env.SONDE_MOCK ?? "");
await mkdir("shots", { recursive: true });
for (const [width, height] of [[1280, 900], [390, 844]]) {
  for (const colorScheme of ["light", "dark"]) {
    const browser = await open({ viewport: { width, height }, colorScheme });
    const { page, wrong } = await watched(browser.context, server.origin);
    await page.goto(server.address);
    await settled(page);
    await page.screenshot({ path: `shots/first-${width}-${colorScheme}.png`, fullPage: width < 700 });
    for (const line of wrong) console.log(`${width} ${colorScheme}: ${line}`);
    await browser.close();
  }
}
await server.close();

// Pictures of the page at both widths and in both themes, to be looked at:
//   npm run shots                    of the made-up machine
//   SONDE=… npm run shots RUN...     of runs
// They go to web/shots.

import { mkdir } from "node:fs/promises";

import { open, settled, watched } from "./browser.mjs";
import { serve } from "./mock.mjs";
import { enter, overlay, view } from "./sonde.mjs";

const runs = process.argv.slice(2);
await mkdir("shots", { recursive: true });
for (const [width, height] of [[1280, 900], [390, 844]]) {
  for (const colorScheme of ["light", "dark"]) {
    const server = runs.length > 0 ? await view(runs) : await serve(process.env.SONDE_MOCK ?? "");
    const browser = await open({ viewport: { width, height }, colorScheme });
    if (runs.length > 0) await overlay(browser.context, server.origin);
    const { page, wrong } = await watched(browser.context, server.origin);
    if (runs.length > 0) await enter(page, server);
    else await page.goto(server.address);
    await settled(page);
    const name = runs.length > 0 ? "real" : "first";
    await page.screenshot({ path: `shots/${name}-${width}-${colorScheme}.png`, fullPage: true });
    for (const line of wrong) console.log(`${width} ${colorScheme}: ${line}`);
    await browser.close();
    await server.close();
  }
}

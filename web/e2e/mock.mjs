// The built page before the made-up machine, at an address of its own.

import { fileURLToPath } from "node:url";

import { preview } from "vite";

/** Starts it; `kind` is as SONDE_MOCK. */
export async function serve(kind = "") {
  process.env.SONDE_MOCK = kind;
  const server = await preview({
    root: fileURLToPath(new URL("..", import.meta.url)),
    configFile: fileURLToPath(new URL("../dev/vite.config.ts", import.meta.url)),
    configLoader: "runner",
    logLevel: "error",
    preview: { host: "127.0.0.1", port: 0 },
  });
  const address = server.resolvedUrls?.local[0] ?? `http://127.0.0.1:${server.httpServer.address().port}/`;
  return { address, origin: new URL(address).origin, close: () => server.close() };
}

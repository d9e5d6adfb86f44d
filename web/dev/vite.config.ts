// The page before the made-up machine, for `npm run dev` and the browser tests.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

import { mockServer } from "./mock";

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  plugins: [mockServer()],
});

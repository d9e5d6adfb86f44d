import { createHash } from "node:crypto";

import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/**
 * Puts a checksum behind the names of script and style sheet in the page: their names are fixed,
 * but a browser that keeps files must not take those of another version.
 */
function versioned(): Plugin {
  return {
    name: "versioned",
    enforce: "post",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle }) {
        const sum = createHash("sha256");
        for (const file of Object.values(bundle ?? {})) sum.update(file.type === "chunk" ? file.code : file.source);
        const version = sum.digest("hex").slice(0, 12);
        return bundle ? html.replaceAll(/(\/assets\/page\.\w+)"/g, `$1?v=${version}"`) : html;
      },
    },
  };
}

// Files have fixed names, so that the binary can embed them and a report can carry them: one
// script, one style sheet, no other request.
export default defineConfig({
  plugins: [versioned()],
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: "assets/page.js",
        assetFileNames: "assets/page.[ext]",
      },
    },
  },
  test: { include: ["src/**/*.test.ts", "dev/**/*.test.ts"] },
});

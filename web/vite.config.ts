import { defineConfig } from "vitest/config";

// Files have fixed names, so that the binary can embed them and a report can carry them: one
// script, one style sheet, no other request.
export default defineConfig({
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

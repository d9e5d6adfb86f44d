import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist", "node_modules"] },
  js.configs.recommended,
  {
    files: ["src/**/*.ts", "dev/**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Indices that the line above proves are marked with `!`.
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true, ignoreVoidOperator: true, ignoreVoidReturningFunctions: true }],
      // uPlot's enums exist in its types only: code has their numbers.
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
      "max-lines-per-function": ["error", { max: 80, skipBlankLines: true, skipComments: true }],
    },
  },
  { files: ["**/*.test.ts"], rules: { "max-lines-per-function": "off" } },
  {
    files: ["e2e/**/*.mjs", "bench/**/*.mjs"],
    languageOptions: { globals: { process: "readonly", console: "readonly", setTimeout: "readonly", fetch: "readonly", URL: "readonly", Buffer: "readonly", document: "readonly", window: "readonly", performance: "readonly", requestAnimationFrame: "readonly", WheelEvent: "readonly", location: "readonly", getComputedStyle: "readonly", innerWidth: "readonly" } },
  },
);

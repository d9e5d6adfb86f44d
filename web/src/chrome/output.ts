// What the recorded command printed, beside the time axis: each line has its time where it is
// known, and a click brings that time into view.

import { refusalOf } from "../api/provider";
import type { Output } from "../api/types";
import { button, h } from "../dom";
import type { Page } from "../page";
import { elapsed } from "../units/time";

type StreamName = "stdout" | "stderr";
/** Lines drawn at a time; more on demand. */
const MOST_LINES = 2000;

/** Lines of an output with their times. The last piece of a cut-off line is kept as one. */
export function linesOf(output: Output): { text: string; at: number | null }[] {
  const texts = output.text.split("\n");
  if (texts[texts.length - 1] === "") texts.pop();
  return texts.map((text, i) => ({ text: text.replace(/\r$/, ""), at: output.lines?.[i]?.at ?? null }));
}

/** The drawer's content. */
export async function outputView(page: Page): Promise<HTMLElement> {
  const run = page.first();
  const box = h("div", { class: "output-lines", role: "log", tabindex: 0 });
  const choice = h("span", { class: "choice", role: "group", "aria-label": "stream" });
  const show = async (stream: StreamName): Promise<void> => {
    choice.replaceChildren(...(["stdout", "stderr"] as const).map((name) => button(name, `what the command printed to ${name}`, () => void show(name), { "aria-pressed": String(name === stream) })));
    box.replaceChildren();
    await more(page, run.id, stream, 0, box);
  };
  await show("stdout");
  const command = run.command ? h("p", { class: "command" }, h("code", {}, run.command.join(" "))) : null;
  return h("div", { class: "output" }, command, choice, box);
}

async function more(page: Page, run: string, stream: StreamName, offset: number, box: HTMLElement): Promise<void> {
  try {
    const output = await page.provider.output(run, stream, offset);
    const lines = linesOf(output);
    if (lines.length === 0 && offset === 0) box.replaceChildren(h("p", { class: "note" }, `nothing on ${stream}`));
    box.append(...lines.slice(0, MOST_LINES).map((line) => lineOf(page, line)));
    if (lines.length > MOST_LINES) box.append(h("p", { class: "note" }, `${lines.length - MOST_LINES} lines of this piece are not shown`));
    const bytes = new TextEncoder().encode(output.text).length;
    const next = output.offset + bytes;
    if (bytes > 0 && next < output.total) {
      const again = button("more", `from byte ${next} of ${output.total}`, () => {
        again.remove();
        void more(page, run, stream, next, box);
      });
      box.append(again);
    }
  } catch (thrown) {
    const refusal = refusalOf(thrown);
    box.append(h("p", { class: "refusal" }, refusal.message));
  }
}

function lineOf(page: Page, line: { text: string; at: number | null }): HTMLElement {
  if (line.at === null) return h("div", { class: "line" }, h("span", {}, line.text || " "));
  const at = line.at - page.zero(page.first());
  const time = button(elapsed(line.at, 0.1), "bring this time into view", () => {
    const { view } = page;
    const half = (view.range.to - view.range.from) / 2;
    view.follow = false;
    if (at < view.range.from || at > view.range.to) view.show(at - half, at + half);
    view.point(at);
  });
  const row = h("div", { class: "line" }, time, h("span", {}, line.text || " "));
  row.dataset.at = String(at);
  row.addEventListener("mouseenter", () => page.view.point(at));
  row.addEventListener("mouseleave", () => page.view.point(null));
  return row;
}

/** Marks the last line that was printed before the crosshair. */
export function markLine(drawer: HTMLElement, at: number | null): void {
  drawer.querySelector(".line.here")?.classList.remove("here");
  if (at === null) return;
  const lines = drawer.querySelectorAll<HTMLElement>(".line[data-at]");
  let last: HTMLElement | null = null;
  for (const line of lines) {
    if (Number(line.dataset.at) > at) break;
    last = line;
  }
  last?.classList.add("here");
}

// Small questions to the reader, in dialogs that the keyboard reaches.

import { button, h } from "../dom";
import type { Page } from "../page";
import { parseAmount, unitOf } from "../units/amount";
import type { PanelView } from "./panel";

/** Opens a dialog with these parts; closing it takes it away. */
export function dialog(title: string, ...parts: (Node | string)[]): HTMLDialogElement {
  const box = h("dialog", { "aria-label": title }, h("h2", {}, title), ...parts);
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

/** Asks for one line of text. */
export function askFor(question: string, now: string, answer: (text: string) => void, verb = "OK"): void {
  const input = h("input", { type: "text", value: now, "aria-label": question, spellcheck: "false" });
  const form = h("form", { method: "dialog" }, input, h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, verb)));
  const box = dialog(question, form);
  form.append(button("Cancel", "close without a change", () => box.close()));
  form.addEventListener("submit", () => answer(input.value.trim()));
  input.focus();
}

/** Asks whether to do something; the usual answer is no. */
export function askWhether(statement: string, verb: string, act: () => void): void {
  const no = button("Cancel", "close without a change", () => box.close(), { class: "primary" });
  const yes = button(verb, verb, () => {
    box.close();
    act();
  });
  const box = dialog(statement, h("div", { class: "buttons" }, yes, no));
  no.focus();
}

interface Field {
  label: string;
  value: string;
}

/** A selection by its numbers: what dragging does, for the keyboard and for exact bounds. */
export function selectByNumbers(page: Page, view: PanelView): void {
  const answer = view.shown?.loaded.answers[0];
  const key = answer?.key.find((k) => k.number !== null);
  const { from, to } = page.view.range;
  const fields: Field[] = [
    { label: "time from (s)", value: String(Number(from.toFixed(3))) },
    { label: "time to (s)", value: String(Number(to.toFixed(3))) },
  ];
  if (key) fields.push({ label: `${key.dimension} from`, value: "" }, { label: `${key.dimension} below`, value: "" });
  const inputs = fields.map((field) => h("input", { type: "text", value: field.value, "aria-label": field.label }));
  const wrong = h("p", { class: "refusal", role: "status", hidden: true });
  const rows = fields.map((field, i) => h("label", {}, field.label, inputs[i]));
  const form = h("form", {}, ...rows, wrong, h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Drill down")));
  const box = dialog("Select by numbers", form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = inputs.map((input) => (input.value.trim() === "" ? null : parseAmount(input.value)));
    const bad = inputs.findIndex((input, i) => input.value.trim() !== "" && values[i] === null);
    wrong.hidden = bad < 0;
    if (bad >= 0) {
      wrong.textContent = `${fields[bad]!.label}: \`${inputs[bad]!.value}\` is no amount; for example 10ms, 4KiB, 12.5`;
      inputs[bad]!.focus();
      return;
    }
    box.close();
    const [timeFrom, timeTo, low, high] = values;
    const whole = timeFrom === Number(from.toFixed(3)) && timeTo === Number(to.toFixed(3)) && page.view.isWhole;
    const hasNumbers = key !== undefined && ((low ?? null) !== null || (high ?? null) !== null);
    view.drillInto({
      time: whole ? null : { from: timeFrom ?? from, to: timeTo ?? to, exact: true },
      numbers: hasNumbers ? { dimension: key.dimension, unit: unitOf(key.number).base, from: low ?? -Infinity, to: high ?? Infinity } : null,
      words: [],
    });
  });
  inputs[0]?.select();
}

// Worksheets that are kept: the link, a file in the run's directory; and live runs that are kept.

import { refusalOf } from "../api/provider";
import type { SavedWorksheet } from "../api/provider";
import { button, h } from "../dom";
import type { Page } from "../page";
import { askFor, askWhether, dialog } from "../panel/ask";
import { brief, read } from "../sheet/worksheet";
import type { Notices } from "./notices";

/** Copies the address, which is the worksheet. */
export async function copyLink(notices: Notices): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    notices.say("The link to this worksheet is copied.");
  } catch {
    notices.say("The address of this page is the link to this worksheet; this browser did not let it be copied.");
  }
}

function tell(notices: Notices, what: string, thrown: unknown): void {
  const refusal = refusalOf(thrown);
  notices.say(`${what}: ${refusal.message}${refusal.hint ? ` (${refusal.hint})` : ""}`);
}

/** The first of `worksheet`, `worksheet-2` and so on that is free. */
export function freeName(taken: string[]): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? "worksheet" : `worksheet-${n}`;
    if (!taken.includes(name)) return name;
  }
}

/** Saves the worksheet under a name. What is there under that name is replaced only if the reader says so. */
export async function saveSheet(page: Page, notices: Notices): Promise<void> {
  const run = page.first().id;
  const save = (name: string): void => {
    page.provider.saveWorksheet(run, name, brief(page.store.now)).then(
      () => {
        page.sheetName = name;
        notices.say(`Saved as ${name}.`);
      },
      (thrown: unknown) => tell(notices, "Not saved", thrown),
    );
  };
  let taken: string[];
  try {
    taken = (await page.provider.worksheets(run)).map((one) => one.name);
  } catch (thrown) {
    tell(notices, "Not saved", thrown);
    return;
  }
  askFor(
    "Save this worksheet in the run's directory, as",
    page.sheetName ?? freeName(taken),
    (name) => {
      if (name === "") return;
      if (taken.includes(name)) askWhether(`There is a worksheet ${name} in this run already.`, "Replace it", () => save(name));
      else save(name);
    },
    "Save",
  );
}

/** Lists the saved worksheets, and opens the one chosen. */
export async function openSheet(page: Page, notices: Notices): Promise<void> {
  const run = page.first().id;
  try {
    const saved = await page.provider.worksheets(run);
    const open = ({ name, worksheet }: SavedWorksheet): void => {
      box.close();
      const sheet = read(worksheet);
      if (sheet) {
        page.store.change(sheet);
        page.sheetName = name;
      } else notices.say(`${name} is no worksheet of this version.`);
    };
    const list = saved.map((one) => h("li", {}, button(one.name, `open ${one.name}`, () => open(one))));
    const content = saved.length > 0 ? h("ul", { class: "sheets" }, ...list) : h("p", {}, "None is saved in this run yet.");
    const box = dialog("Saved worksheets", content, h("form", { method: "dialog" }, h("button", { type: "submit" }, "Close")));
  } catch (thrown) {
    tell(notices, "Saved worksheets", thrown);
  }
}

/** Writes what was observed live as a run. */
export function keepRun(page: Page, notices: Notices): void {
  askFor(
    "Keep what was observed as a run, named",
    "live",
    (name) => {
      if (name === "") return;
      page.provider.keep(name).then(
        (path) => notices.keep("kept", "note", "Kept as ", h("code", {}, path)),
        (thrown: unknown) => tell(notices, "Not kept", thrown),
      );
    },
    "Keep",
  );
}

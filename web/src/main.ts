// The page begins here: where answers come from, the worksheet, and everything put together.

import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import "./style/chrome.css";
import "./style/summary.css";
import "./style/overlay.css";
import "./style/panel.css";
import "./style/legend.css";
import "./style/tables.css";
import "./style/narrow.css";

import { HttpProvider } from "./api/http";
import { refusalOf } from "./api/provider";
import type { Provider } from "./api/provider";
import type { Runs } from "./api/types";
import { carried, ReportProvider } from "./api/report";
import { h } from "./dom";
import { Page } from "./page";
import { decode } from "./sheet/address";
import { firstSheet } from "./sheet/first";
import { Store } from "./sheet/store";
import { View } from "./sheet/view";
import { read } from "./sheet/worksheet";
import { Workbench } from "./workbench";

function provider(): Provider {
  const report = carried(document);
  return report ? new ReportProvider(report) : new HttpProvider();
}

/** Says why the page cannot begin. */
function refuse(host: HTMLElement, thrown: unknown): void {
  const refusal = refusalOf(thrown);
  const again = h("button", { type: "button", class: "primary", onclick: () => location.reload() }, "Try again");
  host.replaceChildren(
    h("div", { class: "opening" }, h("h1", {}, "sonde"), h("p", { class: "refusal" }, refusal.message), refusal.hint ? h("p", {}, refusal.hint) : null, again),
  );
}

/** How long the first interval of a live observation is waited for, and how often it is asked for, in milliseconds. */
const FIRST_INTERVAL = { most: 5000, every: 200 };

/** The runs; a live one once it has something to begin with, which it has not before its first interval ends. */
async function observed(answers: Provider): Promise<Runs> {
  const late = performance.now() + FIRST_INTERVAL.most;
  for (;;) {
    const runs = await answers.runs();
    if (!runs.live || firstSheet(runs.runs).panels.length > 0 || performance.now() > late) return runs;
    await new Promise((resolve) => setTimeout(resolve, FIRST_INTERVAL.every));
  }
}

async function begin(): Promise<void> {
  const host = document.getElementById("page") ?? document.body;
  try {
    const answers = provider();
    const linked = await decode(location.hash);
    const [runs, catalog] = await Promise.all([linked ? answers.runs() : observed(answers), answers.catalog()]);
    const store = new Store();
    let bench: Workbench | null = null;
    const page = new Page(answers, store, new View(), () => bench?.unreachable());
    page.runs = runs;
    page.catalog = catalog;
    const sheet = linked ?? read(answers.worksheet()) ?? firstSheet(runs.runs);
    if (sheet.runs.length === 0) sheet.runs = runs.runs.map((run) => run.id);
    bench = new Workbench(page, host);
    store.begin(sheet);
    bench.begin(location.hash.startsWith("#w=") && linked === null);
  } catch (thrown) {
    refuse(host, thrown);
  }
}

void begin();

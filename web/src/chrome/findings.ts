// Findings: a strip of sentences, and all of them with their causes in the drawer. A click opens
// the panel that shows the evidence, at its time.

import type { Finding, Findings, Run } from "../api/types";
import { button, h } from "../dom";
import type { Page } from "../page";
import { within } from "../sheet/view";
import { panelOf } from "../sheet/worksheet";
import { elapsed } from "../units/time";

/** Findings in the strip; all are in the drawer. */
const IN_STRIP = 6;
/** Time shown around a finding, as a share of its length and in seconds at least. */
const AROUND = 0.25;

/** Opens the panel of a finding's expression and zooms to it; the panel's place. */
export function openFinding(page: Page, run: Run, finding: Finding): number {
  const zero = page.zero(run);
  const around = Math.max((finding.to - finding.from) * AROUND, (run.every ?? 1) * 3);
  const { panels } = page.store.now;
  const there = panels.findIndex((panel) => panel.expr === finding.expr && page.runsOf(panel)[0]?.id === run.id);
  const only = page.chosen().length > 1 ? run.id : null;
  // What stands out is often just what a heat map would leave out as an outlier.
  const changed = panels.map((panel, i) => (i === there ? { ...panel, outliers: 0 } : panel));
  const added = panelOf(finding.expr, { run: only, outliers: 0 });
  const range = within({ from: finding.from - zero - around, to: finding.to - zero + around }, page.view.bounds);
  page.store.change({ ...range, panels: there >= 0 ? changed : [added, ...panels] });
  return Math.max(there, 0);
}

/** The strip below the head, with the run's name where that must be told. Empty if nothing stands out. */
export function findingsStrip(findings: Finding[], which: string, open: (finding: Finding) => void, all: () => void): HTMLElement {
  const shown = findings.slice(0, IN_STRIP);
  const chips = shown.map((finding) =>
    h(
      "button",
      { type: "button", class: "chip", title: finding.sentence, onclick: () => open(finding) },
      h("b", {}, finding.name.replaceAll("-", " ")),
      h("span", {}, finding.sentence),
    ),
  );
  const more = findings.length > shown.length ? button(`${findings.length - shown.length} more`, "all findings", all, { class: "chip more" }) : null;
  return h("div", { class: "findings-strip", role: "group", "aria-label": which ? `findings of ${which}` : "findings", hidden: findings.length === 0 }, which ? h("b", { class: "which" }, which) : null, ...chips, more);
}

/** All findings and limits of a run, for the drawer. */
export function findingsList(run: Run, found: Findings, open: (finding: Finding) => void): HTMLElement {
  const limits = found.limits.filter((limit) => limit.full);
  return h(
    "div",
    { class: "findings" },
    limits.length > 0 ? h("ul", { class: "limits" }, ...limits.map((limit) => h("li", {}, limit.text))) : null,
    found.findings.length === 0 ? h("p", { class: "note" }, `nothing stands out in ${run.name}, as far as the run can tell`) : null,
    ...found.findings.map((finding) =>
      h(
        "article",
        {},
        h("h3", {}, finding.name.replaceAll("-", " "), h("small", {}, `${elapsed(finding.from, 0.1)} – ${elapsed(finding.to, 0.1)}`)),
        h("p", {}, finding.sentence),
        button("Show it", `open ${finding.expr}`, () => open(finding), { class: "primary" }),
        h("code", {}, finding.expr),
        finding.causes.length > 0
          ? h("details", {}, h("summary", {}, "known causes"), h("ul", {}, ...finding.causes.map((cause) => h("li", {}, cause))))
          : null,
      ),
    ),
  );
}

// SPDX-License-Identifier: Apache-2.0
//
// A report: every run of a log. Two lists choose between several runs or GPUs.

import { element } from "./dom";
import type { Report, Run } from "./model";
import { runView } from "./run_view";

export function choice(name: string, labels: string[], chosen: number, pick: (index: number) => void): HTMLElement {
  const list = element(
    "select",
    { "aria-label": name },
    ...labels.map((label, i) => element("option", { value: String(i) }, label)),
  ) as HTMLSelectElement;
  list.selectedIndex = chosen;
  list.addEventListener("change", () => pick(list.selectedIndex));
  return element("label", {}, `${name} `, list);
}

export function gpuChoice(run: Run, chosen: number, pick: (index: number) => void): HTMLElement | undefined {
  if (run.gpus.length < 2) return undefined;
  const labels = run.gpus.map((gpu, i) => `${gpu.index ?? i}: ${gpu.name}`);
  return choice("GPU", labels, chosen, pick);
}

function warnings(report: Report): HTMLElement | undefined {
  const lines = [];
  if (report.unreadable_lines > 0) {
    lines.push(
      `${report.unreadable_lines} line${report.unreadable_lines > 1 ? "s" : ""} of the log could not be read ` +
        "(cut off by a crash, or written by another version); everything else is shown.",
    );
  }
  if (report.runs_left_out > 0) lines.push(`Older runs of the log are left out: ${report.runs_left_out}.`);
  if (report.runs.some((run) => !run.ended)) lines.push("The log has no end: its run was cut off, or is still going on.");
  return lines.length > 0 ? element("div", { class: "notice", role: "status" }, lines.join(" ")) : undefined;
}

export function showReport(page: HTMLElement, report: Report): void {
  let run = report.runs.length - 1;
  let gpu = 0;
  const draw = () => {
    const shown = report.runs[run];
    document.title = `${shown.title} · hypermile report`;
    const choose = element("nav", { class: "choices" });
    if (report.runs.length > 1) {
      const labels = report.runs.map((each) => each.title);
      choose.append(choice("run", labels, run, (index) => ((run = index), (gpu = 0), draw())));
    }
    const gpus = gpuChoice(shown, gpu, (index) => ((gpu = index), draw()));
    if (gpus) choose.append(gpus);
    page.replaceChildren(
      element("div", { class: "top" }, element("span", { class: "mark" }, "hypermile report"), choose),
    );
    const notice = warnings(report);
    if (notice) page.append(notice);
    page.append(runView(shown, gpu));
  };
  draw();
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    draw();
  });
}

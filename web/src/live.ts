// SPDX-License-Identifier: Apache-2.0
//
// The live page: every two seconds it asks its server which runs there are, and what is new in the
// run on show. When the server cannot be reached, it says so, keeps what it has, and continues to
// ask.

import { element, table } from "./dom";
import { clock, date, joules, signedPercent } from "./format";
import type { Overview, Run } from "./model";
import { gpuChoice } from "./report";
import { runView } from "./run_view";
import { stateName } from "./colours";

const kInterval = 2000;
const kTokenKey = "hypermile-token";

class Refused extends Error {}

// The token comes from the address's fragment, which is never sent to a server, and is then kept
// for this tab.
function knownToken(): string {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(kTokenKey, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(kTokenKey) ?? "";
}

export class LivePage {
  private token = knownToken();
  private chosen = "";
  private gpu = 0;
  private version = "";
  private run: Run | undefined;
  private readonly status = element("div", { class: "status", role: "status" });
  private readonly list = element("nav", { class: "runs" });
  private readonly body = element("div");
  private readonly jobs = element("div");
  private readonly leases = element("div");
  private wanted: number | undefined;

  constructor(page: HTMLElement) {
    const top = element("div", { class: "top" }, element("span", { class: "mark" }, "hypermile live"), this.status);
    page.replaceChildren(top, this.list, this.body, this.jobs, this.leases);
    document.title = "hypermile live";
    document.addEventListener("visibilitychange", () => document.hidden || this.soon());
    void this.round();
  }

  private soon(): void {
    window.clearTimeout(this.wanted);
    void this.round();
  }

  private async ask<Answer>(path: string): Promise<Answer | undefined> {
    const headers: Record<string, string> = this.token ? { Authorization: `Bearer ${this.token}` } : {};
    const answer = await fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(8000) });
    if (answer.status === 401) throw new Refused();
    if (answer.status === 204) return undefined;
    if (!answer.ok) throw new Error(`the server returned ${answer.status}`);
    return (await answer.json()) as Answer;
  }

  private async round(): Promise<void> {
    try {
      if (!document.hidden) await this.update();
      this.say("live", `live, ${new Date().toLocaleTimeString()}`);
    } catch (problem) {
      if (problem instanceof Refused) this.askToken();
      else this.say("lost", `the server cannot be reached (${this.reason(problem)}); asking again`);
    }
    this.wanted = window.setTimeout(() => void this.round(), kInterval);
  }

  private reason(problem: unknown): string {
    return problem instanceof Error && problem.message ? problem.message : "no answer";
  }

  private async update(): Promise<void> {
    const overview = (await this.ask<Overview>("api/overview"))!;
    const shown = overview.runs.find((line) => line.id === this.chosen) ?? overview.runs[0];
    if (shown && shown.id !== this.chosen) this.choose(shown.id);
    this.drawList(overview);
    this.drawJobs(overview);
    this.drawLeases(overview);
    if (!shown) {
      this.body.replaceChildren(element("p", {}, "No run has been logged yet; this page shows it when it begins."));
      return;
    }
    const query = `api/run?id=${encodeURIComponent(this.chosen)}&seen=${encodeURIComponent(this.version)}`;
    const told = await this.ask<{ version: string; run: Run }>(query);
    if (!told) return;
    this.version = told.version;
    this.run = told.run;
    this.drawRun();
  }

  private choose(id: string): void {
    this.chosen = id;
    this.gpu = 0;
    this.version = "";
  }

  private drawList(overview: Overview): void {
    const several = overview.runs.length > 1;
    this.list.replaceChildren(
      ...overview.problems.map((text) => element("div", { class: "notice" }, text)),
      ...(several ? overview.runs : []).map((line) => {
        const state = line.ended ? "ended" : stateName(line.state ?? "running");
        const button = element(
          "button",
          { type: "button", "aria-pressed": String(line.id === this.chosen) },
          element("strong", {}, line.title),
          element("span", {}, `${state} · ${clock(line.now_s)} · ${line.gpu ?? "no GPU yet"}`),
        );
        button.addEventListener("click", () => (this.choose(line.id), this.soon()));
        return button;
      }),
    );
  }

  private drawRun(): void {
    const run = this.run!;
    const open = [...this.body.querySelectorAll("details")].map((each) => each.open);
    const gpus = gpuChoice(run, this.gpu, (index) => ((this.gpu = index), this.drawRun()));
    this.body.replaceChildren(...(gpus ? [element("nav", { class: "choices" }, gpus)] : []), runView(run, this.gpu));
    this.body.querySelectorAll("details").forEach((each, i) => (each.open = open[i] ?? false));
  }

  private drawJobs({ jobs }: Overview): void {
    const change = (value: number | undefined) => (value === undefined ? "" : signedPercent(value));
    this.jobs.replaceChildren(
      ...jobs.map((job) => {
        const rows = job.nodes.map((node) => [
          node.node,
          String(node.gpus),
          node.job.joules === undefined ? "" : joules(node.job.joules),
          change(node.job.time_change),
          (node.kept ?? "") + (node.waits ? ", waits for the others" : ""),
        ]);
        const whole = [
          `${job.nodes.length} nodes`,
          job.joules === undefined ? "" : joules(job.joules),
          job.energy_change === undefined ? "" : `energy ${change(job.energy_change)}`,
          job.time_change === undefined ? "" : `time ${change(job.time_change)}`,
        ];
        return element(
          "section",
          {},
          element("h2", {}, `Job ${job.job ?? ""}`),
          element("p", { class: "caption" }, whole.filter((text) => text).join(" · ")),
          element("div", { class: "scroll" }, table(["node", "GPUs", "energy", "time", "kept"], rows)),
        );
      }),
    );
  }

  private drawLeases(overview: Overview): void {
    const { daemon } = overview;
    const rows = daemon.leases.flatMap((lease) =>
      lease.gpus.map((gpu) => [
        gpu.uuid,
        lease.program ?? "none: being restored",
        lease.pid === undefined ? "" : String(lease.pid),
        lease.job ?? "",
        lease.since_unix === undefined ? "" : date(lease.since_unix),
        gpu.setting.label + (gpu.restoring ? ", being restored" : ""),
      ]),
    );
    const text = daemon.reached
      ? `hypermiled ${daemon.version ?? ""}${daemon.closed ? ", closed to new leases" : ""}` +
        (rows.length === 0 ? ": no GPU is leased." : "")
      : (daemon.problem ?? "No daemon runs here.");
    this.leases.replaceChildren(
      element(
        "section",
        {},
        element("h2", {}, "Leases of the daemon"),
        element("p", { class: "caption" }, text),
        rows.length > 0
          ? element(
              "div",
              { class: "scroll" },
              table(["GPU", "program", "process", "job", "since", "requested"], rows),
            )
          : undefined,
      ),
    );
  }

  private say(kind: string, text: string): void {
    this.status.className = `status ${kind}`;
    this.status.textContent = text;
  }

  private askToken(): void {
    if (this.status.querySelector("form")) return;
    const field = element("input", { type: "password", "aria-label": "token", placeholder: "token" }) as HTMLInputElement;
    const form = element("form", {}, "this server needs its token ", field, element("button", {}, "continue"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.token = field.value;
      sessionStorage.setItem(kTokenKey, this.token);
      this.say("", "");
      this.soon();
    });
    this.status.className = "status lost";
    this.status.replaceChildren(form);
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// One run on the page: the whole job against the default first, then its charts, its decisions in words
// and its environment.

import { stateColour, stateName } from "./colours";
import { baseline, kept, keptMix, mainPhase, ordered, spans } from "./derive";
import { element, table } from "./dom";
import {
  changeWithInterval,
  clock,
  date,
  duration,
  joules,
  percent,
  signedPercent,
  significant,
  wattHours,
  withInterval,
} from "./format";
import type { Gpu, Job, Measured, Phase, Run } from "./model";
import { beyondTheEdge, forecastChart, paretoChart, settingChart } from "./setting_charts";
import {
  clockChart,
  energyChart,
  iterationChart,
  memoryChart,
  powerChart,
  stateStrip,
} from "./time_charts";

function card(name: string, value: string, note: string, mark = ""): HTMLElement {
  return element(
    "div",
    { class: `card ${mark}` },
    element("div", { class: "name" }, name),
    element("div", { class: "value" }, value),
    element("div", { class: "note" }, note),
  );
}

// The whole job, its search included: these cards come first.
function jobCards(run: Run): HTMLElement[] {
  const { job } = run;
  const against = job.compared_with === "default_run" ? "a run at the default" : "the default";
  const cards: HTMLElement[] = [];
  if (job.energy_change !== undefined) {
    cards.push(
      card(
        "energy of the whole job",
        changeWithInterval(job.energy_change, job.energy_change_interval95),
        `${joules(job.joules!)} instead of ${joules(job.default_joules!)} at ${against}, search included`,
        job.energy_change < 0 ? "good" : "",
      ),
    );
  }
  if (job.time_change !== undefined) {
    const bound = run.bound === undefined ? "no bound" : `${percent(run.bound, 1)} allowed`;
    cards.push(
      card(
        "time of the whole job",
        changeWithInterval(job.time_change, job.time_change_interval95),
        `${clock(job.seconds)} instead of ${clock(job.default_seconds!)} at ${against}, ${bound}`,
        run.bound === undefined || job.time_change <= run.bound ? "" : "bad",
      ),
    );
  }
  if (job.kwh !== undefined) cards.push(billCard(job));
  return cards;
}

// Kilowatt-hours, and what they cost and emitted where the run was told.
function billCard(job: Job): HTMLElement {
  const grams = (value: number) => (value < 1e3 ? `${significant(value, 3)} g` : `${significant(value / 1e3, 3)} kg`);
  const notes = [job.host_joules === undefined ? "GPUs alone" : `GPUs, and ${joules(job.host_joules)} of the host`];
  if (job.cost !== undefined) {
    const saved = job.saved_cost === undefined ? "" : ` (saved ${significant(job.saved_cost, 3)})`;
    notes.push(`${significant(job.cost, 3)} ${job.currency}${saved}`);
  }
  if (job.co2e_g !== undefined) {
    const saved = job.saved_co2e_g === undefined ? "" : ` (saved ${grams(job.saved_co2e_g)})`;
    notes.push(`${grams(job.co2e_g)} CO₂e${saved}`);
  }
  return card("electricity of the whole job", `${significant(job.kwh!, 3)} kWh`, notes.join("; "));
}

function windows(of: Measured): string {
  return `${of.windows} window${of.windows === 1 ? "" : "s"}`;
}

// The kept mix in words.
function mixLine(run: Run, phase: Phase | undefined): HTMLElement | undefined {
  const mix = phase && keptMix(run, phase);
  if (!mix) return undefined;
  const change = mix.change_text ? `: ${mix.change_text}` : "";
  return element("p", { class: "mix" }, `Kept: ${mix.setting.label}${change} (per iteration, from ${windows(mix)}).`);
}

// One iteration at the kept setting or mix against the default.
function keptCards(base: Measured, held: Measured, what: "setting" | "mix"): HTMLElement[] {
  const cards = [];
  if (held.energy_change !== undefined) {
    cards.push(
      card(
        `at the kept ${what}: energy per iteration`,
        changeWithInterval(held.energy_change, held.energy_change_interval95),
        `${withInterval(base.energy_per_iteration_j!, base.energy_interval95_j, 1)} → ` +
          `${withInterval(held.energy_per_iteration_j!, held.energy_interval95_j, 1)} J`,
      ),
    );
  }
  cards.push(
    card(
      `at the kept ${what}: time per iteration`,
      changeWithInterval(held.time_change!, held.time_change_interval95),
      `${duration(base.time_per_iteration_s)} → ${duration(held.time_per_iteration_s)}`,
    ),
  );
  if (what === "setting") cards.push(card("kept setting", held.setting.label, windows(held)));
  return cards;
}

function baseCards(base: Measured): HTMLElement[] {
  const cards = [card("time per iteration", duration(base.time_per_iteration_s), "at the default")];
  if (base.energy_per_iteration_j === undefined) return cards;
  const energy = withInterval(base.energy_per_iteration_j, base.energy_interval95_j, 1);
  return [card("energy per iteration", `${energy} J`, "at the default"), ...cards];
}

function nowCard(gpu: Gpu): HTMLElement {
  const now = gpu.now;
  return card(
    "now",
    now.power_w === undefined ? "–" : `${now.power_w.toFixed(0)} W`,
    [
      now.sm_mhz === undefined ? "" : `${now.sm_mhz.toFixed(0)} MHz`,
      now.temperature_c === undefined ? "" : `${now.temperature_c.toFixed(0)} °C`,
      gpu.throttled ? "held back" : "",
    ]
      .filter(Boolean)
      .join(", "),
  );
}

function cards(run: Run, gpu: Gpu, phase: Phase | undefined): HTMLElement {
  const row = element("div", { class: "cards" }, ...jobCards(run));
  const base = phase && baseline(phase);
  const mix = phase && keptMix(run, phase);
  const held = mix ?? (phase && kept(phase));
  if (base && held && held !== base) row.append(...keptCards(base, held, mix ? "mix" : "setting"));
  else if (base) row.append(...baseCards(base));
  if (!run.ended) row.append(nowCard(gpu));
  else if (run.job.joules !== undefined && run.job.energy_change === undefined) {
    const used = run.job.joules;
    row.append(card("energy of the whole job", joules(used), `${wattHours(used)} in ${clock(run.job.seconds)}`));
  }
  return row;
}

function legend(run: Run): HTMLElement {
  const seen = [...new Set(spans(run).map((span) => span.state))];
  return element(
    "ul",
    { class: "legend" },
    ...seen.map((state) =>
      element(
        "li",
        {},
        element("span", { class: "swatch", style: `background:${stateColour(state)}` }),
        stateName(state),
      ),
    ),
  );
}

function figure(caption: string, ...charts: (Element | undefined)[]): HTMLElement | undefined {
  const drawn = charts.filter((chart): chart is Element => chart !== undefined);
  if (drawn.length === 0) return undefined;
  return element("figure", {}, ...drawn, element("figcaption", {}, caption));
}

function section(title: string, ...children: (Node | undefined)[]): HTMLElement | undefined {
  const shown = children.filter((child): child is Node => child !== undefined);
  if (shown.length === 0) return undefined;
  return element("section", {}, element("h2", {}, title), ...shown);
}

function settingsTable(phase: Phase): HTMLElement {
  const cell = (value: number | undefined, half: number | undefined, scale = 1) =>
    value === undefined ? "" : withInterval(value, half, scale);
  const rows = ordered(phase.settings).map((each) => [
    each.setting.label + (each.kept ? " ★" : ""),
    cell(each.time_per_iteration_s, each.time_interval95_s, 1e3),
    cell(each.energy_per_iteration_j, each.energy_interval95_j),
    cell(each.power_w, each.power_interval95_w),
    each.time_change === undefined ? "" : signedPercent(each.time_change),
    each.energy_change === undefined ? "" : signedPercent(each.energy_change),
    `${each.windows}${each.unusable > 0 ? ` (+${each.unusable} unusable)` : ""}`,
  ]);
  const head = ["setting", "ms/iteration", "J/iteration", "W", "time", "energy", "windows"];
  return element(
    "details",
    {},
    element("summary", {}, "the same as a table"),
    element("div", { class: "scroll" }, table(head, rows, "numbers")),
  );
}

function phaseSections(run: Run, gpu: Gpu, phase: Phase): (HTMLElement | undefined)[] {
  const pair = (...charts: (Element | undefined)[]) => {
    const drawn = charts.filter((chart): chart is Element => chart !== undefined);
    return drawn.length > 0 ? element("div", { class: "pair" }, ...drawn) : undefined;
  };
  const energyIsScore = run.objective === "energy" && Number(run.environment.host_watts ?? 0) === 0;
  return [
    section(
      "Time and energy per iteration, by setting",
      pair(settingChart(phase, "time", run.bound), settingChart(phase, "energy", undefined)),
      element("p", { class: "caption" }, "Means over windows with 95 % intervals; ★ is the kept setting."),
      settingsTable(phase),
    ),
    section(
      "Expected and measured",
      pair(
        forecastChart(phase, "slowdown", run.bound),
        energyIsScore ? forecastChart(phase, "score", undefined) : undefined,
      ),
      phase.forecast.length > 0
        ? element(
            "p",
            { class: "caption" },
            "Dotted: expected before the search. Line and band: expected at the last decision, with its 95 % " +
              "interval. Points: measured.",
          )
        : undefined,
    ),
    section(
      "Slowdown against energy",
      figure(
        "The step line is the Pareto front of what was measured" +
          (gpu.oracle ? "; the diamond is the best setting, known to the simulator alone." : ".") +
          (beyondTheEdge(run, phase) > 0 ? ` Settings too slow to be shown here: ${beyondTheEdge(run, phase)}.` : ""),
        paretoChart(run, gpu, phase),
      ),
    ),
  ];
}

function timeSection(run: Run, gpu: Gpu, phase: Phase | undefined): HTMLElement | undefined {
  const base = phase && baseline(phase);
  const slowest = base && run.bound !== undefined ? base.time_per_iteration_s * (1 + run.bound) : undefined;
  const charts = [
    powerChart(run, gpu),
    clockChart(run, gpu),
    memoryChart(run, gpu),
    phase && iterationChart(run, phase, base?.time_per_iteration_s, slowest),
    phase && energyChart(run, phase, base?.energy_per_iteration_j),
  ].filter((chart): chart is Element => chart !== undefined);
  if (charts.length === 0) return undefined;
  const strip = run.states.length > 0 ? [legend(run), stateStrip(run)] : [];
  return section(
    "Over time",
    element("div", { class: "stack" }, ...strip, ...charts),
    element(
      "p",
      { class: "caption" },
      "Bands reach from the least to the greatest value of each interval. Dashed on the SM clock: the requested ceiling.",
    ),
  );
}

// Lines about another GPU than the one on show are its twins' decisions.
function decisions(run: Run, gpu: Gpu | undefined): HTMLElement {
  const kShown = 80; // rows that stand open; the earlier ones unfold
  const told = run.told.filter((line) => !line.gpu || !gpu || line.gpu === gpu.uuid);
  const rows = told.map((line) => [
    clock(line.t),
    element("span", { class: `kind ${line.kind}` }, line.kind),
    line.text,
  ]);
  if (run.told_left_out > 0) {
    const head = run.told.slice(0, run.told_head).filter((line) => told.includes(line)).length;
    rows.splice(head, 0, ["…", "", `${run.told_left_out} lines are left out here`]);
  }
  const head = ["time", "", "what happened"];
  if (rows.length <= kShown) return element("div", { class: "words" }, table(head, rows));
  const earlier = rows.slice(0, rows.length - kShown);
  return element(
    "div",
    { class: "words" },
    element(
      "details",
      { class: "earlier" },
      element("summary", {}, `${earlier.length} earlier lines`),
      table(head, earlier),
    ),
    table(head, rows.slice(rows.length - kShown)),
  );
}

function environment(run: Run): HTMLElement {
  const gpus = run.gpus.map((gpu) => [
    gpu.index === undefined ? "GPU" : `GPU ${gpu.index}`,
    `${gpu.name}, driver ${gpu.driver}, ${gpu.uuid}`,
  ]);
  const rows = [
    ["command", run.command.join(" ")],
    ["program", run.program],
    ["run", run.run],
    ["log", run.file],
    ["began", run.started > 0 ? date(run.started) : "not known"],
    ...gpus,
    ...Object.entries(run.environment),
  ];
  return table(["", ""], rows, "plain");
}

function headline(run: Run, gpu?: Gpu): HTMLElement {
  const card = gpu?.name || run.gpu;
  const state = run.ended ? (run.end?.reason ?? "ended") : stateName(run.state ?? "running");
  return element(
    "header",
    {},
    element("h1", {}, run.title),
    element(
      "p",
      { class: "badges" },
      run.simulated
        ? element("span", { class: "badge warn" }, "simulated, not measured on a GPU")
        : element("span", { class: "badge" }, "measured"),
      element("span", { class: "badge state" }, state),
      card ? element("span", { class: "badge" }, card) : undefined,
      run.policy ? element("span", { class: "badge" }, `policy ${run.policy}`) : undefined,
      element("span", { class: "badge" }, clock(run.now_s)),
    ),
    !run.ended && run.state_reason ? element("p", { class: "reason" }, run.state_reason) : undefined,
  );
}

export function runView(run: Run, gpuIndex: number): HTMLElement {
  const gpu = run.gpus[gpuIndex] ?? run.gpus[0];
  const phase = gpu && mainPhase(gpu);
  const view = element("article", {}, headline(run, gpu));
  if (!gpu) {
    view.append(element("p", {}, "No GPU has been seen yet."));
  } else {
    view.append(cards(run, gpu, phase));
    const parts = [mixLine(run, phase), timeSection(run, gpu, phase), ...(phase && phase.settings.length > 0 ? phaseSections(run, gpu, phase) : [])];
    for (const part of parts) if (part) view.append(part);
  }
  view.append(section("Decisions, in words", decisions(run, gpu))!);
  view.append(section("Environment", environment(run))!);
  return view;
}

// SPDX-License-Identifier: Apache-2.0
//
// One run on the page: its result, its charts, its decisions in words, its environment.

import { stateColour, stateName } from "./colours";
import { baseline, kept, mainPhase, ordered, spans } from "./derive";
import { element, table } from "./dom";
import { clock, date, duration, joules, percent, signedPercent, wattHours, withInterval } from "./format";
import type { Gpu, Measured, Phase, Run } from "./model";
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

function interval(error: number | undefined): string {
  return error === undefined ? "" : ` ± ${percent(1.96 * error, 1)}`;
}

function savingCards(run: Run, base: Measured, held: Measured, phase: Phase): HTMLElement[] {
  const bound = run.bound === undefined ? "no bound" : `${percent(run.bound, 1)} allowed`;
  const within = run.bound === undefined || held.slowdown! <= run.bound;
  const cards = [
    card(
      "energy per iteration",
      signedPercent(-held.saved!) + interval(held.saved_error),
      `${withInterval(base.energy_j, base.energy_j_error, 1)} → ` +
        `${withInterval(held.energy_j, held.energy_j_error, 1)} J`,
      held.saved! > 0 ? "good" : "",
    ),
    card(
      "time per iteration",
      signedPercent(held.slowdown!) + interval(held.slowdown_error),
      `${duration(base.time_s)} → ${duration(held.time_s)}, ${bound}`,
      within ? "" : "bad",
    ),
  ];
  if (phase.saved_j !== undefined) {
    cards.push(
      card("saved in measured Windows", joules(phase.saved_j), `${wattHours(phase.saved_j)}, search included`),
    );
  }
  return cards;
}

function cards(run: Run, gpu: Gpu, phase: Phase | undefined): HTMLElement {
  const row = element("div", { class: "cards" });
  const base = phase && baseline(phase);
  const held = phase && kept(phase);
  if (phase && base && held && held !== base) {
    row.append(...savingCards(run, base, held, phase));
    row.append(card("Setting kept", held.setting.label, `${held.windows} Windows`));
  } else if (base) {
    row.append(
      card("energy per iteration", `${withInterval(base.energy_j, base.energy_j_error, 1)} J`, "at the default"),
      card("time per iteration", duration(base.time_s), "at the default"),
    );
  }
  if (!run.ended) {
    const now = gpu.now;
    row.append(
      card(
        "now",
        now.power_w === undefined ? "–" : `${now.power_w.toFixed(0)} W`,
        [
          now.sm_mhz === undefined ? "" : `${now.sm_mhz.toFixed(0)} MHz`,
          now.temperature_c === undefined ? "" : `${now.temperature_c.toFixed(0)} °C`,
          gpu.throttled ? "held back" : "",
        ]
          .filter(Boolean)
          .join(", "),
      ),
    );
  } else if (gpu.energy_j !== undefined) {
    row.append(card("energy of the run", joules(gpu.energy_j), `${wattHours(gpu.energy_j)} in ${clock(run.now_s)}`));
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
  const rows = ordered(phase.settings).map((each) => [
    each.setting.label + (each.kept ? " ★" : ""),
    withInterval(each.time_s, each.time_s_error, 1e3),
    withInterval(each.energy_j, each.energy_j_error, 1),
    withInterval(each.power_w, each.power_w_error, 1),
    each.slowdown === undefined ? "" : signedPercent(each.slowdown),
    each.saved === undefined ? "" : signedPercent(-each.saved),
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
      pair(settingChart(phase, "time_s", run.bound), settingChart(phase, "energy_j", undefined)),
      element("p", { class: "caption" }, "Means of usable windows with 95 % intervals; ★ is the setting kept."),
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
          (gpu.oracle ? "; the diamond is the best setting, which only the simulator knows." : ".") +
          (beyondTheEdge(run, phase) > 0 ? ` Settings too slow to be shown here: ${beyondTheEdge(run, phase)}.` : ""),
        paretoChart(run, gpu, phase),
      ),
    ),
  ];
}

function timeSection(run: Run, gpu: Gpu, phase: Phase | undefined): HTMLElement | undefined {
  const base = phase && baseline(phase);
  const slowest = base && run.bound !== undefined ? base.time_s * (1 + run.bound) : undefined;
  const charts = [
    powerChart(run, gpu),
    clockChart(run, gpu),
    memoryChart(run, gpu),
    phase && iterationChart(run, phase, base?.time_s, slowest),
    phase && energyChart(run, phase, base?.energy_j),
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

function decisions(run: Run): HTMLElement {
  const rows = run.told.map((line) => [
    clock(line.t),
    element("span", { class: `kind ${line.kind}` }, line.kind),
    line.text,
  ]);
  if (run.told_left_out > 0) {
    rows.splice(run.told_head, 0, ["…", "", `${run.told_left_out} lines are left out here`]);
  }
  return element("div", { class: "scroll words", tabindex: "0" }, table(["time", "", "what happened"], rows));
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
    const parts = [timeSection(run, gpu, phase), ...(phase && phase.settings.length > 0 ? phaseSections(run, gpu, phase) : [])];
    for (const part of parts) if (part) view.append(part);
  }
  view.append(section("Decisions, in words", decisions(run))!);
  view.append(section("Environment", environment(run))!);
  return view;
}

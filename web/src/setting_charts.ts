// SPDX-License-Identifier: Apache-2.0
//
// Charts of settings: measured time and energy with their intervals, expectations against
// measurements, and the Pareto front.

import * as Plot from "@observablehq/plot";
import { colour } from "./colours";
import { curve, ordered, paretoFront } from "./derive";
import { changeWithInterval, significant, withInterval } from "./format";
import { chartWidth } from "./time_charts";
import type { ForecastPoint, Gpu, Measured, Phase, Run } from "./model";

// Two charts stand side by side where there is room.
const halfWidth = () => Math.min(530, chartWidth());
const kSure = 1.96; // standard deviations of a forecast on either side of its mean

function role(each: Measured): "default" | "kept" | "tried" {
  if (each.setting.label === "default") return "default";
  return each.kept ? "kept" : "tried";
}

const roles = {
  domain: ["default", "kept", "tried"],
  range: [colour.default, colour.kept, colour.other],
};
const symbols = { domain: roles.domain, range: ["square", "star", "circle"] };

// A setting far beyond the bound would squeeze all others into a corner, so it is shown at the edge.
export function farthest(bound: number | undefined): number {
  return Math.max(0.15, 3 * (bound ?? 0.05));
}

type Quantity = "time" | "energy";

// One row per setting: mean and 95 % interval.
export function settingChart(phase: Phase, quantity: Quantity, bound: number | undefined): Element {
  const time = quantity === "time";
  const mean = (each: Measured) => (time ? each.time_per_iteration_s : each.energy_per_iteration_j);
  const interval = (each: Measured) => (time ? each.time_interval95_s : each.energy_interval95_j);
  const settings = ordered(phase.settings).filter((each) => mean(each) !== undefined);
  const scale = time ? 1e3 : 1;
  const unit = time ? "ms" : "J";
  const name = `${quantity} per iteration`;
  const value = (each: Measured) => mean(each)! * scale;
  const half = (each: Measured) => (interval(each) ?? 0) * scale;
  const base = settings.find((each) => each.setting.label === "default");
  const most = time && bound !== undefined && base ? [value(base) * (1 + bound)] : [];
  const edge = base ? value(base) * (1 + farthest(bound)) : Infinity;
  const near = settings.filter((each) => value(each) <= edge);
  const far = settings.filter((each) => value(each) > edge);
  return Plot.plot({
    width: halfWidth(),
    height: 74 + 22 * settings.length,
    marginLeft: halfWidth() < 400 ? 130 : 172,
    marginRight: 24,
    ariaLabel: `${name} by setting with 95 % intervals`,
    x: { label: `${name}, ${unit} →`, grid: true, nice: true },
    y: { domain: settings.map((each) => each.setting.label), label: null, tickSize: 0 },
    color: roles,
    symbol: symbols,
    r: { type: "identity" },
    marks: [
      Plot.ruleX(most, { stroke: colour.bound, strokeDasharray: "6,4" }),
      Plot.text(most, {
        x: (x: number) => x,
        frameAnchor: "top",
        text: () => "bound",
        dy: -10,
        fill: colour.bound,
      }),
      Plot.text(far, {
        y: (each: Measured) => each.setting.label,
        frameAnchor: "right",
        text: (each: Measured) => `${significant(value(each))} →`,
        fill: "currentColor",
      }),
      Plot.ruleY(near, {
        y: (each: Measured) => each.setting.label,
        x1: (each: Measured) => value(each) - half(each),
        x2: (each: Measured) => value(each) + half(each),
        stroke: role,
        strokeWidth: 2,
        marker: "tick",
      }),
      Plot.dot(near, {
        y: (each: Measured) => each.setting.label,
        x: value,
        fill: role,
        symbol: role,
        r: (each: Measured) => (role(each) === "kept" ? 7 : 4.5),
        title: (each: Measured) =>
          `${each.setting.label}\n` +
          `${withInterval(mean(each)!, interval(each), scale)} ${unit}\n` +
          `${each.windows} windows, ${Math.round(each.iterations)} iterations`,
        tip: { fill: "var(--card)" },
      }),
    ],
  });
}

type Expected = "slowdown" | "score";

function expectation(points: (ForecastPoint & { x: number })[], quantity: Expected) {
  const offset = quantity === "score" ? 1 : 0;
  return points.map((p) => {
    const mean = 100 * (p[quantity] - offset);
    const half = 100 * kSure * (quantity === "score" ? p.score_sd : p.slowdown_sd);
    return { x: p.x, mean, low: mean - half, high: mean + half };
  });
}

// What the policy expected before the search and at its last decision, and what was measured.
export function forecastChart(phase: Phase, quantity: Expected, bound: number | undefined): Element | undefined {
  const line = curve(phase);
  if (!line) return undefined;
  const slow = quantity === "slowdown";
  const expected = expectation(line.expected, quantity);
  const before = expectation(line.before, quantity);
  const value = (m: Measured) => 100 * (slow ? m.time_change! : m.energy_change!);
  const half = (m: Measured) => 100 * ((slow ? m.time_change_interval95 : m.energy_change_interval95) ?? 0);
  return Plot.plot({
    width: halfWidth(),
    height: 300,
    marginLeft: 48,
    marginRight: 20,
    ariaLabel: `expected against measured ${slow ? "slowdown" : "energy"} by clock`,
    x: { label: `${line.unit} →`, tickFormat: (x: number) => String(x), nice: true },
    y: { label: slow ? "↑ slower than the default, %" : "↑ energy against the default, %", grid: true },
    color: roles,
    symbol: symbols,
    r: { type: "identity" },
    marks: [
      Plot.areaY(expected, { x: "x", y1: "low", y2: "high", fill: colour.expected, fillOpacity: 0.2 }),
      Plot.line(before, { x: "x", y: "mean", stroke: "currentColor", strokeDasharray: "2,4", strokeOpacity: 0.7 }),
      Plot.line(expected, { x: "x", y: "mean", stroke: colour.expected, strokeWidth: 2 }),
      Plot.ruleY(slow && bound !== undefined ? [100 * bound] : [], {
        stroke: colour.bound,
        strokeDasharray: "6,4",
      }),
      Plot.ruleX(line.measured, {
        x: "x",
        y1: (m: Measured) => value(m) - half(m),
        y2: (m: Measured) => value(m) + half(m),
        stroke: role,
        strokeWidth: 2,
        marker: "tick",
      }),
      Plot.dot(line.measured, {
        x: "x",
        y: value,
        fill: role,
        symbol: role,
        r: (m: Measured) => (role(m) === "kept" ? 7 : 4.5),
        title: (m: Measured) => `${m.setting.label}, measured\n${value(m).toFixed(2)} ± ${half(m).toFixed(2)} %`,
        tip: { fill: "var(--card)" },
      }),
    ],
  });
}

interface Marked {
  x: number;
  y: number;
  text: string;
  fill: string;
}

function labels(phase: Phase, gpu: Gpu): Marked[] {
  const marked: Marked[] = [];
  for (const each of phase.settings) {
    if (each.time_change === undefined || role(each) === "tried") continue;
    const text = role(each) === "kept" ? `kept: ${each.setting.label}` : "default";
    const fill = role(each) === "kept" ? colour.kept : colour.default;
    marked.push({ x: 100 * each.time_change, y: 100 * each.energy_change!, text, fill });
  }
  if (gpu.oracle?.slowdown !== undefined && gpu.oracle.saved !== undefined) {
    marked.push({
      x: 100 * gpu.oracle.slowdown,
      y: -100 * gpu.oracle.saved,
      text: `true best: ${gpu.oracle.setting.label}`,
      fill: colour.oracle,
    });
  }
  return marked;
}

// Of the kept and the best setting, which may lie close together, the upper one has its name above it.
function labelShift(label: Marked, all: Marked[]): number {
  if (label.fill === colour.default) return 0;
  const rank = (each: Marked) => each.y + (each.fill === colour.kept ? 1e-9 : 0);
  const lower = all.some((other) => other.fill !== colour.default && rank(other) > rank(label));
  return lower ? 11 : -9;
}

// The settings that the chart has room for.
function comparable(run: Run, phase: Phase): Measured[] {
  return phase.settings.filter((each) => each.time_change !== undefined && each.time_change <= farthest(run.bound));
}

export function beyondTheEdge(run: Run, phase: Phase): number {
  return phase.settings.filter((each) => each.time_change !== undefined).length - comparable(run, phase).length;
}

export function paretoChart(run: Run, gpu: Gpu, phase: Phase): Element | undefined {
  const compared = comparable(run, phase);
  if (compared.length < 2) return undefined;
  const marked = labels(phase, gpu);
  const x = (m: Measured) => 100 * m.time_change!;
  const y = (m: Measured) => 100 * m.energy_change!;
  const dx = (m: Measured) => 100 * (m.time_change_interval95 ?? 0);
  const dy = (m: Measured) => 100 * (m.energy_change_interval95 ?? 0);
  const bound = run.bound === undefined ? [] : [100 * run.bound];
  const oracle = marked.filter((each) => each.fill === colour.oracle);
  return Plot.plot({
    width: chartWidth(),
    height: 380,
    marginLeft: 52,
    marginRight: chartWidth() < 600 ? 90 : 150,
    inset: 8,
    ariaLabel: "slowdown against energy of every setting measured, with the Pareto front",
    x: { label: "slower than the default, % →", grid: true, nice: true },
    y: { label: "↑ energy against the default, %", grid: true, nice: true },
    color: roles,
    symbol: symbols,
    r: { type: "identity" },
    marks: [
      Plot.ruleX(bound, { stroke: colour.bound, strokeWidth: 1.5, strokeDasharray: "6,4" }),
      Plot.text(bound, {
        x: (b: number) => b,
        frameAnchor: "top",
        textAnchor: "start",
        dx: 6,
        dy: 2,
        text: (b: number) => `bound ${b.toFixed(1)} %`,
        fill: colour.bound,
      }),
      Plot.line(paretoFront(compared), { x, y, stroke: "currentColor", strokeOpacity: 0.5, curve: "step-after" }),
      Plot.ruleY(compared, { y, x1: (m) => x(m) - dx(m), x2: (m) => x(m) + dx(m), stroke: role }),
      Plot.ruleX(compared, { x, y1: (m) => y(m) - dy(m), y2: (m) => y(m) + dy(m), stroke: role }),
      Plot.dot(oracle, { x: "x", y: "y", symbol: "diamond", r: 7, fill: colour.oracle, stroke: "var(--card)" }),
      Plot.dot(compared, {
        x,
        y,
        fill: role,
        symbol: role,
        r: (m: Measured) => (role(m) === "kept" ? 8 : 5),
        title: (m: Measured) =>
          `${m.setting.label}\n` +
          `time ${changeWithInterval(m.time_change!, m.time_change_interval95)}\n` +
          `energy ${changeWithInterval(m.energy_change!, m.energy_change_interval95)}`,
        tip: { fill: "var(--card)" },
      }),
      ...marked.map((label) => Plot.text([label], {
        x: "x",
        y: "y",
        text: "text",
        textAnchor: "start",
        dx: 13,
        dy: labelShift(label, marked),
        fill: (m: Marked) => m.fill,
        stroke: "var(--card)",
        strokeWidth: 4,
        fontSize: 12,
        fontWeight: 600,
      })),
    ],
  });
}

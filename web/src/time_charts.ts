// SPDX-License-Identifier: Apache-2.0
//
// Charts of quantities over the time of a run, with the Controller's states as shading.

import * as Plot from "@observablehq/plot";
import { colour, stateColour, stateName } from "./colours";
import { points, spans, type Point } from "./derive";
import { clock, significant } from "./format";
import type { Gpu, Phase, Run, Series } from "./model";

// The drawing is as wide as its section, so that its text keeps its size on a small screen.
export function chartWidth(): number {
  const kFull = 1080;
  const kAround = window.innerWidth <= 640 ? 50 : 86; // padding and borders on both sides
  return Math.max(280, Math.min(kFull, document.documentElement.clientWidth - kAround));
}
const kMargins = { marginLeft: 62, marginRight: 16 };

// Few ticks at whole minutes or hours, however long the run is.
export function timeTicks(end: number, most = 10): number[] {
  const steps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400];
  const step = steps.find((each) => end / each <= most) ?? 86400 * Math.ceil(end / 86400 / most);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
}

function timeAxis(run: Run, label: string | null) {
  return Plot.axisX(timeTicks(run.now_s, Math.max(3, Math.floor(chartWidth() / 108))), { tickFormat: clock, label, labelAnchor: "right" });
}

function shading(run: Run): Plot.Markish[] {
  return [
    Plot.rectX(spans(run), {
      x1: "from",
      x2: "to",
      fill: (span: { state: string }) => stateColour(span.state),
      fillOpacity: 0.18,
    }),
  ];
}

function band(series: Point[], stroke: string): Plot.Markish[] {
  return [
    Plot.areaY(series, { x: "t", y1: "low", y2: "high", fill: stroke, fillOpacity: 0.25 }),
    Plot.lineY(series, { x: "t", y: "mean", stroke, strokeWidth: 1.6 }),
  ];
}

function reader(series: Point[], unit: string): Plot.Markish[] {
  const title = (p: Point) =>
    `${clock(p.t)}\n${significant(p.mean)} ${unit}` +
    (p.high > p.low ? `\n${significant(p.low)} to ${significant(p.high)} ${unit}` : "");
  return [
    Plot.ruleX(series, Plot.pointerX({ x: "t", stroke: "currentColor", strokeOpacity: 0.4 })),
    Plot.tip(series, Plot.pointerX({ x: "t", y: "mean", title, fill: "var(--card)" })),
  ];
}

interface Frame {
  run: Run;
  label: string;
  describe: string;
  marks: Plot.Markish[];
  height?: number;
  reach?: [number, number]; // range of the axis (default: from 0); values beyond are cut off
}

function draw({ run, label, describe, marks, height = 190, reach }: Frame): Element {
  const y: Plot.ScaleOptions = { label, grid: true, nice: true, tickFormat: (value: number) => String(value) };
  if (reach) y.domain = reach;
  else y.zero = true;
  return Plot.plot({
    width: chartWidth(),
    height,
    ...kMargins,
    ariaLabel: describe,
    x: { domain: [0, Math.max(run.now_s, 1)] },
    y,
    clip: true,
    marks: [...shading(run), ...marks, timeAxis(run, null)],
  });
}

// A bar of the states, with their names where they fit.
export function stateStrip(run: Run): Element {
  const all = spans(run);
  const wide = all.filter((span) => (span.to - span.from) / Math.max(run.now_s, 1) > 97 / chartWidth());
  return Plot.plot({
    width: chartWidth(),
    height: 34,
    ...kMargins,
    marginTop: 4,
    marginBottom: 4,
    ariaLabel: "states of the controller over time",
    x: { domain: [0, Math.max(run.now_s, 1)], axis: null },
    marks: [
      Plot.rectX(all, {
        x1: "from",
        x2: "to",
        fill: (span: { state: string }) => stateColour(span.state),
        fillOpacity: 0.55,
        title: (s: { state: string; from: number; to: number }) =>
          `${stateName(s.state)}, ${clock(s.from)} to ${clock(s.to)}`,
        tip: true,
      }),
      Plot.text(wide, {
        x: (span: { from: number; to: number }) => (span.from + span.to) / 2,
        text: (span: { state: string }) => stateName(span.state),
        fill: "currentColor",
        fontWeight: 600,
      }),
    ],
  });
}

export function powerChart(run: Run, gpu: Gpu): Element | undefined {
  const series = points(gpu.power_w);
  if (series.length === 0) return undefined;
  const limit = points(gpu.limit_w);
  return draw({
    run,
    label: "↑ board power, W",
    describe: "board power over time",
    marks: [
      ...band(series, colour.power),
      Plot.lineY(limit, {
        x: "t",
        y: "mean",
        stroke: "currentColor",
        strokeDasharray: "2,4",
        strokeOpacity: 0.7,
      }),
      Plot.text(limit.slice(-1), {
        x: "t",
        y: "mean",
        text: () => "power limit",
        dy: 9,
        textAnchor: "end",
        fill: "currentColor",
      }),
      ...reader(series, "W"),
    ],
  });
}

// The requested clock ceiling, as steps; a gap where the driver chose.
function ceiling(run: Run, gpu: Gpu): { t: number; mhz?: number }[] {
  const steps = gpu.asked.map((each) => ({ t: each.t, mhz: each.sm_mhz }));
  const last = steps[steps.length - 1];
  return last ? [...steps, { t: run.now_s, mhz: last.mhz }] : [];
}

function clockReach(series: Point[], asked: { mhz?: number }[]): [number, number] {
  const seen = series.flatMap((p) => [p.low, p.high]).concat(asked.flatMap((each) => each.mhz ?? []));
  // An idle card at its lowest clock would squeeze the rest of the chart.
  const high = Math.max(...seen);
  return [Math.max(Math.min(...seen), 0.4 * high), 1.02 * high];
}

export function clockChart(run: Run, gpu: Gpu): Element | undefined {
  const series = points(gpu.sm_mhz);
  const asked = ceiling(run, gpu);
  if (series.length === 0 && asked.length === 0) return undefined;
  return draw({
    run,
    label: "↑ SM clock, MHz",
    describe: "SM clock over time, observed and requested",
    reach: clockReach(series, asked),
    marks: [
      ...band(series, colour.clock),
      Plot.line(asked, {
        x: "t",
        y: "mhz",
        curve: "step-after",
        stroke: "currentColor",
        strokeWidth: 1.2,
        strokeDasharray: "4,3",
      }),
      ...reader(series, "MHz"),
    ],
  });
}

export function memoryChart(run: Run, gpu: Gpu): Element | undefined {
  const series = points(gpu.mem_mhz);
  const [first] = series;
  if (!first || series.every((p) => p.low === first.low && p.high === first.low)) return undefined;
  return draw({
    run,
    label: "↑ memory clock, MHz",
    describe: "memory clock over time",
    height: 120,
    marks: [...band(series, colour.memory), ...reader(series, "MHz")],
  });
}

function perIteration(run: Run, series: Series, scale: number, bound: number | undefined) {
  const scaled = points(series).map((p) => ({
    t: p.t,
    mean: p.mean * scale,
    low: p.low * scale,
    high: p.high * scale,
  }));
  const rule = bound === undefined ? [] : [bound * scale];
  return { scaled, rule, run };
}

// A range around the default and the bound; a probe that is far too slow lies outside.
function iterationReach(series: Point[], base: number | undefined, most: number): [number, number] | undefined {
  if (series.length === 0) return undefined;
  const low = Math.min(...series.map((p) => p.low));
  const high = Math.max(...series.map((p) => p.high));
  const cap = base === undefined ? high : Math.max(base * most, low * 1.02);
  return [0.98 * low, Math.min(1.02 * high, cap)];
}

export function iterationChart(
  run: Run,
  phase: Phase,
  base: number | undefined,
  slowest: number | undefined,
): Element | undefined {
  const { scaled, rule } = perIteration(run, phase.time_s, 1e3, slowest);
  if (scaled.length === 0) return undefined;
  return draw({
    run,
    label: "↑ iteration, ms",
    describe: "time per iteration over time, with the bound",
    reach: iterationReach(scaled, base && base * 1e3, 1.2),
    marks: [
      ...band(scaled, colour.time),
      Plot.dot(scaled.length < 200 ? scaled : [], { x: "t", y: "mean", r: 2, fill: colour.time }),
      Plot.ruleY(rule, { stroke: colour.bound, strokeWidth: 1.5, strokeDasharray: "6,4" }),
      Plot.text(rule, {
        frameAnchor: "right",
        y: (value: number) => value,
        text: () => "bound",
        dy: -7,
        dx: -4,
        fill: colour.bound,
      }),
      ...reader(scaled, "ms"),
    ],
  });
}

export function energyChart(run: Run, phase: Phase, base: number | undefined): Element | undefined {
  const { scaled } = perIteration(run, phase.energy_j, 1, undefined);
  if (scaled.length === 0) return undefined;
  return draw({
    run,
    label: "↑ iteration, J",
    describe: "energy per iteration over time",
    reach: iterationReach(scaled, base, 1.1),
    marks: [
      ...band(scaled, colour.energy),
      Plot.dot(scaled.length < 200 ? scaled : [], { x: "t", y: "mean", r: 2, fill: colour.energy }),
      ...reader(scaled, "J"),
    ],
  });
}

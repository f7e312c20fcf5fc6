// SPDX-License-Identifier: Apache-2.0
//
// What charts need beyond the program's data: spans of states, the Pareto front, the order of
// settings, and the line of settings that a forecast is about. No figures are computed here.

import type { ForecastPoint, Gpu, Measured, Phase, Run, Series, Setting } from "./model";

export interface Span {
  from: number;
  to: number;
  state: string;
}

export interface Point {
  t: number;
  mean: number;
  low: number;
  high: number;
}

// Neighbours in the same state are one span; a span too short to be seen joins its neighbour.
export function spans(run: Run, pixels = 1000): Span[] {
  const all: Span[] = [];
  const least = run.now_s / pixels;
  run.states.forEach((entry, i) => {
    const to = run.states[i + 1]?.t ?? run.now_s;
    const last = all[all.length - 1];
    if (last && (last.state === entry.state || to - entry.t < least)) {
      last.to = to;
    } else {
      all.push({ from: entry.t, to, state: entry.state });
    }
  });
  return all;
}

export function points(series: Series): Point[] {
  return series.t.map((t, i) => ({
    t,
    mean: series.mean[i],
    low: series.low[i],
    high: series.high[i],
  }));
}

export function mainPhase(gpu: Gpu): Phase | undefined {
  return gpu.phases.find((phase) => phase.main);
}

export function baseline(phase: Phase): Measured | undefined {
  return phase.settings.find((each) => each.setting.label === "default");
}

// The kept setting; undefined where no setting was kept.
export function kept(phase: Phase): Measured | undefined {
  return phase.settings.find((each) => each.kept);
}

// What the job kept where its time is shared between several settings; undefined elsewhere.
export function keptMix(run: Run, phase: Phase): Measured | undefined {
  const whole = run.phases.find((each) => each.process === phase.process && each.phase === phase.phase);
  if (!whole?.kept || !whole.kept_mix) return undefined;
  return { ...whole.kept, setting: { ...whole.kept.setting, label: whole.kept_mix } };
}

// The default first, then descending clocks.
export function ordered(settings: Measured[]): Measured[] {
  const rank = (s: Setting) => [s.mem_mhz ?? Infinity, s.power_limit_w ?? Infinity, s.sm_mhz ?? Infinity];
  return [...settings].sort((a, b) => {
    const [x, y] = [rank(a.setting), rank(b.setting)];
    for (let i = 0; i < x.length; ++i) if (x[i] !== y[i]) return y[i] - x[i];
    return 0;
  });
}

// The settings that no other beats in both time and energy, from fast to slow.
export function paretoFront(settings: Measured[]): Measured[] {
  const compared = settings
    .filter((each) => each.time_change !== undefined && each.energy_change !== undefined)
    .sort((a, b) => a.time_change! - b.time_change! || a.energy_change! - b.energy_change!);
  const front: Measured[] = [];
  for (const each of compared) {
    if (front.length === 0 || each.energy_change! < front[front.length - 1].energy_change!) front.push(each);
  }
  return front;
}

export type Knob = "sm_mhz" | "power_limit_w";

export interface Curve {
  knob: Knob;
  unit: string;
  expected: (ForecastPoint & { x: number })[];
  before: (ForecastPoint & { x: number })[];
  measured: (Measured & { x: number })[];
}

// The forecast's settings along one knob, and the measurements at these settings.
export function curve(phase: Phase): Curve | undefined {
  const named = phase.forecast.filter((point) => point.setting.label !== "default");
  if (named.length === 0) return undefined;
  const knob: Knob = named[0].setting.sm_mhz !== undefined ? "sm_mhz" : "power_limit_w";
  const memory = named[0].setting.mem_mhz;
  const atDefault = knob === "sm_mhz" ? baseline(phase)?.sm_mhz : undefined;
  const place = (setting: Setting) => (setting.label === "default" ? atDefault : setting[knob]);
  const onLine = (setting: Setting) => setting.label === "default" || setting.mem_mhz === memory;
  const placed = <Entry extends { setting: Setting }>(entries: Entry[]) =>
    entries
      .filter((entry) => onLine(entry.setting) && place(entry.setting) !== undefined)
      .map((entry) => ({ ...entry, x: place(entry.setting)! }))
      .sort((a, b) => a.x - b.x);
  return {
    knob,
    unit: knob === "sm_mhz" ? "SM clock, MHz" : "power limit, W",
    expected: placed(phase.forecast),
    before: placed(phase.first_forecast),
    measured: placed(phase.settings.filter((each) => each.time_change !== undefined)),
  };
}

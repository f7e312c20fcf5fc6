// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { curve, ordered, paretoFront, spans } from "../src/derive";
import type { Measured, Phase, Run } from "../src/model";

function measured(label: string, sm: number | undefined, slowdown: number, saved: number): Measured {
  return {
    setting: { label, sm_mhz: sm },
    windows: 1,
    unusable: 0,
    iterations: 10,
    kept: false,
    time_per_iteration_s: 1 + slowdown,
    energy_per_iteration_j: 100 * (1 - saved),
    power_w: 100,
    sm_mhz: sm ?? 1900,
    time_change: slowdown,
    energy_change: -saved,
  };
}

test("neighbours in one state are one span, and what cannot be seen joins its neighbour", () => {
  const run = {
    now_s: 1000,
    states: [
      { t: 0, state: "warm_up" },
      { t: 10, state: "search" },
      { t: 500, state: "search" },
      { t: 600, state: "baseline" },
      { t: 600.01, state: "hold" },
    ],
  } as Run;
  assert.deepEqual(
    spans(run).map((span) => [span.state, span.from, span.to]),
    [
      ["warm_up", 0, 10],
      ["search", 10, 600.01],
      ["hold", 600.01, 1000],
    ],
  );
});

test("the front holds what no other beats in both", () => {
  const all = [
    measured("default", undefined, 0, 0),
    measured("a", 1800, 0.02, 0.08),
    measured("worse", 1790, 0.03, 0.05),
    measured("b", 1700, 0.05, 0.12),
  ];
  assert.deepEqual(
    paretoFront(all).map((each) => each.setting.label),
    ["default", "a", "b"],
  );
});

test("settings stand in the order of their clocks, the default first", () => {
  const all = [measured("b", 1700, 0, 0), measured("a", 1800, 0, 0), measured("default", undefined, 0, 0)];
  assert.deepEqual(
    ordered(all).map((each) => each.setting.label),
    ["default", "a", "b"],
  );
});

test("a forecast's line has the default at the clock that was seen there", () => {
  const point = (label: string, sm?: number) => ({
    setting: { label, sm_mhz: sm },
    slowdown: 0,
    slowdown_sd: 0,
    score: 1,
    score_sd: 0,
    safe: 1,
  });
  const phase = {
    settings: [measured("default", undefined, 0, 0), measured("a", 1700, 0.02, 0.08)],
    forecast: [point("default"), point("a", 1700), point("b", 1600)],
    first_forecast: [],
  } as unknown as Phase;
  const line = curve(phase)!;
  assert.deepEqual(
    line.expected.map((each) => each.x),
    [1600, 1700, 1900],
  );
  assert.deepEqual(
    line.measured.map((each) => each.x),
    [1700, 1900],
  );
});

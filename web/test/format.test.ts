// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeWithInterval, clock, duration, joules, signedPercent, significant, wattHours, withInterval } from "../src/format";

test("numbers have as many digits as they mean", () => {
  assert.equal(significant(0.012345), "0.01235");
  assert.equal(significant(123456), "123456");
  assert.equal(significant(NaN), "–");
  assert.equal(withInterval(0.34234, 0.0004, 1e3), "342.3 ± 0.4");
  assert.equal(withInterval(95.6, undefined, 1), "95.60");
});

test("a change has a sign, and none where it is nothing", () => {
  assert.equal(signedPercent(-0.109), "−10.9 %");
  assert.equal(signedPercent(0.0337), "+3.4 %");
  assert.equal(signedPercent(0.00001), "±0.0 %");
  assert.equal(changeWithInterval(-0.103, 0.0083), "−10.3 ± 0.8 %");
  assert.equal(changeWithInterval(0.032, undefined), "+3.2 %");
});

test("units follow the size", () => {
  assert.equal(duration(0.354), "354.0 ms");
  assert.equal(duration(2), "2.000 s");
  assert.equal(joules(60530), "60.53 kJ");
  assert.equal(wattHours(60530), "16.8 Wh");
  assert.equal(clock(5), "0:05");
  assert.equal(clock(3725), "1:02:05");
});

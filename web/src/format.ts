// SPDX-License-Identifier: Apache-2.0
//
// Formats numbers for people.

export function significant(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(decimals, 8));
}

export function percent(fraction: number, digits = 1): string {
  return `${(100 * fraction).toFixed(digits)} %`;
}

export function signedPercent(fraction: number, digits = 1): string {
  const text = (100 * fraction).toFixed(digits);
  const sign = Number(text) > 0 ? "+" : Number(text) < 0 ? "−" : "±";
  return `${sign}${text.replace("-", "")} %`;
}

export function duration(seconds: number): string {
  if (seconds < 1) return `${significant(1e3 * seconds)} ms`;
  return `${significant(seconds)} s`;
}

export function joules(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${significant(value / 1e6)} MJ`;
  if (size >= 1e4) return `${significant(value / 1e3)} kJ`;
  return `${significant(value)} J`;
}

export function wattHours(value: number): string {
  const hours = value / 3600;
  return Math.abs(hours) >= 1e3 ? `${significant(hours / 1e3, 3)} kWh` : `${significant(hours, 3)} Wh`;
}

// Time since the start of the run: 0:05, 12:34, 3:05:09.
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  const pad = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours > 0
    ? `${hours}:${pad(minutes)}:${pad(whole % 60)}`
    : `${minutes}:${pad(whole % 60)}`;
}

export function date(unix: number): string {
  return new Date(1e3 * unix).toISOString().replace("T", " ").slice(0, 19) + " UTC";
}

// A mean with the half-width of its 95 % interval.
export function withInterval(value: number, half: number | undefined, scale: number): string {
  const mean = significant(value * scale);
  if (half === undefined) return mean;
  const decimals = (mean.split(".")[1] ?? "").length;
  return `${mean} ± ${(half * scale).toFixed(decimals)}`;
}

// "−10.3 ± 0.8 %": a change with its interval.
export function changeWithInterval(change: number, half: number | undefined): string {
  const text = signedPercent(change);
  return half === undefined ? text : text.replace(" %", ` ± ${percent(half)}`);
}

// SPDX-License-Identifier: Apache-2.0
//
// Colours by meaning, which people with any colour vision can tell apart (Okabe and Ito's);
// style.css gives each a value for light and dark. No information is in the colour alone.

export const colour = {
  power: "var(--vermilion)",
  clock: "var(--blue)",
  memory: "var(--purple)",
  time: "var(--blue)",
  energy: "var(--vermilion)",
  default: "var(--blue)",
  kept: "var(--green)",
  oracle: "var(--orange)",
  bound: "var(--vermilion)",
  other: "var(--soft)",
  expected: "var(--purple)",
};

const states: Record<string, [string, string]> = {
  warm_up: ["warm-up", "var(--soft)"],
  baseline: ["measuring the default", "var(--sky)"],
  search: ["searching", "var(--orange)"],
  hold: ["holding", "var(--green)"],
  drift: ["job has changed", "var(--vermilion)"],
  idle: ["job pauses", "var(--faint)"],
  unsure: ["unsure, at the default", "var(--purple)"],
  left_alone: ["left alone", "var(--faint)"],
  refused: ["only observing", "var(--faint)"],
  released: ["given back", "var(--faint)"],
};

export function stateName(state: string): string {
  return states[state]?.[0] ?? state.replaceAll("_", " ");
}

export function stateColour(state: string): string {
  return states[state]?.[1] ?? "var(--faint)";
}

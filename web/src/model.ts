// SPDX-License-Identifier: Apache-2.0
//
// What the program tells the page: the same keys as src/record/report_data.cpp and figures_json.cpp
// and, for the live page, src/record/serve/page_server.cpp. What is not known is absent. Intervals are
// half-widths at 95 %.

export interface Setting {
  label: string;
  sm_mhz?: number;
  mem_mhz?: number;
  power_limit_w?: number;
}

export interface Series {
  t: number[];
  mean: number[];
  low: number[];
  high: number[];
}

// One iteration at one setting.
export interface Measured {
  setting: Setting;
  windows: number;
  unusable: number;
  iterations: number;
  kept: boolean;
  time_per_iteration_s: number;
  time_interval95_s?: number;
  energy_per_iteration_j?: number;
  energy_interval95_j?: number;
  power_w?: number;
  power_interval95_w?: number;
  sm_mhz?: number;
  time_change?: number;
  time_change_interval95?: number;
  energy_change?: number;
  energy_change_interval95?: number;
  change_text?: string; // "14.1 % energy saved, 4.7 % slower"
}

// The whole job, its search included, against what the default would have taken.
export interface Job {
  seconds: number;
  iterations: number;
  joules?: number;
  default_seconds?: number;
  default_joules?: number;
  saved_j?: number;
  energy_change?: number;
  energy_change_interval95?: number;
  time_change?: number;
  time_change_interval95?: number;
  compared_with?: "default_run" | "default_windows";
  kwh?: number;
  host_joules?: number;
  cost?: number;
  saved_cost?: number;
  currency?: string;
  co2e_g?: number;
  saved_co2e_g?: number;
}

export interface ForecastPoint {
  setting: Setting;
  slowdown: number;
  slowdown_sd: number;
  score: number;
  score_sd: number;
  safe: number;
}

export interface Phase {
  process: number;
  phase: number;
  level: number;
  main: boolean;
  seconds: number;
  settings: Measured[];
  time_s: Series;
  energy_j: Series;
  forecast: ForecastPoint[];
  first_forecast: ForecastPoint[];
}

// A phase of the whole job, over all of its GPUs.
export interface JobPhase {
  process: number;
  phase: number;
  kept?: Measured;
  kept_mix?: string; // where the time is shared between several settings
}

export interface Gpu {
  uuid: string;
  name: string;
  driver: string;
  index?: number;
  power_w: Series;
  sm_mhz: Series;
  mem_mhz: Series;
  temperature_c: Series;
  limit_w: Series;
  asked: (Setting & { t: number })[];
  phases: Phase[];
  throttled: boolean;
  energy_j?: number;
  oracle?: { setting: Setting; slowdown?: number; saved?: number };
  now: {
    power_w?: number;
    sm_mhz?: number;
    mem_mhz?: number;
    temperature_c?: number;
    utilization?: number;
  };
}

export interface RunLine {
  id: string;
  file: string;
  title: string;
  started: number;
  now_s: number;
  simulated: boolean;
  ended: boolean;
  state?: string;
  gpu?: string;
}

export interface Run extends RunLine {
  run: string;
  program: string;
  command: string[];
  environment: Record<string, string>;
  policy: string;
  objective: string;
  bound?: number;
  job: Job;
  state_reason: string;
  states: { t: number; state: string }[];
  told: { t: number; kind: string; text: string; gpu?: string }[];
  told_left_out: number;
  told_head: number;
  gpus: Gpu[];
  phases: JobPhase[];
  end?: { exit_code: number; reason: string; totals: Record<string, number> };
}

export interface Report {
  runs: Run[];
  runs_left_out: number;
  unreadable_lines: number;
}

export interface Lease {
  lease?: number;
  program?: string;
  job?: string;
  uid?: number;
  pid?: number;
  since_unix?: number;
  expires_in_s?: number;
  gpus: { uuid: string; setting: Setting; restoring: boolean }[];
}

// One step of a batch system's job, of several nodes.
export interface NodesJob {
  job?: string;
  nodes: { node: string; gpus: number; kept?: string; waits: boolean; job: { joules?: number; time_change?: number } }[];
  joules?: number;
  energy_change?: number;
  time_change?: number;
}

// The live page requests this every two seconds.
export interface Overview {
  version: string;
  runs: RunLine[];
  jobs: NodesJob[];
  problems: string[];
  daemon: { reached: boolean; problem?: string; version?: string; closed?: boolean; leases: Lease[] };
}

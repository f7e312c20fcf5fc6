// SPDX-License-Identifier: Apache-2.0
//
// A real Prometheus scrapes a real `hypermile serve`: promtool finds nothing wrong, a query gives
// the value in the log, and the dashboard uses only metrics that exist.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { demoLog, folder, hypermile, serve, startOther, until } from "./world.mjs";

const log = demoLog();
// A job that is watched through NVML or its stand-in; its log has the durations of the calls.
const watched = join(folder, "watched.jsonl");
const job = [hypermile, "simulate", "--realtime", "--json", "--seconds", "3s"];
const observed = spawnSync(hypermile, ["run", "--observe", "--quiet", "--log", watched, "--", ...job], {
  env: {
    ...process.env,
    HYPERMILE_NVML: process.env.STAND_IN,
    HYPERMILE_SIM_GPUS: "rtx3080ti",
    HYPERMILE_SIM_STATE: join(folder, "state"),
  },
  encoding: "utf8",
});
assert.equal(observed.status, 0, observed.stderr);
const server = await serve([log, watched]);
const metricsUrl = `${server.url}metrics`;
let text = "";
await until("the log was read", async () => {
  text = await (await fetch(metricsUrl)).text();
  return text.includes("hypermile_saved_joules{") && text.includes("hypermile_nvml_call_duration_seconds_bucket{");
});

const checked = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
assert.equal(checked.status, 0, checked.stdout + checked.stderr);
assert.equal((checked.stdout + checked.stderr).trim(), "", "promtool complains");

// Reading the metrics does not change them.
assert.equal(await (await fetch(metricsUrl)).text(), text);

const config = join(folder, "prometheus.yml");
writeFileSync(
  config,
  `global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: hypermile\n  static_configs: [{targets: ["127.0.0.1:${server.port}"]}]\n`,
);
const port = 20000 + (process.pid % 20000);
startOther("prometheus", [
  `--config.file=${config}`,
  `--storage.tsdb.path=${join(folder, "tsdb")}`,
  `--web.listen-address=127.0.0.1:${port}`,
]);
async function query(expression) {
  const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
  const answer = await fetch(url).catch(() => undefined);
  if (!answer?.ok) return undefined;
  return (await answer.json()).data.result[0];
}

// The energy counter of the log's last run, computed by hand.
const eventsOf = (path) => readFileSync(path, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const lines = eventsOf(log);
const last = lines.slice(lines.map((event) => event.type === "run_start").lastIndexOf(true));
const energies = last.filter((event) => event.energy_j !== undefined && event.type === "sample").map((event) => event.energy_j);
const expected = energies.at(-1) - energies[0];
await until("Prometheus has scraped", async () => (await query("hypermile_gpu_energy_joules_total")) !== undefined, 40);
const answer = await query(`sum(hypermile_gpu_energy_joules_total{run="${last[0].run}"})`);
assert.ok(Math.abs(Number(answer.value[1]) / expected - 1) < 1e-6, `${answer.value[1]} is not ${expected}`);
const up = await query('up{job="hypermile"}');
assert.equal(up.value[1], "1");
const saved = await query("hypermile_energy_saved_ratio");
assert.ok(Number(saved.value[1]) > 0.05, `saved ${saved.value[1]}`);
console.log(`Prometheus: sum(hypermile_gpu_energy_joules_total) = ${answer.value[1]} J, as the log says`);

// The durations of NVML calls, computed by hand and by Prometheus.
const { bounds_s, counts } = eventsOf(watched).filter((event) => event.type === "driver_calls").at(-1).calls.read;
const calls = counts.reduce((sum, count) => sum + count, 0);
assert.ok(calls > 20, `NVML was read ${calls} times`);
const counted = await query('hypermile_nvml_call_duration_seconds_count{call="read"}');
assert.equal(Number(counted.value[1]), calls);
const median = await query('histogram_quantile(0.5, hypermile_nvml_call_duration_seconds_bucket{call="read"})');
let below = 0;
const upper = bounds_s.find((_, i) => (below += counts[i]) >= calls / 2);
assert.ok(Number(median.value[1]) <= upper && Number(median.value[1]) > 0, `${median.value[1]} of ${counts}`);
console.log(`Prometheus: half of ${calls} readings of the stand-in's sensors took less than ${median.value[1]} s`);

// The dashboard.
const root = join(process.env.SOURCE_DIR);
const dashboard = JSON.parse(readFileSync(join(root, "packaging/grafana-dashboard.json"), "utf8"));
const known = new Set(readFileSync(join(root, "docs/reference/metrics.md"), "utf8").match(/hypermile_[a-z_]+/g));
for (const panel of dashboard.panels) {
  for (const target of panel.targets ?? []) {
    const names = target.expr.match(/hypermile_[a-z_]+/g) ?? [];
    assert.ok(names.length > 0, target.expr);
    for (const name of names) {
      assert.ok(known.has(name.replace(/_(bucket|count|sum)$/, "")) || known.has(name), `${name} is no metric`);
    }
    const parsed = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(target.expr.replaceAll("$run", ".*").replaceAll("$__rate_interval", "1m"))}`);
    assert.equal(parsed.status, 200, target.expr);
  }
}
await server.stop();
console.log("metrics: all good");
process.exit(0);

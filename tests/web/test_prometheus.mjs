// SPDX-License-Identifier: Apache-2.0
//
// A real Prometheus scrapes a real `hypermile serve`: promtool finds nothing wrong, a query has the
// answer that the log has, and the dashboard asks only for metrics that exist.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { demoLog, folder, serve, startOther, until } from "./world.mjs";

const log = demoLog();
const server = await serve([log]);
const metricsUrl = `${server.url}metrics`;
let text = "";
await until("the log was read", async () => {
  text = await (await fetch(metricsUrl)).text();
  return text.includes("hypermile_gpu_energy_joules_total{");
});

const checked = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
assert.equal(checked.status, 0, checked.stdout + checked.stderr);
assert.equal((checked.stdout + checked.stderr).trim(), "", "promtool complains");

// Reading changes nothing.
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

// The energy counter of the log's last run, by hand.
const lines = readFileSync(log, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const last = lines.slice(lines.map((event) => event.type === "run_start").lastIndexOf(true));
const energies = last.filter((event) => event.energy_j !== undefined && event.type === "sample").map((event) => event.energy_j);
const expected = energies.at(-1) - energies[0];
await until("Prometheus has scraped", async () => (await query("hypermile_gpu_energy_joules_total")) !== undefined, 40);
const answer = await query("sum(hypermile_gpu_energy_joules_total)");
assert.ok(Math.abs(Number(answer.value[1]) / expected - 1) < 1e-6, `${answer.value[1]} is not ${expected}`);
const up = await query('up{job="hypermile"}');
assert.equal(up.value[1], "1");
const saved = await query("hypermile_energy_saved_ratio");
assert.ok(Number(saved.value[1]) > 0.05, `saved ${saved.value[1]}`);
console.log(`Prometheus: sum(hypermile_gpu_energy_joules_total) = ${answer.value[1]} J, as the log says`);

// The dashboard.
const root = join(process.env.SOURCE_DIR);
const dashboard = JSON.parse(readFileSync(join(root, "packaging/grafana-dashboard.json"), "utf8"));
const known = new Set(readFileSync(join(root, "docs/metrics.md"), "utf8").match(/hypermile_[a-z_]+/g));
for (const panel of dashboard.panels) {
  for (const target of panel.targets ?? []) {
    const names = target.expr.match(/hypermile_[a-z_]+/g) ?? [];
    assert.ok(names.length > 0, target.expr);
    for (const name of names) assert.ok(known.has(name), `${name} is no metric`);
    const parsed = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(target.expr.replaceAll("$run", ".*").replaceAll("$__rate_interval", "1m"))}`);
    assert.equal(parsed.status, 200, target.expr);
  }
}
await server.stop();
console.log("metrics: all good");
process.exit(0);

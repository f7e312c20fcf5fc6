// SPDX-License-Identifier: Apache-2.0
//
// Reports in a real browser: the demo's report, offline; the size and drawing time of a day's log;
// a job on several GPUs; logs that are cut off or foreign.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browser, demoLog, folder, hypermile, openPage, picture, run, twoGpuLog, widerThanThePage } from "./world.mjs";

const log = demoLog();
const chrome = await browser();

async function open(path, options) {
  const page = await openPage(chrome, { offline: true, ...options });
  const begun = performance.now();
  await page.goto(`file://${path}`);
  await page.waitForSelector("html[data-ready] article svg");
  page.tookSeconds = (performance.now() - begun) / 1e3;
  return page;
}

async function theDemo() {
  const report = join(folder, "demo.html");
  assert.equal(run("report", log, "--out", report).trim(), report);
  const page = await open(report);
  assert.deepEqual(page.problems, []);
  assert.deepEqual(page.asked.filter((url) => !url.startsWith("file:") && !url.startsWith("data:")), []);
  const text = await page.innerText("main");
  for (const part of [
    "resnet50 on NVIDIA GeForce RTX 3080 Ti under hypermile",
    "simulated, not measured on a GPU",
    "energy of the whole job",
    "at a run at the default, search included",
    "at the kept mix: energy per iteration",
    "Over time",
    "Expected and measured",
    "Slowdown against energy",
    "true best: sm=1710MHz",
    "measuring the default",
    "cheaper is expected",
    "Environment",
    "host_watts",
  ]) {
    assert.ok(text.includes(part), `the report lacks: ${part}`);
  }
  // The first figure is the terminal's and that of report --text and --json: the whole job's.
  const [told] = JSON.parse(run("report", log, "--json")).runs.slice(-1);
  const minus = (-100 * told.job.energy_change).toFixed(1);
  const plus = (100 * told.job.time_change).toFixed(1);
  const values = await page.locator(".card .value").allInnerTexts();
  // The hypermile policy shares the job's time between settings; the page says so as the terminal does.
  const mix = await page.innerText(".mix");
  assert.match(mix, /^Kept: \d+ % of the time at \d+ MHz, \d+ % at .*: .* % energy saved, .* % slower \(per iteration, from \d+ windows\)\.$/);
  assert.ok(mix.startsWith(`Kept: ${told.phases[0].kept_mix}: ${told.phases[0].kept.change_text} `), mix);
  assert.ok(run("report", log, "--text").includes(`kept ${told.phases[0].kept_mix}:`), "the terminal tells another mix");
  assert.deepEqual(values.slice(0, 2), [`−${minus} %`, `+${plus} %`]);
  assert.match(run("report", log, "--text"), new RegExp(`against a run at the default: ${minus} % energy saved .*, ${plus} % slower`));
  assert.match(run("demo"), new RegExp(`${minus} % energy saved\\s.*, ${plus} % slower`, "s"));
  assert.ok((await page.locator("article svg").count()) >= 9, "charts are missing");
  assert.ok((await page.locator("svg[aria-label]").count()) >= 9, "charts have no description");
  await picture(page, "report.png", { clip: { x: 0, y: 0, width: 1240, height: 1500 }, fullPage: true });
  await picture(page, "report-settings.png", { clip: { x: 0, y: 1480, width: 1240, height: 1500 }, fullPage: true });
  // The other run of the same log.
  await page.selectOption("select", { index: 0 });
  assert.match(await page.innerText("h1"), /under default/);
  const dark = await open(report, { colorScheme: "dark" });
  const shade = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(shade, "rgb(20, 23, 26)");
  await picture(dark, "report-dark.png", { clip: { x: 0, y: 0, width: 1240, height: 1000 }, fullPage: true });
  const print = await dark.pdf({ path: join(folder, "report.pdf"), format: "A4" });
  assert.ok(print.length > 20000, "the report cannot be printed");
}

// A telephone's width: nothing may stick out to the right, and nothing is hidden in a box of its own.
async function onASmallScreen() {
  const report = join(folder, "demo.html");
  const page = await open(report, { viewport: { width: 400, height: 800 } });
  assert.deepEqual(await widerThanThePage(page), []);
  const hidden = await page.evaluate(() =>
    [...document.querySelectorAll(".words")].filter((box) => box.scrollHeight > box.clientHeight + 2).length,
  );
  assert.equal(hidden, 0, "the reasons are in a scroll box");
  const text = await page.innerText(".words");
  assert.ok(!/(\w[\w ]*) → \1:/.test(text), "a state leads to itself");
  await picture(page, "report-small.png");
}

// One sample per second and one window every ten seconds for a day, with states and decisions in
// between.
function aDay() {
  const gpu = "GPU-day";
  const lines = [
    { type: "run_start", t: 0, run: "day", unix_time: 1.7e9, program: "hypermile", command: ["hypermile", "run", "--", "train"], environment: { max_slowdown: "0.05", objective: "energy" }, gpus: [{ uuid: gpu, name: "Day GPU", pci: "", driver: "1" }] },
  ];
  let energy = 0;
  for (let t = 1; t <= 86400; ++t) {
    const sm = 1400 + 15 * (t % 20);
    const power = 300 + 40 * Math.sin(t / 500) + (t % 7) + (t === 43210 ? 200 : 0);
    energy += power;
    lines.push({ type: "sample", t, gpu, power_w: power, energy_j: energy, sm_mhz: sm, mem_mhz: 2600, temperature_c: 60 + (t % 5), power_limit_w: 700 });
    if (t % 10 === 0) {
      const setting = t % 100 === 0 ? {} : { sm_mhz: 1500 + 15 * ((t / 10) % 12) };
      lines.push({ type: "window", t, gpu, setting, begin_s: t - 10, duration_s: 10, first_iteration: t, iterations: 100, time_per_iteration_s: 0.1 + 0.001 * (t % 3), power_w: power, energy_j: 10 * power, throttled_share: 0, aborted: false });
    }
    if (t % 60 === 0) {
      lines.push({ type: "decision", t, gpu, policy: "hypermile", setting: { sm_mhz: sm }, reason: "the optimum may be here", numbers: { exploring: t % 120 === 0 ? 1 : 0 }, confidence: 0.9 });
      lines.push({ type: "state", t, state: t % 120 === 0 ? "search" : "hold", reason: "so", numbers: {} });
      lines.push({ type: "setting", t, gpu, requested: { sm_mhz: sm }, accepted: true });
    }
  }
  const path = join(folder, "day.jsonl");
  writeFileSync(path, lines.map((line) => JSON.stringify({ v: 1, ...line })).join("\n") + "\n");
  return path;
}

async function aLongLog() {
  const path = aDay();
  run("report", path);
  const size = statSync(join(folder, "day.html")).size;
  // The best of three, as other programs may use the processor.
  const pages = [];
  while (pages.length < 3 && !(pages.at(-1)?.tookSeconds < 3)) pages.push(await open(join(folder, "day.html")));
  const page = pages.at(-1);
  console.log(
    `24-hour log of ${(statSync(path).size / 1e6).toFixed(1)} MB: report ${(size / 1e6).toFixed(2)} MB, ` +
      `drawn in ${page.tookSeconds.toFixed(2)} s`,
  );
  assert.ok(size < 5e6, `the report weighs ${size}`);
  assert.ok(page.tookSeconds < 3, `the report took ${page.tookSeconds} s`);
  assert.deepEqual(page.problems, []);
  // The second of 500 W at noon is still visible.
  const highest = await page.evaluate(() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    return Math.max(...data.runs[0].gpus[0].power_w.high);
  });
  assert.ok(highest > 460, `the spike is lost: ${highest}`);
  await page.locator("details.earlier summary").click(); // the older lines are folded
  assert.match(await page.innerText("main"), /lines are left out here/);
}

// One of several GPUs of a job can be chosen.
async function severalGpus() {
  const path = join(folder, "two_gpus.html");
  run("report", twoGpuLog(), "--out", path);
  const page = await open(path);
  const list = page.getByLabel("GPU");
  assert.deepEqual(await list.locator("option").allInnerTexts(), ["0: NVIDIA GeForce RTX 3080 Ti", "1: NVIDIA Second"]);
  const joules = async () => Number(/([\d.]+) ± [\d.]+ → /.exec(await page.innerText("article"))[1]);
  const first = await joules();
  await list.selectOption({ index: 1 });
  const second = await joules();
  assert.ok(second > 1.1 * first, `${second} J on the card that draws more, ${first} J on the other`);
  assert.equal(await page.getByLabel("GPU").inputValue(), "1");
  assert.match(await page.innerText(".badges"), /NVIDIA Second/);
  await page.getByLabel("GPU").selectOption({ index: 0 });
  assert.equal(await joules(), first);
  assert.deepEqual(page.problems, []);
}

async function badLogs() {
  const cut = join(folder, "cut.jsonl");
  const whole = readFileSync(log, "utf8");
  writeFileSync(cut, whole.slice(whole.lastIndexOf('"type":"run_start"') - 400, -60000));
  const told = spawnSync(hypermile, ["report", cut], { encoding: "utf8" });
  assert.equal(told.status, 0, told.stderr);
  assert.match(told.stderr, /could not be read/);
  const page = await open(join(folder, "cut.html"));
  assert.match(await page.innerText(".notice"), /could not be read.*no end/s);
  const foreign = join(folder, "foreign.jsonl");
  appendFileSync(foreign, '{"loss": 2.5}\n');
  for (const [path, expected] of [
    [foreign, /no line of it is an event of hypermile; give a log/],
    [join(folder, "absent.jsonl"), /cannot be read: No such file.*; check the path/],
    [folder, /is no regular file/],
  ]) {
    const refused = spawnSync(hypermile, ["report", path], { encoding: "utf8" });
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, expected);
    assert.equal(refused.stderr.trim().split("\n").length, 1);
  }
}

await theDemo();
await onASmallScreen();
await aLongLog();
await severalGpus();
await badLogs();
await chrome.close();
console.log("reports: all good");

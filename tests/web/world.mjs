// SPDX-License-Identifier: Apache-2.0
//
// Shared by the browser tests: the program, a temporary folder, Chromium and waiting.
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(join(process.env.WEB_MODULES, "none.js"));
const { chromium } = require("playwright-core");

export const hypermile = process.env.HYPERMILE;
export const folder = mkdtempSync(join(tmpdir(), "hypermile-web-"));
// Where screenshots are written; those of the documentation are made in this way.
const pictures = process.env.HYPERMILE_SCREENSHOTS;

const started = [];
const atExit = () => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
};
process.on("exit", atExit);
process.on("unhandledRejection", (problem) => {
  console.error(problem);
  process.exit(1);
});

export function run(...words) {
  return execFileSync(hypermile, words, { encoding: "utf8", maxBuffer: 1 << 28 });
}

// The event log of the demo, made once.
export function demoLog() {
  const path = join(folder, "demo.jsonl");
  if (!existsSync(path)) run("demo", "--json", "--log", path);
  return path;
}

// The demo's last run as a job on two GPUs, of which the second draws 30 % more.
export function twoGpuLog() {
  const path = join(folder, "two_gpus.jsonl");
  const lines = readFileSync(demoLog(), "utf8").trimEnd().split("\n");
  const begin = lines.map((line) => line.includes('"type":"run_start"')).lastIndexOf(true);
  const out = [];
  for (const line of lines.slice(begin)) {
    const event = JSON.parse(line);
    if (event.type === "run_start") {
      event.gpus.push({ ...event.gpus[0], uuid: "GPU-second", name: "NVIDIA Second", index: 1 });
    }
    out.push(event);
    if (event.gpu !== undefined) {
      const twin = { ...event, gpu: "GPU-second" };
      for (const key of ["power_w", "energy_per_iteration_j"]) if (twin[key] !== undefined) twin[key] *= 1.3;
      out.push(twin);
    }
  }
  writeFileSync(path, out.map((event) => JSON.stringify(event)).join("\n") + "\n");
  return path;
}

export async function until(what, condition, seconds = 20) {
  const end = Date.now() + 1e3 * seconds;
  while (Date.now() < end) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`not within ${seconds} s: ${what}`);
}

// Starts a server on `port` (0 for any); resolves when it answers.
export async function serve(words, port = 0) {
  const child = spawn(hypermile, ["serve", "--json", "--listen", `127.0.0.1:${port}`, ...words], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, HYPERMILE_SOCKET: process.env.HYPERMILE_SOCKET ?? join(folder, "no-daemon.sock") },
  });
  started.push(child);
  const line = await new Promise((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(String(data)));
    child.once("exit", (code) => reject(new Error(`serve ended with ${code}`)));
  });
  const { url } = JSON.parse(line);
  return {
    url,
    port: Number(new URL(url).port),
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", resolve);
        child.kill("SIGTERM");
      }),
  };
}

export function startOther(program, words, options = {}) {
  const child = spawn(program, words, { stdio: "ignore", ...options });
  started.push(child);
  return child;
}

export async function browser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

// A page that records its errors and its network requests.
export async function openPage(chrome, options = {}) {
  const context = await chrome.newContext({ viewport: { width: 1240, height: 900 }, ...options });
  const page = await context.newPage();
  page.problems = [];
  page.asked = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("request", (request) => page.asked.push(request.url()));
  return page;
}

// What sticks out of the page to the right, by tag and class; boxes that scroll by themselves may.
export async function widerThanThePage(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll("main *")]
      .filter((each) => !each.closest(".scroll") && each.getBoundingClientRect().right > width + 1)
      .map((each) => `${each.tagName}.${each.getAttribute("class") ?? ""}`)
      .slice(0, 8);
  });
}

export async function picture(page, name, options = {}) {
  const path = join(folder, name);
  await page.screenshot({ path, ...options });
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  execFileSync("optipng", ["-quiet", "-o2", path]);
  copyFileSync(path, join(pictures, name));
}

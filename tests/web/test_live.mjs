// SPDX-License-Identifier: Apache-2.0
//
// The live page in a real browser: it follows a growing log, several jobs, a server that stops and
// starts again, a token, and a port that is in use.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browser, demoLog, folder, hypermile, openPage, picture, serve, twoGpuLog, until, widerThanThePage } from "./world.mjs";

const logs = join(folder, "logs");
mkdirSync(logs);
// The lines of the demo's last run, which the Controller made.
const lines = readFileSync(demoLog(), "utf8").trimEnd().split("\n");
const begin = lines.map((line) => line.includes('"type":"run_start"')).lastIndexOf(true);
const events = lines.slice(begin);
// The middle of the longest time at one setting.
const states = events.flatMap((line, i) => (line.includes('"type":"state"') ? [i] : []));
const lasting = (n) => (states[n + 1] ?? events.length) - states[n];
const longest = states
  .map((_, n) => n)
  .filter((n) => events[states[n]].includes('"state":"hold"'))
  .reduce((best, n) => (lasting(n) > lasting(best) ? n : best));
const held = states[longest] + Math.floor(lasting(longest) / 2);
const live = join(logs, "live.jsonl");
const write = (from, to) => appendFileSync(live, events.slice(from, to).join("\n") + "\n");
write(0, 300);
// Another job on another GPU.
writeFileSync(
  join(logs, "other.jsonl"),
  events.slice(0, 600).join("\n").replaceAll("GPU-a2bc37ba", "GPU-0ther").replaceAll("resnet50", "gpt2") + "\n",
);

const chrome = await browser();
let server = await serve([logs]);
const page = await openPage(chrome);
await page.goto(server.url);

async function itUpdates() {
  await page.waitForSelector("article svg");
  await until("it says live", async () => /live/.test(await page.innerText(".status")));
  assert.equal(await page.locator(".runs button").count(), 2);
  await page.locator(".runs button", { hasText: "resnet50" }).click();
  await until("the run is shown", async () => /resnet50/.test(await page.innerText("h1")));
  const before = await page.innerText(".words");
  write(300, held);
  await until("new decisions are shown", async () => (await page.innerText(".words")) !== before);
  assert.match(await page.innerText(".words"), /keep sm=/);
  assert.deepEqual(page.problems, []);
  await until("the state is shown", async () => /holding/.test(await page.innerText(".badges")));
  const small = await openPage(chrome, { viewport: { width: 400, height: 800 } });
  await small.goto(server.url);
  await small.waitForSelector("article svg");
  assert.deepEqual(await widerThanThePage(small), [], "at 400 pixels");
  await small.context().close();
  await picture(page, "live.png", { clip: { x: 0, y: 0, width: 1240, height: 1150 }, fullPage: true });
}

async function itSurvivesARestart() {
  await server.stop();
  await until("it says that the server is gone", async () => /cannot be reached/.test(await page.innerText(".status")));
  assert.match(await page.innerText("h1"), /resnet50/); // the page keeps what it has
  await picture(page, "live-lost.png", { clip: { x: 0, y: 0, width: 1240, height: 420 } });
  server = await serve([logs], server.port);
  await until("it is live again", async () => /live/.test(await page.innerText(".status")));
  const before = await page.innerText(".words");
  write(held, events.length);
  await until("it goes on", async () => (await page.innerText(".words")) !== before);
  await until("the end is shown", async () => /the job is done/.test(await page.innerText(".badges")));
  assert.deepEqual(page.problems, []);
}

// The choice of a GPU stays when more data arrive.
async function itShowsOneOfSeveralGpus() {
  const two = readFileSync(twoGpuLog(), "utf8").replaceAll("resnet50", "bert-large").trimEnd().split("\n");
  const growing = join(logs, "two_gpus.jsonl");
  writeFileSync(growing, two.slice(0, two.length / 2).join("\n") + "\n");
  await until("the job is listed", async () => (await page.locator(".runs button").count()) === 3);
  await page.locator(".runs button", { hasText: "bert-large" }).click();
  await until("its GPUs can be chosen", async () => (await page.getByLabel("GPU").count()) === 1);
  await page.getByLabel("GPU").selectOption({ index: 1 });
  const before = await page.innerText(".words");
  appendFileSync(growing, two.slice(two.length / 2).join("\n") + "\n");
  await until("it goes on", async () => (await page.innerText(".words")) !== before);
  assert.equal(await page.getByLabel("GPU").inputValue(), "1");
  assert.deepEqual(page.problems, []);
}

async function itShowsWhatCannotBeRead() {
  writeFileSync(join(logs, "foreign.jsonl"), "step,loss\n1,2\n");
  await until("the problem is shown", async () => /no line of it is an event/.test(await page.innerText(".runs")));
}

async function itWantsItsToken() {
  const token = join(folder, "token");
  writeFileSync(token, "0123456789abcdef0123\n");
  chmodSync(token, 0o600);
  const guarded = await serve(["--token-file", token, logs]);
  const other = await openPage(chrome);
  await other.goto(guarded.url);
  await until("it asks", async () => (await other.locator("form input").count()) === 1);
  await other.fill("form input", "wrong-wrong-wrong");
  await other.click("form button");
  await until("it asks again", async () => (await other.locator("form input").count()) === 1);
  await other.fill("form input", "0123456789abcdef0123");
  await other.click("form button");
  await other.waitForSelector("article svg");
  const direct = await openPage(chrome);
  await direct.goto(`${guarded.url}#token=0123456789abcdef0123`);
  await direct.waitForSelector("article svg");
  assert.equal(new URL(direct.url()).hash, "");
  assert.equal((await fetch(`${guarded.url}metrics`)).status, 401);
  await guarded.stop();
}

function itRefusesWhatCannotBe() {
  const taken = spawnSync(hypermile, ["serve", "--listen", `127.0.0.1:${server.port}`, logs], { encoding: "utf8" });
  assert.equal(taken.status, 1);
  assert.match(taken.stderr, /cannot listen on 127.0.0.1:\d+: Address already in use; another program has that port/);
  const open = spawnSync(hypermile, ["serve", "--listen", "0.0.0.0:0", logs], { encoding: "utf8" });
  assert.equal(open.status, 2);
  assert.match(open.stderr, /needs a token; write one to a file/);
}

// Logs of two nodes of one step are one job.
async function itShowsAJobOfSeveralNodes() {
  const start = JSON.parse(events[0]);
  for (const node of ["n0", "n1"]) {
    const environment = { ...start.environment, SLURM_JOB_ID: "12", SLURM_STEP_ID: "0", SLURMD_NODENAME: node };
    const lines = [JSON.stringify({ ...start, environment }), ...events.slice(1, 600)];
    writeFileSync(join(logs, `12.0-${node}.jsonl`), lines.join("\n") + "\n");
  }
  await until("the job is shown", async () => (await page.locator("h2", { hasText: "Job 12.0" }).count()) === 1);
  const shown = await page.locator("section", { hasText: "Job 12.0" }).innerText();
  assert.match(shown, /2 nodes/);
  assert.match(shown, /n0[\s\S]*n1/);
  assert.deepEqual(page.problems, []);
}

await itUpdates();
await itSurvivesARestart();
await itShowsOneOfSeveralGpus();
await itShowsAJobOfSeveralNodes();
await itShowsWhatCannotBeRead();
await itWantsItsToken();
itRefusesWhatCannotBe();
await server.stop();
await chrome.close();
console.log("live page: all good");

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every job of field_jobs.py under `hypermile run --observe` on GPU 0 and compares what hypermile found with the job's own books.
Reads the GPU and changes nothing on it (HYPERMILE_READ_ONLY=1). Jobs train one at a time; the next ones import and compile meanwhile.

  field.py HYPERMILE OUT [--seconds LIMIT] [JOB…]     runs, writes OUT/field.json and OUT/NAME/ (logs); about eleven minutes for all
  field.py --judge OUT                                makes OUT/field.json anew from OUT/NAME/
  field.py --page OUT/field.json DATE                 prints docs/evidence/field-h200.md
"""
import argparse
import bisect
import collections
import glob
import gzip
import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from field_books import DARK, NONE, WATCHING  # noqa: E402
from field_jobs import JOBS  # noqa: E402

AHEAD, AT_FIRST = 3, 8  # jobs that prepare while another trains; at first also those that compile
PREPARE_S, FIRST_S = 120, 3.0  # longest preparation; time after which iterations should be known
BEARABLE, PER_LAUNCH_S = 0.0025, 0.6e-6  # src/progress/follow/watch_duty.h
NEIGHBOUR = "used the GPU"  # the next jobs are on the GPU already; a window's energy is then not the job's alone, but its count is


# Running


class Job:
    """One job under hypermile, from its start to its end."""

    def __init__(self, hypermile, name, out):
        self.name, self.folder = name, os.path.join(out, name)
        os.makedirs(self.folder, exist_ok=True)
        environment = {**os.environ, "HYPERMILE_READ_ONLY": "1", "PYTHONDONTWRITEBYTECODE": "1", "TOKENIZERS_PARALLELISM": "false",
                       "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "4"}
        self.output = open(self.path("output.txt"), "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [hypermile, "run", "--observe", "--summary", self.path("summary.json"), "--log", self.path("log.jsonl"), "--",
             sys.executable, os.path.join(HERE, "field_jobs.py"), name, self.folder],
            env=environment, stdout=self.output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, process_group=0)
        self.begun = time.monotonic()

    def path(self, name):
        return os.path.join(self.folder, name)

    def left(self, name):
        return os.path.exists(self.path(name))

    def ended(self):
        return self.process.poll() is not None

    def train(self, limit, others):
        """Lets the job train, until its last step or for `limit` seconds. `others` stand still while its costs are measured."""
        with open(self.path("go"), "w", encoding="utf-8"):
            pass
        until, stopped = time.monotonic() + limit, False
        while not self.left("done") and not self.ended() and time.monotonic() < until:
            if self.left("counted") and not stopped:
                stopped = True
                for other in others:
                    other.signal(signal.SIGSTOP)
            time.sleep(0.01)
        for other in others:
            other.signal(signal.SIGCONT)

    def signal(self, number):
        """To hypermile and all processes of the job."""
        if not self.ended():
            os.killpg(self.process.pid, number)

    def end(self, patience):
        """Waits for the job's end; then asks hypermile to end it."""
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.output.close()
        return self.process.returncode


def campaign(hypermile, names, out, limit):
    """Runs the jobs; gives a line for each of them. No job starts to train after `limit` seconds."""
    begun, waiting, preparing, ending, lines = time.monotonic(), list(names), [], [], {}
    trained = 0
    while waiting or preparing:
        if time.monotonic() - begun > limit:
            break
        while waiting and len(preparing) < (AHEAD if trained else AT_FIRST):
            preparing.append(Job(hypermile, waiting.pop(0), out))
        ready = next((job for job in preparing if job.left("ready") or job.ended() or time.monotonic() - job.begun > PREPARE_S), None)
        if ready is None:
            time.sleep(0.05)
            continue
        preparing.remove(ready)
        if ready.left("ready"):
            ready.train(40, preparing)
            trained += 1
        ending.append(ready)
        print(f"{time.monotonic() - begun:6.1f} s: {ready.name}: {'trained' if ready.left('done') else 'failed'}", flush=True)
    for job in preparing:
        job.end(0)
        lines[job.name] = "not run: no time was left"
    for job in ending:
        code = job.end(20)
        lines[job.name] = f"exit {code}"
    for name in waiting:
        lines[name] = "not run: no time was left"
    return lines


# Judging


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return file.read()


def truth_of(path):
    truth = json.loads(read(path))
    return {**truth, "ends": dict(truth["ends"])}


def position(truth, at_ns):
    """How many steps the job had done at a time, with a fraction; None before its first and after its last. What the job does between the
    end of a step, where its books have one, and the begin of the next is no part of a step."""
    times = truth["times"]
    index = bisect.bisect_right(times, at_ns, key=lambda one: one[1])
    if not 0 < index < len(times):
        return None
    (low, begin), (high, end) = times[index - 1], times[index]
    end = min(end, truth["ends"].get(low, end))
    return low + (high - low) * min(1.0, (at_ns - begin) / max(1, end - begin))


def known_share(events, pid, begin_s, end_s):
    """Share of an interval in which the process's iterations were known."""
    known, since, total = False, begin_s, 0.0
    for event in [e for e in events if e["type"] == "progress" and e["process"] == pid] + [{"t": end_s, "state": ""}]:
        at = min(max(event["t"], begin_s), end_s)
        total += at - since if known else 0
        known, since = event["state"] == "locked", at
    return total / (end_s - begin_s)


def judge_windows(windows, truth, start_ns):
    """For each window within the counted time that was not refused, or for a neighbour on the GPU alone: its iterations, and the steps
    that the job's books have there."""
    found = []
    for window in windows:
        begin = window["begin_s"] * 1e9 + start_ns
        end = begin + window["duration_s"] * 1e9
        if ("unusable" in window and NEIGHBOUR not in window["unusable"]) or begin < truth["go_ns"] or end > truth["cost_ns"] or not window.get("iterations"):
            continue
        first, last = position(truth, begin), position(truth, end)
        if first is not None and last is not None:
            found.append((window["phase"], window["iterations"], last - first))
    return found


def steps_per_iteration(found):
    """How many of the job's steps an iteration of hypermile is, by phase: a whole number or one part of a step; None if neither."""
    out = {}
    for phase in {each[0] for each in found}:
        ratio = statistics.median(steps / iterations for p, iterations, steps in found if p == phase)
        whole = round(ratio) if ratio >= 1 else 1 / round(1 / ratio)
        out[phase] = whole if abs(ratio / whole - 1) < 0.02 else None
    return out


def cost(blocks, launches_per_s):
    """Median and its standard error of what watching costs once iterations are known, as a share of the job's time. A median, because an
    evaluation falls into a block now and then."""
    pairs = {WATCHING: [], DARK: []}
    for index in range(1, len(blocks) - 1):
        mode, took = blocks[index]
        around = [other for how, other in (blocks[index - 1], blocks[index + 1]) if how == NONE]
        if mode != NONE and around:
            pairs[mode].append(took / statistics.fmean(around) - 1)
    if min(map(len, pairs.values())) < 2:
        return None
    share = min(1.0, BEARABLE / (PER_LAUNCH_S * launches_per_s)) if launches_per_s else 1.0
    mean = {mode: statistics.median(values) for mode, values in pairs.items()}
    spread = {mode: statistics.median(abs(value - mean[mode]) for value in values) for mode, values in pairs.items()}
    error = {mode: 1.253 * 1.483 * spread[mode] / math.sqrt(len(values)) for mode, values in pairs.items()}  # of a median
    return {"share_watched": share, "watching": mean[WATCHING], "dark": mean[DARK], "mean": share * mean[WATCHING] + (1 - share) * mean[DARK],
            "error": math.hypot(share * error[WATCHING], (1 - share) * error[DARK])}


def judge_process(truth, events, summary):
    start_ns = next(e for e in events if e["type"] == "run_start")["unix_time"] * 1e9 - truth["wall_minus_monotonic_ns"]
    windows = [e for e in events if e["type"] == "window" and e.get("process") == truth["pid"]]
    counted = [w for w in windows if truth["go_ns"] <= w["begin_s"] * 1e9 + start_ns and (w["begin_s"] + w["duration_s"]) * 1e9 + start_ns <= truth["cost_ns"]]
    found = judge_windows(windows, truth, start_ns)
    units = steps_per_iteration(found)
    # In iterations, or in the job's steps where these are longer: its books know nothing shorter.
    off = [(steps / units[phase] - iterations) * min(1, units[phase]) if units[phase] else None for phase, iterations, steps in found]
    begin, end = ((truth[key] - start_ns) * 1e-9 for key in ("go_ns", "cost_ns"))
    process = next((p for p in summary["processes"] if p["pid"] == truth["pid"]), {})
    phases = process.get("phases", [])
    while_counted = [number for number, at in truth["times"] if truth["go_ns"] <= at <= truth["cost_ns"]]
    steps = max(while_counted, default=0) - min(while_counted, default=0)
    step_s = (end - begin) / max(1, steps)
    lock = next((e for e in reversed(events) if e["type"] == "progress" and e["process"] == truth["pid"] and e.get("launches_per_iteration")), None)
    launches = lock["launches_per_iteration"] / (step_s * (next(iter(units.values()), None) or 1)) if lock else 0
    return {"pid": truth["pid"], "rank": truth.get("rank", 0), "unit": truth["unit"], "micro_batches": truth["micro_batches"], "steps": steps,
            "step_ms": 1e3 * step_s, "known": known_share(events, truth["pid"], begin + FIRST_S, end),
            "source": process.get("source"), "windows": len(counted), "usable": len(found), "off": off,
            "steps_per_iteration": list(units.values()), "unusable": [w["unusable"] for w in counted if "unusable" in w],
            "progress": [{k: e.get(k) for k in ("t", "state", "phase", "launches_per_iteration", "micro_batches", "reason")} for e in events
                         if e["type"] == "progress" and e["process"] == truth["pid"]], "go_s": begin, "cost_s": end,
            "found_phases": [{k: p.get(k) for k in ("phase", "iterations", "micro_batches", "time_per_iteration_s")} for p in phases],
            "cost": cost(truth["blocks"], launches), "launches_lost": process.get("launches_lost")}


def judge(out, lines):
    rows = []
    for name in (name for name in JOBS if name in lines):
        folder = os.path.join(out, name)
        row = {"job": name, "what": JOBS[name].__doc__, "outcome": lines[name]}
        try:
            log = next(iter(glob.glob(os.path.join(folder, "log.jsonl*"))))
            events = [json.loads(line) for line in read(log).splitlines()]
            row["summary"] = summary = json.loads(read(os.path.join(folder, "summary.json")))
            truths = [truth_of(path) for path in sorted(glob.glob(os.path.join(folder, "truth.*.json*")))]
            steering = next((t for t in truths if t["go_ns"]), {"go_ns": 0, "cost_ns": 0, "blocks": []})
            row["processes"] = [judge_process({**t, "go_ns": steering["go_ns"], "cost_ns": steering["cost_ns"]}, events, summary) for t in truths]
        except (OSError, StopIteration, ValueError, KeyError, ZeroDivisionError) as problem:
            row["problem"] = f"{type(problem).__name__}: {problem}"
        rows.append(row)
    with open(os.path.join(out, "field.json"), "w", encoding="utf-8") as file:
        json.dump({"jobs": rows}, file, indent=1)
    return rows


# The page

PAGE = """# Jobs as people write them, on an H200

*Measured on a GPU, read-only.* {date}, one NVIDIA H200, 16-core host, {versions}. Every run had `HYPERMILE_READ_ONLY=1`, which makes each
setter fail before it reaches NVML. {jobs} jobs on random data, none of which knows of hypermile, ran under `hypermile run --observe`. Each kept books
of its own steps, on the GPU's clock where it uses PyTorch (`benchmarks/h200/field_jobs.py`).

```sh
python3 benchmarks/h200/field.py build/bin/hypermile OUT
python3 benchmarks/h200/field.py --page OUT/field.json DATE > docs/evidence/field-h200.md
```

| aim | met by |
| --- | --- |
{aims}

| job | a step, ms | own steps in 8 s | known after {first:.0f} s, % | windows with a count | an iteration is | steps off in a window, most | cost once known, % |
| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |
{table}

*Known* is the share of time, from {first:.0f} s after the training's begin, in which iterations were known. *Windows with a count* are those that were not
refused, or only because the next jobs, which import and compile meanwhile, are on the GPU already: their energy is not the job's alone. *An iteration is* how many of
the job's steps hypermile's iteration holds. *Steps off* is the largest difference between hypermile's count and the books' in a window, in
iterations, or in steps where these are longer. It is a fraction because the two clocks cut a window's first and last step at slightly different places;
below a half the count is exact. *Cost once known* compares
blocks of a fifth of a second inside one process with blocks in which CUPTI's place is given up and hypermile's process is stopped: the median of about twenty
pairs, ± its standard error. Where a job launches so much that hypermile watches only a share of the time, watched and dark blocks are weighed by that
share ([detection](../design/detection.md#watching-part-of-the-time)).

Windows that are off by a half or more: {missed}. Windows were refused for these reasons: {refused}.

## The jobs

{notes}"""


def cell(row, process):
    offs = [off for off in process["off"] if off is not None]
    plural = "es" if process["unit"].endswith("h") else "s"
    each = [f"{n:g} {process['unit']}{plural if n != 1 else ''}" if n else "not a whole number" for n in process["steps_per_iteration"]]
    took = process["cost"]
    name = row["job"] + (f", rank {process['rank']}" if len(row["processes"]) > 1 else "")
    return [name, f"{process['step_ms']:.2f}", str(process["steps"]), f"{100 * process['known']:.0f}", f"{process['usable']} of {process['windows']}",
            ", ".join(sorted(set(each))) or "-", f"{max(map(abs, offs)):.2f}" if offs else "-",
            f"{100 * took['mean']:+.2f} ± {100 * took['error']:.2f}" if took else "-"]


def page(path, date):
    rows = json.loads(read(path))["jobs"]
    ran = [(row, process) for row in rows for process in row.get("processes", [])]
    offs = [abs(off) if off is not None else math.inf for _, process in ran for off in process["off"]]
    known = [process["known"] for _, process in ran]
    costs = [process["cost"] for _, process in ran if process["cost"]]
    near = [c for c in costs if abs(c["mean"]) <= 2 * c["error"]]
    limit = statistics.NormalDist().inv_cdf(1 - 0.025 / len(costs))  # one of so many exceeds it by chance in 5 % of campaigns
    chance = [c for c in costs if abs(c["mean"]) <= limit * c["error"]]
    weights = [1 / max(c["error"], 1e-3) ** 2 for c in costs]
    mean = sum(w * c["mean"] for w, c in zip(weights, costs)) / sum(weights)
    aims = [("the count is exact in every window that has one", f"{sum(off < 0.5 for off in offs)} of {len(offs)} windows"),
            ("iterations known for 85 % of the time after 3 s", f"{sum(k >= 0.85 for k in known)} of {len(known)} processes"),
            (f"cost not distinguishable from 0 once known ({limit:.1f} standard errors, which one of {len(costs)} jobs exceeds by chance in 5 %)",
             f"{len(chance)} of {len(costs)} jobs, {len(near)} within 2 standard errors; weighted mean {100 * mean:+.2f} ± {100 / math.sqrt(sum(weights)):.2f} %")]
    notes = "".join(f"- `{row['job']}`: {row['what']}" + (f" Failed: {row['outcome']}, {row['problem']}." if "problem" in row else "") + "\n" for row in rows)
    reasons = collections.Counter(re.sub(r"[0-9.]+", "…", reason) for _, process in ran for reason in process["unusable"] if NEIGHBOUR not in reason)
    refused = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common()) or "none"
    missed = ", ".join(f"{row['job']} by {abs(off):.2f}" if off is not None else f"{row['job']} by no whole number"
                       for row, process in ran for off in process["off"] if off is None or abs(off) >= 0.5) or "none"
    try:
        versions = read(os.path.join(os.path.dirname(path), "versions.txt")).strip()
    except OSError:
        versions = "versions unknown"
    print(PAGE.format(date=date, versions=versions, jobs=len({row["job"] for row, _ in ran}), first=FIRST_S, aims="\n".join(f"| {a} | {b} |" for a, b in aims),
                      table="\n".join("| " + " | ".join(cell(row, process)) + " |" for row, process in ran), notes=notes, refused=refused, missed=missed).rstrip())


def main():
    if sys.argv[1:2] == ["--page"]:
        return page(sys.argv[2], sys.argv[3])
    if sys.argv[1:2] == ["--judge"]:
        return judge(sys.argv[2], json.loads(read(os.path.join(sys.argv[2], "outcomes.json"))))
    parser = argparse.ArgumentParser()
    parser.add_argument("hypermile")
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=440)
    parser.add_argument("jobs", nargs="*")
    options = parser.parse_intermixed_args()
    lines = campaign(os.path.abspath(options.hypermile), options.jobs or list(JOBS), os.path.abspath(options.out), options.seconds)
    outcomes = os.path.join(options.out, "outcomes.json")
    if os.path.exists(outcomes):  # jobs of an earlier call with the same folder
        lines = {**json.loads(read(outcomes)), **lines}
    with open(outcomes, "w", encoding="utf-8") as file:
        json.dump(lines, file, indent=1)
    for row in judge(options.out, lines):
        for process in row.get("processes", []):
            print(row["outcome"], " | ".join(cell(row, process)), flush=True)
        if "problem" in row:
            print(row["outcome"], row["job"], row["problem"], flush=True)


if __name__ == "__main__":
    main()

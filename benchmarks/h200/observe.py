# SPDX-License-Identifier: Apache-2.0
"""Runs `hypermile run --observe` with every loop of loops.py, and compares it with the loop's own record. Reads the GPU
and changes nothing on it (HYPERMILE_READ_ONLY=1).

usage: observe.py HYPERMILE OUT [--seconds N] [--logs FOLDER] [LOOP…]

OUT gets iterations.md (the table), iterations.json (all figures), and what hypermile printed (observe.log).
"""
import argparse
import bisect
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT = ["resnet_eager", "mlp_tiny", "gpt_accumulation", "compiled_graphs", "whole_graph", "gnn_small",
           "bert_lengths", "ticked_lengths", "nvtx_steps", "data_stalled", "train_eval", "two_processes", "profiled"]
MORE_OPTIONS = {"nvtx_steps": ["--nvtx-step", "step"]}


def run(hypermile, loop, seconds, folder):
    """One loop under hypermile: (exit code, output, summary, windows, truth by process)."""
    prefix, summary, log = (os.path.join(folder, name) for name in ("truth", "summary.json", "log.jsonl"))
    tick = os.path.join(os.path.dirname(hypermile), "..", "lib", "libhypermile.so")
    if not os.path.exists(tick):
        tick = os.path.join(os.path.dirname(hypermile), "libhypermile.so")
    environment = {**os.environ, "HYPERMILE_READ_ONLY": "1", "HYPERMILE_TICK_LIBRARY": tick}
    command = [hypermile, "run", "--observe", "--summary", summary, "--log", log, *MORE_OPTIONS.get(loop, []), "--",
               sys.executable, os.path.join(HERE, "loops.py"), loop, str(seconds), prefix]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds + 120)
    with open(summary, encoding="utf-8") as file:
        result = json.load(file)
    with open(log, encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    truths = {}
    for path in glob.glob(prefix + ".*.json"):
        with open(path, encoding="utf-8") as file:
            truth = json.load(file)
        truths[truth["pid"]] = truth
    return done, result, events, truths


def judge_window(window, truth):
    """Iterations and period of one window against the loop's record: (count error, period error) or None."""
    hosts, gpu = truth["host_ns"], truth["gpu_s"]
    first = bisect.bisect_right(hosts, window["begin_s"] * 1e9) - 1
    last = bisect.bisect_right(hosts, (window["begin_s"] + window["duration_s"]) * 1e9) - 1
    count = round(window["iterations"])
    if first < 0 or first + count >= len(gpu) or "time_per_iteration_s" not in window:
        return None
    own = (gpu[first + count] - gpu[first]) / count
    return count - (last - first), window["time_per_iteration_s"] / own - 1


def judge(process, truth, events):
    """One process of a run as a row of the table."""
    windows = [e for e in events if e["type"] == "window" and e.get("process") == process["pid"]]
    long_enough = [w for w in windows if w["duration_s"] >= 1.9]
    judged = [(w, judge_window(w, truth)) for w in long_enough]
    judged = [(w, j) for w, j in judged if j is not None]
    timed = [j[1] for w, j in judged if w.get("gpu_timed")]
    host_timed = [j[1] for w, j in judged if not w.get("gpu_timed")]
    counts = [j[0] for w, j in judged]
    energy = [w["energy_disagreement"] for w in long_enough if "energy_disagreement" in w]
    main = process["phases"][0] if process["phases"] else {}
    units = len(truth["host_ns"])
    span = truth["gpu_s"][-1] - truth["gpu_s"][0]
    return {
        "pid": process["pid"], "source": process["source"], "own_iterations": truth["iterations"],
        "found_iterations": sum(p["iterations"] for p in process["phases"]),
        "own_micro_batches": truth["micro_batches"], "found_micro_batches": main.get("micro_batches"),
        "coverage": process["coverage"], "launches_lost": process["launches_lost"], "gpu_times": process["gpu_times"],
        "phases": len(process["phases"]), "own_phases": truth["phases"],
        "own_ms": 1e3 * span / (units - 1) * truth["micro_batches"] if units > 1 else None,
        "found_ms": 1e3 * main["time_per_iteration_s"] if "time_per_iteration_s" in main else None,
        "found_ms_interval": 1e3 * main["time_interval95_s"] if "time_interval95_s" in main else None,
        "joules": main.get("energy_per_iteration_j"), "joules_interval": main.get("energy_interval95_j"),
        "watts": main.get("power_w"), "windows": len(windows), "windows_judged": len(judged),
        "windows_gpu_timed": len(timed), "count_errors": counts,
        "period_errors_gpu": timed, "period_errors_host": host_timed, "energy_disagreements": energy,
        "found_phases": process["phases"],
        "progress": [e for e in events if e["type"] == "progress" and e["process"] == process["pid"]],
        "unusable": [w["unusable"] for w in windows if "unusable" in w],
        **{key: value for key, value in truth.items() if key.startswith("kernels")},
    }


def percent(values, digits=2):
    if not values:
        return "-"
    worst = max(values, key=abs)
    return f"{100 * statistics.fmean(values):+.{digits}f} ({100 * worst:+.{digits}f})"


def cell(row):
    def number(key, digits=2):
        return "-" if row.get(key) is None else f"{row[key]:.{digits}f}"

    found = " + ".join(f"{phase['iterations']:.0f}" + (f" of {phase['micro_batches']:.0f}" if phase["micro_batches"] > 1 else "")
                       for phase in row["found_phases"])
    counts = row["count_errors"]
    return [row["loop"], row["source"], str(row["own_iterations"]), found or "0",
            f"{100 * row['coverage']:.0f}", f"{max(map(abs, counts))}" if counts else "-", number("own_ms"),
            f"{number('found_ms')} ± {number('found_ms_interval')}", percent(row["period_errors_gpu"]),
            percent(row["period_errors_host"]), f"{number('joules')} ± {number('joules_interval')}",
            percent(row["energy_disagreements"], 1), f"{row['windows_gpu_timed']} of {row['windows']}"]


HEAD = ["loop", "from", "own count", "found", "known %", "count off in a window, most", "own ms", "found ms",
        "period error %, GPU events: mean (worst)", "the same, host times", "J an iteration",
        "counter against power samples %: mean (worst)", "windows on GPU time"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hypermile")
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--logs", help="a folder that gets every loop's event log")
    parser.add_argument("loops", nargs="*")
    options = parser.parse_intermixed_args()
    rows, printed = [], []
    for loop in options.loops or DEFAULT:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                done, summary, events, truths = run(os.path.abspath(options.hypermile), loop, options.seconds, folder)
            except (OSError, ValueError, subprocess.SubprocessError) as problem:
                printed.append(f"== {loop}: failed: {problem}")
                print(printed[-1], flush=True)
                continue
            if options.logs:
                os.system(f"gzip -c {folder}/log.jsonl > {options.logs}/{loop}.jsonl.gz")
        printed.append(f"== {loop}: exit {done.returncode}, {time.monotonic() - begin:.1f} s\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
        print(printed[-1], flush=True)
        for process in summary["processes"]:
            if process["pid"] in truths:
                row = {"loop": loop, "exit_code": done.returncode, "notes": summary["notes"],
                       **judge(process, truths[process["pid"]], events)}
                rows.append(row)
                print("  ", " | ".join(cell(row)), flush=True)
        with open(os.path.join(options.out, "iterations.json"), "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    with open(os.path.join(options.out, "iterations.md"), "w", encoding="utf-8") as file:
        for line in [HEAD, ["---"] * len(HEAD), *map(cell, rows)]:
            file.write("| " + " | ".join(line) + " |\n")
    with open(os.path.join(options.out, "observe.log"), "w", encoding="utf-8") as file:
        file.write("\n".join(printed) + "\n")


if __name__ == "__main__":
    main()

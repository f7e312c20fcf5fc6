# SPDX-License-Identifier: Apache-2.0
"""Zeus's power limit optimiser and hypermile's policy on the same simulated job, one knob.

Zeus runs for real, on the stand-in: its optimiser drives the power limit while a job trains. What
it measured at each limit, and one window at the default, make a sweep; on that sweep, the same
numbers, `hypermile evaluate --knobs limit` plays hypermile's policy. Both are scored over a job of
the same length, exploration included, against the driver's default limit.

    compare_with_zeus.py [--workload W] [--gpu G] [--max-slowdown 1.05] [--iterations N] [--json]

Needs the environment of tests/nvmlsim (see CMakeLists.txt). Simulated, not measured on a GPU.
"""

import argparse
import csv
import json
import logging
import os
import sys

from stand_in import Job, Machine, hypermile
from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import Done, GlobalPowerLimitOptimizer, MaxSlowdownConstraint

SPEED = 20
WARM_UP, WINDOW = 10, 40  # steps, Zeus's own defaults
WINDOW_AND_CHANGE = 30 + 5  # iterations of one probe of `evaluate`


class Run:
    """A job under ZeusMonitor, step by step, in simulated seconds and joules."""

    def __init__(self, job):
        self.job = job
        self.monitor = ZeusMonitor(gpu_indices=[0], cpu_indices=[], sync_execution_with="jax")

    def measure(self, name, steps, before_step=lambda: None):
        """Mean seconds and joules of `steps` steps."""
        self.monitor.begin_window(name)
        for _ in range(steps):
            before_step()
            self.job.step()
        window = self.monitor.end_window(name)
        return window.time * SPEED / steps, window.total_energy / steps


def run_zeus(workload, factor):
    """What Zeus chose, what it saw at each limit, and what finding out cost."""
    with Job(workload) as job:
        run = Run(job)
        job.steps(WARM_UP)
        default = run.measure("default", WINDOW)
        optimizer = GlobalPowerLimitOptimizer(run.monitor, MaxSlowdownConstraint(factor))
        steps = 1 + len(optimizer.power_limits) * (WARM_UP + WINDOW) + 1
        optimizer.on_epoch_begin()
        exploring = run.measure("exploring", steps, optimizer.on_step_begin)
        if not isinstance(optimizer.state, Done):
            raise RuntimeError("Zeus has not settled after as many steps as it has limits to try")
        points = {
            m.power_limit: (m.time * SPEED / WINDOW, m.energy / WINDOW)
            for m in optimizer.measurements
        }
        chosen = optimizer.optimum_selector.select(optimizer.measurements)
    return {"default": default, "points": points, "chosen": chosen, "steps": steps,
            "exploring": exploring}


def write_sweep(path, gpu, workload, zeus, default_limit):
    points = dict(zeus["points"])
    points[default_limit] = zeus["default"]
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["gpu", "workload", "phase_or_kernel", "power_limit_w", "time_s", "power_w",
                      "is_default"])
        for limit, (seconds, joules) in sorted(points.items()):
            if limit <= default_limit:
                out.writerow([gpu, workload, "train", limit, f"{seconds:.6f}",
                              f"{joules / seconds:.3f}", int(limit == default_limit)])


def score_zeus(zeus, iterations):
    seconds, joules = zeus["default"]
    rest = max(iterations - zeus["steps"], 0)
    kept = zeus["points"][zeus["chosen"]]
    total_s = zeus["steps"] * zeus["exploring"][0] + rest * kept[0]
    total_j = zeus["steps"] * zeus["exploring"][1] + rest * kept[1]
    return {
        "optimiser": "zeus", "kept": f"limit={zeus['chosen']}W",
        "saved_pct": 100 * (1 - total_j / (iterations * joules)),
        "slowdown_pct": 100 * (total_s / (iterations * seconds) - 1),
        "final_saved_pct": 100 * (1 - kept[1] / joules),
        "final_slowdown_pct": 100 * (kept[0] / seconds - 1),
        "settled_after_iterations": zeus["steps"],
    }


def score_hypermile(sweep, iterations, factor, policy):
    """None where this build has no such policy."""
    done = hypermile("evaluate", sweep, "--policy", policy, "--knobs", "limit", "--iterations",
                     str(iterations), "--max-slowdown", str(factor), "--repeat", "5", "--json",
                     check=False)
    if done.returncode != 0:
        print(f"hypermile evaluate --policy {policy}: {done.stderr.strip()}", file=sys.stderr)
        return None
    runs = json.loads(done.stdout)["runs"]

    def mean(key):
        return sum(run[key] for run in runs) / len(runs)

    score = {key: mean(key) for key in
             ["saved_pct", "slowdown_pct", "final_saved_pct", "final_slowdown_pct"]}
    kept = ", ".join(sorted({run["final_setting"] for run in runs}))
    return {"optimiser": policy, "kept": kept, **score,
            "settled_after_iterations": mean("probes") * WINDOW_AND_CHANGE}


def show(scores, arguments):
    print(f"{arguments.workload} on a simulated {arguments.gpu}, power limit only, slowdown bound "
          f"{arguments.max_slowdown:g}, {arguments.iterations} iterations; simulated, not measured\n")
    print(f"{'':<12}{'saved %':>9}{'slower %':>9}{'kept: saved %':>15}{'slower %':>9}"
          f"{'settled after':>15}  kept")
    for s in scores:
        print(f"{s['optimiser']:<12}{s['saved_pct']:>9.2f}{s['slowdown_pct']:>9.2f}"
              f"{s['final_saved_pct']:>15.2f}{s['final_slowdown_pct']:>9.2f}"
              f"{s['settled_after_iterations']:>15.0f}  {s['kept']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--workload", default="resnet50")
    parser.add_argument("--gpu", default="rtx3080ti")
    parser.add_argument("--max-slowdown", type=float, default=1.05)
    parser.add_argument("--iterations", type=int, default=5000)
    parser.add_argument("--policy", default="hypermile")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)

    with Machine(arguments.gpu, speed=SPEED) as machine:
        gpus = json.loads(hypermile("simulate", "--status", "--json").stdout)["gpus"]
        zeus = run_zeus(arguments.workload, arguments.max_slowdown)
        sweep = os.path.join(machine.folder, "sweep.csv")
        write_sweep(sweep, arguments.gpu, arguments.workload, zeus, gpus[0]["power_limit_w"])
        scores = [score_zeus(zeus, arguments.iterations)]
        ours = score_hypermile(sweep, arguments.iterations, arguments.max_slowdown, arguments.policy)
        if ours is not None:
            scores.append(ours)
    if arguments.json:
        print(json.dumps({"scores": scores}))
    else:
        show(scores, arguments)
    # Zeus must have done its work; hypermile's row is there once its policy is.
    return 0 if scores[0]["final_saved_pct"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Zeus's power limit optimiser and hypermile's policy on the same simulated job, one knob.

Zeus runs for real, on the stand-in in scaled real time: its optimiser drives the power limit while a
job trains. hypermile's policy drives the same limit of the same simulated card under the same job in
virtual time (`hypermile simulate --knobs limit`). Limits are 25 W apart for both. Both are scored
over a job of the same length, exploration included, against the driver's default limit.

    compare_with_zeus.py [--workload W] [--gpu G] [--max-slowdown 1.05] [--iterations N] [--json]

Needs the environment of tests/nvmlsim (see CMakeLists.txt). Simulated, not measured on a GPU.
"""

import argparse
import json
import logging
import os
import sys

from stand_in import Job, Machine, hypermile
from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import Done, GlobalPowerLimitOptimizer, MaxSlowdownConstraint

SPEED = 20
WARM_UP, WINDOW = 10, 40  # steps; Zeus's own defaults
REPEAT = 5  # runs of hypermile, each with another card and other slow minutes


class Run:
    """A job under ZeusMonitor, step by step; times and energies are simulated."""

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
    """What Zeus chose, what it measured at each limit, and what the search cost."""
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


def settled_after(log, policy):
    """Iterations measured before the policy first kept a setting."""
    iterations, counting = 0, False
    with open(log, encoding="utf-8") as lines:
        for event in map(json.loads, lines):
            if event["type"] == "run_start":
                counting, iterations = event["environment"]["policy"] == policy, 0
            elif event["type"] == "window":
                iterations += event["iterations"]
            elif event["type"] == "decision" and counting and event["numbers"].get("exploring") == 0:
                return iterations
    raise RuntimeError(f"{policy} never settled")


def run_hypermile(arguments, seed, log):
    done = hypermile("simulate", "--gpu", f"sim:{arguments.gpu}", "--workload", arguments.workload,
                     "--policy", arguments.policy, "--knobs", "limit", "--iterations",
                     str(arguments.iterations), "--max-slowdown", str(arguments.max_slowdown),
                     "--seed", str(seed), "--log", log, "--json")
    run = next(r for r in json.loads(done.stdout)["runs"] if r["policy"] == arguments.policy)
    return {**run, "settled_after_iterations": settled_after(log, arguments.policy)}


def score_hypermile(folder, arguments):
    runs = [run_hypermile(arguments, seed, os.path.join(folder, f"{seed}.jsonl"))
            for seed in range(1, REPEAT + 1)]
    score = {key: sum(run[key] for run in runs) / len(runs) for key in
             ["saved_pct", "slowdown_pct", "final_saved_pct", "final_slowdown_pct",
              "settled_after_iterations"]}
    kept = ", ".join(sorted({run["final_setting"] for run in runs}))
    return {"optimiser": arguments.policy, "kept": kept, **score}


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
        zeus = run_zeus(arguments.workload, arguments.max_slowdown)
        scores = [score_zeus(zeus, arguments.iterations),
                  score_hypermile(machine.folder, arguments)]
    if arguments.json:
        print(json.dumps({"scores": scores}))
    else:
        show(scores, arguments)
    # Both must have finished their search, and hypermile must keep its bound.
    saved = all(score["final_saved_pct"] > 0 for score in scores)
    kept = scores[1]["slowdown_pct"] <= 100 * (arguments.max_slowdown - 1)
    return 0 if saved and kept else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of hypermile's Python package for a training thread: a step(), and a boundary of a plan, in nanoseconds and as
multiples of an empty Python call. Times are the thread's own processor time, the best of many short rounds, so that
other work on the machine does not count.

    PYTHONPATH=build/python benchmarks/python_overhead.py [--json] [--check]

step() is measured with and without a listener. A boundary is measured as a bare call, and as the additional time of a
module's forward (and backward) pass with the hook; that needs PyTorch, and the NVML stand-in where there is no GPU.
--check fails where a target is missed: step() below 1 µs, a boundary below 20 µs."""

import argparse
import json
import os
import sys
import tempfile
import time

ROUNDS = 12


def best_ns(call, count):
    """Nanoseconds of one call, without the loop around it."""

    def run(body):
        begin = time.thread_time_ns()
        body()
        return time.thread_time_ns() - begin

    def loop():
        for _ in range(count):
            call()

    def empty_loop():
        for _ in range(count):
            pass

    return max(min(run(loop) for _ in range(ROUNDS)) - min(run(empty_loop) for _ in range(ROUNDS)), 0) / count


def empty():
    pass


def measure_step(figures):
    import hypermile

    figures["empty call"] = best_ns(empty, 20_000)
    assert not hypermile.listening(), "run this outside of hypermile run"
    figures["step(), nobody listens"] = best_ns(hypermile.step, 20_000)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        os.environ["HYPERMILE_RING_DIR"] = folder
        hypermile._core.listen_again()
        assert hypermile.listening()
        figures["step()"] = best_ns(hypermile.step, 20_000)
        figures["step(phase)"] = best_ns(lambda: hypermile.step("train"), 20_000) - figures["empty call"]
        del os.environ["HYPERMILE_RING_DIR"]


def measure_boundary(figures):
    import hypermile
    import torch

    torch.set_num_threads(1)

    def network():
        return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))

    def plan(phase):
        return {"network": "bench", "switch_latency_s": 0.02, "max_slowdown": 0.05,
                "layers": [{"name": "0", "phase": phase}, {"name": "1", "phase": phase}],
                "strategies": [{"name": "uniform", "setting": "default"}],
                "segments": [{"first": i, "last": i, "setting": "default", "time_s": 1e-3} for i in range(2)]}

    data = torch.zeros(1, 4, requires_grad=True)
    plain = network()
    for phase in ("forward", "backward"):
        hooked = network()
        with hypermile.PlanExecutor(plan(phase), hooked, trial=None, dry_run=True) as executor:
            assert executor.report.state != "refused", executor.report.reason
            if phase == "forward":
                figures["boundary, bare call"] = best_ns(executor._execution.boundary(0), 20_000)
            work = {"forward": lambda model: model(data), "backward": lambda model: model(data).sum().backward()}[phase]
            times = {plain: [], hooked: []}
            for _ in range(8):  # alternating, because the machine drifts
                for model, seen in times.items():
                    seen.append(best_ns(lambda: work(model), 100))
        figures[f"boundary, {phase} of a module"] = (min(times[hooked]) - min(times[plain])) / 2  # the network has two modules


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--check", action="store_true")
    options = arguments.parse_args()
    figures = {}
    measure_step(figures)
    try:
        measure_boundary(figures)
    except (ImportError, AssertionError) as problem:
        print(f"boundaries are not measured: {problem}", file=sys.stderr)
    if options.json:
        print(json.dumps({name: {"ns": value, "empty_calls": value / figures["empty call"]}
                          for name, value in figures.items()}))
    else:
        print(f"{'':34}{'ns':>9}  empty calls")
        for name, value in figures.items():
            print(f"{name:34}{value:9.0f}{value / figures['empty call']:13.1f}")
    bars = {"step": 1e3, "boundary": 20e3}
    missed = [name for name, value in figures.items() for part, most in bars.items() if name.startswith(part) and value > most]
    if options.check and missed:
        sys.exit(f"beyond the bar: {', '.join(missed)}")


if __name__ == "__main__":
    main()

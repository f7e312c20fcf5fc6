# SPDX-License-Identifier: Apache-2.0
"""`hypermile run` on a real card that it may not change (HYPERMILE_READ_ONLY=1): it says so, continues to observe, and
reports what jobs on such cards saved. Three PyTorch loops of loops.py; under four minutes.

usage: run_read_only.py HYPERMILE OUT [--seconds N] [LOOP…]     runs, writes OUT/read_only.json
       run_read_only.py --page OUT/read_only.json DATE          prints docs/evidence/h200-observe.md
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LOOPS = ["resnet_eager", "gpt_accumulation", "mlp_tiny"]

PAGE = """# `hypermile run` on an H200 that it may not change

*Measured on a GPU, read-only; savings are expected, not measured.* {date}, one NVIDIA H200. Every run had
`HYPERMILE_READ_ONLY=1`, which makes each setter fail before it reaches NVML. `run` says so in one line, continues to observe, and
reports at the end what plausible jobs could save, from the search's broad prior (`src/policy/response.h`). No setting was tried on these loops.

```sh
python3 benchmarks/h200/run_read_only.py build/bin/hypermile OUT
python3 benchmarks/h200/run_read_only.py --page OUT/read_only.json DATE > docs/evidence/h200-observe.md
```

{table}

*Own count* is the loop's own count of iterations. *Expected* is the range that a perfect search would save on 80 of 100 plausible jobs,
and its median, within 5 % of their time. *limits before and after* are the card's limits and clocks as NVML reports them around the run.

## What `run` said

{said}
"""


def clock_limits():
    """The card's limits and current clocks by nvidia-smi, to show that nothing changed."""
    query = "clocks.max.sm,clocks.max.mem,power.limit,enforced.power.limit"
    done = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], capture_output=True, text=True)
    return done.stdout.strip() or done.stderr.strip()


def run(hypermile, loop, seconds):
    environment = {**os.environ, "HYPERMILE_READ_ONLY": "1"}
    with tempfile.TemporaryDirectory() as folder:
        summary, prefix = os.path.join(folder, "summary.json"), os.path.join(folder, "truth")
        before = clock_limits()
        done = subprocess.run([hypermile, "run", "--summary", summary, "--", sys.executable,
                               os.path.join(HERE, "loops.py"), loop, str(seconds), prefix],
                              env=environment, capture_output=True, text=True, timeout=seconds + 60)
        with open(summary, encoding="utf-8") as file:
            result = json.load(file)
        own = 0
        for name in os.listdir(folder):
            if name.startswith("truth."):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    own += json.load(file)["iterations"]
    return {"loop": loop, "exit_code": done.returncode, "said": done.stderr, "summary": result, "own_iterations": own,
            "before": before, "after": clock_limits()}


def row(one):
    process = one["summary"]["processes"][0] if one["summary"]["processes"] else {"phases": []}
    phase = process["phases"][0] if process["phases"] else {}
    control = one["summary"].get("control", {})
    expected = control.get("expected")

    def number(key, scale=1, digits=2):
        return f"{scale * phase[key]:.{digits}f}" if key in phase else "-"

    return [one["loop"], str(one["exit_code"]), control.get("state", "-"), str(one["own_iterations"]),
            number("iterations", digits=0), number("time_per_iteration_s", 1e3), number("energy_per_iteration_j"),
            number("power_w", digits=0),
            f"{100 * expected['saved_low']:.0f} to {100 * expected['saved_high']:.0f} %, median "
            f"{100 * expected['saved_median']:.0f} %" if expected else "-",
            "the same" if one["before"] == one["after"] else f"{one['before']} → {one['after']}"]


HEAD = ["loop", "exit", "control", "own count", "found", "ms", "J", "W", "expected, not tried", "limits before and after"]


def page(path, date):
    with open(path, encoding="utf-8") as file:
        runs = json.load(file)
    table = "\n".join("| " + " | ".join(line) + " |" for line in [HEAD, ["---"] * len(HEAD), *map(row, runs)])
    said = "\n\n".join(f"```\n$ HYPERMILE_READ_ONLY=1 hypermile run -- python loops.py {one['loop']}\n{one['said'].strip()}\n```"
                       for one in runs)
    print(PAGE.format(date=date, table=table, said=said).rstrip())


def main():
    if sys.argv[1:2] == ["--page"]:
        page(sys.argv[2], sys.argv[3])
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("hypermile")
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("loops", nargs="*")
    options = parser.parse_intermixed_args()
    runs = []
    for loop in options.loops or LOOPS:
        runs.append(run(os.path.abspath(options.hypermile), loop, options.seconds))
        print(f"== {loop}: exit {runs[-1]['exit_code']}\n{runs[-1]['said']}", flush=True)
        with open(os.path.join(options.out, "read_only.json"), "w", encoding="utf-8") as file:
            json.dump(runs, file, indent=1)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Writes docs/evidence/iterations-h200.md from the results of observe.py.

usage: observe_page.py OUT/iterations.json DATE > docs/evidence/iterations-h200.md
"""
import json
import statistics
import sys

from observe import HEAD, cell

PAGE = """# Iterations and joules on an H200, against the loops' own records

*Measured on a GPU, read-only.* {date}, one NVIDIA H200, driver 580.159.04, PyTorch 2.11, 16-core host. Every run had
`HYPERMILE_READ_ONLY=1`, which makes each setter fail before it reaches NVML. {loops} loops of real PyTorch ran under
`hypermile run --observe`, unmodified except for the two that tick or mark NVTX ranges. Each loop recorded the start of every iteration
on the host and, with its own CUDA event, on the GPU.

```sh
python3 benchmarks/h200/observe.py build/bin/hypermile OUT --seconds 13
python3 benchmarks/h200/observe_page.py OUT/iterations.json DATE > docs/evidence/iterations-h200.md
```

{table}

*Own count* is everything that the loop did, its slow first iterations included. *found* is what hypermile counted, phase by phase (*of 8*: micro-batches in
each). *known* is the share of time, from the process's first launch to the last one seen, in which iterations were known. Loops that launch a lot are watched
part of the time; what they do after the last launch seen is not counted. The next columns look into each window of about 2 s: by how many iterations its
count differs from the loop's record over the same time, and its time per iteration against that record. A window begins at the kernel that the detector
chose, and the record at the loop's first line, so where iterations differ the two intervals are not quite the same work. Where they are, as in
[step_times](injection-h200.md), GPU times agree with the loop's own events to 0.013 % in the worst of 124 windows. *Counter against power samples* compares the
energy counter with the integral of the card's 20 ms power buffer; where power comes in bursts the buffer errs, [see below](#the-power-buffer).

{verdicts}

{details}

In the cold first second of `gpt_accumulation` a layer took as long as an iteration does later. Its twelve layers passed for phases of 11 iterations each;
their windows were refused as too short, and the step was found half a second later. An earlier run had no such phases.

## The power buffer

`python3 benchmarks/h200/power_samples.py 13` starts bursts of matrix products of 30 ms at a fixed rhythm, polls the counter every 5 ms, and
compares it with the integral of the buffer's samples.

| rhythm, ms | samples: mean ± scatter, W | between samples, ms: median (most) | counter against samples over 2 s, %: mean size (worst) | over all, % |
| --- | --- | --- | --- | --- |
| 80.0 | 399 ± 260 | 20.7 (46.1) | 7.22 (+8.65) | +7.11 |
| 80.3 | 432 ± 271 | 20.6 (46.4) | 3.55 (-6.39) | -0.34 |
| 83.0 | 419 ± 270 | 20.6 (47.3) | 1.25 (-3.16) | -0.33 |
| 90.7 | 401 ± 272 | 21.1 (46.6) | 1.13 (+3.15) | -0.62 |

The buffer's samples are instants, not means. At 80 ms, four times the buffer's 20 ms, the same four places of each burst are sampled, and the buffer is 7 % off.
At 80.3 ms the error averages out. The counter agrees in the mean. hypermile takes the energy of a window from the counter, and only its shape
between two steps from the buffer.
"""


def share(values, bound):
    return f"{sum(abs(v) <= bound for v in values)} of {len(values)}"


def verdicts(rows):
    period = [e for row in rows for e in row["period_errors_gpu"]]
    energy = [e for row in rows for e in row["energy_disagreements"]]
    counts = [c for row in rows for c in row["count_errors"]]
    lines = ["| aim | met by | median | worst |", "| --- | --- | --- | --- |"]
    for name, values, bound, scale in (
            ("count of a window equal to the books' ± 1", counts, 1, 1),
            ("period from GPU events within 0.2 % over 2 s", period, 0.002, 100),
            ("energy counter within 3 % of integrated power", energy, 0.03, 100)):
        if values:
            unit = " %" if scale == 100 else ""
            lines.append(f"| {name} | {share(values, bound)} windows | {scale * statistics.median(map(abs, values)):.3g}{unit} | "
                         f"{scale * max(map(abs, values)):.3g}{unit} |")
    return "\n".join(lines)


def details(rows):
    lines = ["## What hypermile noted", ""]
    for row in rows:
        said = [f"{len(row['found_phases'])} phases found, {len({p['name'] for p in row['own_phases']})} made"] if row["own_phases"] else []
        if row["own_micro_batches"] > 1:
            said.append(f"{row['own_micro_batches']} micro-batches made, {row['found_micro_batches'] or 0:.0f} found")
        said += [f"other levels: every {p['outer']} iterations" for p in row["found_phases"] if p.get("outer")]
        if "kernels_profiled_per_iteration" in row:
            said.append(f"torch.profiler saw {row['kernels_profiled_per_iteration']:.0f} kernels an iteration")
        said += row["notes"]
        said += sorted(set(row["unusable"]))
        if row["launches_lost"]:
            said.append(f"{row['launches_lost']} launches lost")
        if said:
            lines.append(f"- `{row['loop']}`: " + "; ".join(said))
    return "\n".join(lines)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    table = "\n".join("| " + " | ".join(line) + " |" for line in [HEAD, ["---"] * len(HEAD), *map(cell, rows)])
    print(PAGE.format(date=sys.argv[2], loops=len({row["loop"] for row in rows}), table=table, verdicts=verdicts(rows),
                      details=details(rows)).rstrip())


main()

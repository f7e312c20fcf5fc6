#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the models with which simulated jobs are judged: one for each card and family of jobs, on simulated sweeps of the
other cards and the other families. No model has seen the card or a job of the family that it is used on. The shipped model
sees no simulated data at all (scripts/make-model).

  scripts/evidence/left_out_models.py FOLDER GPU[,GPU...]

Writes FOLDER/GPU-FAMILY.json; a model that exists is not trained again. scripts/evidence/suite calls it.

HYPERMILE   the program (default build/bin/hypermile)
PROCESSES   sweeps or trainings at a time (default: the number of processors)
"""

import concurrent.futures
import csv
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("HYPERMILE", ROOT / "build" / "bin" / "hypermile"))
PROCESSES = int(os.environ.get("PROCESSES", len(os.sched_getaffinity(0))))
EVERY = 3  # every third job on each card, another third on the next
GRID = "sm=8,mem=2"


def family_of(workload):
    text = (ROOT / "workloads" / f"{workload}.toml").read_text()
    return re.search(r'^family = "([^"]*)"', text, re.MULTILINE).group(1)


def quiet(command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def sweep(task):
    table, gpu, workload, seed = task
    if not table.exists():
        quiet([str(PROGRAM), "sweep", "--quiet", "--out", str(table), "--gpu", f"sim:{gpu}", "--workload", workload,
               "--grid", GRID, "--warm-up", "5s", "--settle", "0s", "--seed", str(seed), "--counters"])
    return table


def sweeps(folder):
    cards = sorted(path.stem for path in (ROOT / "gpus").glob("*.toml"))
    jobs = sorted(path.stem for path in (ROOT / "workloads").glob("*.toml"))
    return [(folder / f"{gpu}+{job}.csv", gpu, job, turn + 1) for turn, gpu in enumerate(cards)
            for number, job in enumerate(jobs) if (number + turn) % EVERY == 0]


def join(tables, target):
    """One table of several, without memory clocks below half the default's: they make every job many times slower and would
    dominate a fit."""
    with open(target, "w", newline="", encoding="utf-8") as out:
        writer = None
        for table in tables:
            with open(table, newline="", encoding="utf-8") as file:
                rows = csv.DictReader(file)
                if writer is None:
                    writer = csv.DictWriter(out, rows.fieldnames, extrasaction="ignore")
                    writer.writeheader()
                kept = list(rows)
            usual = next((float(r["mem_mhz"]) for r in kept if r["is_default"] == "1" and r["mem_mhz"]), 0)
            writer.writerows(r for r in kept if not r["mem_mhz"] or float(r["mem_mhz"]) >= usual / 2)


def train(task):
    model, tables = task
    if model.exists():
        return True
    joined = model.with_suffix(".csv")
    join(tables, joined)
    made = quiet([str(PROGRAM), "learn", str(joined), "--out", str(model)])
    joined.unlink()
    return made


def main(folder, gpus):
    folder = pathlib.Path(folder)
    tables = folder / "sweeps"
    tables.mkdir(parents=True, exist_ok=True)
    tasks = sweeps(tables)
    families = sorted({family_of(job) for _, _, job, _ in tasks})
    if all((folder / f"{gpu}-{family}.json").exists() for gpu in gpus for family in families):
        return
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        missing = [table.stem for table in pool.map(sweep, tasks) if not table.exists()]
        if missing:
            sys.exit(f"left_out_models: {len(missing)} of {len(tasks)} sweeps could not be made, {missing[0]} first")
        wanted = [(folder / f"{gpu}-{family}.json",
                   [table for table, card, job, _ in tasks
                    if card != gpu and family_of(job) != family])
                  for gpu in gpus for family in families]
        made = list(pool.map(train, wanted))
    if not all(made):
        sys.exit("left_out_models: a model could not be trained")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2].split(","))

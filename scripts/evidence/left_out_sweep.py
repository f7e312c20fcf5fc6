#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies a sweep without the rows of some cards and without the workloads of another sweep. A model trained on the copy has
seen neither the family of cards nor the jobs that it is then tested on.

    left_out_sweep.py IN OUT CARDS TESTED

CARDS is a regular expression of GPU names. TESTED is a sweep whose workloads (names without their inputs, as `learn` groups
them) are left out. Exits with 1 where no row remains."""

import csv
import re
import sys


def group(workload):
    name = workload.rstrip("0123456789")
    for mark in ("_input", "_arg", "#"):
        if len(name) < len(workload) and len(name) > len(mark) and name.endswith(mark):
            return name[: -len(mark)]
    return workload


def main(source, target, cards, tested):
    with open(tested, newline="", encoding="utf-8-sig") as file:
        known = {group(row["workload"]) for row in csv.DictReader(file)}
    with open(source, newline="", encoding="utf-8-sig") as file, open(target, "w", newline="", encoding="utf-8") as out:
        rows = csv.DictReader(file)
        writer = csv.DictWriter(out, rows.fieldnames)
        writer.writeheader()
        left = 0
        for row in rows:
            if re.search(cards, row["gpu"]) or group(row["workload"]) in known:
                continue
            writer.writerow(row)
            left += 1
    return 0 if left else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

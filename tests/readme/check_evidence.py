#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The index of evidence (docs/evidence/README.md) has one row for each page, with the newest date that the page names,
and every program in a row's commands is there. Reads files only.

usage: check_evidence.py [SOURCE_FOLDER]"""

import pathlib
import re
import sys

ROW = re.compile(r"^\| (?P<claim>.+) \| \[[^\]]+\]\((?P<page>[\w-]+\.md)\)(?: ●)? \| (?P<command>.+) \| (?P<date>\S+) \| .+ \|$")
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")
PROGRAM = re.compile(r"`(?:[A-Z_]+=\S+ )*((?:scripts|benchmarks|tests)/[\w./-]+|make \w+)")


def problems_of(root):
    folder = root / "docs" / "evidence"
    targets = (root / "Makefile").read_text(encoding="utf-8")
    rows = []
    for line in (folder / "README.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("| ") or line.startswith(("| claim |", "| --- |")):
            continue
        row = ROW.match(line)
        if row is None:
            yield f"this row is not claim, page, command, date, kind: {line[:80]}"
            continue
        rows.append(row["page"])
        page = folder / row["page"]
        newest = max(DATE.findall(page.read_text(encoding="utf-8")), default="no date") if page.exists() else "no page"
        if newest != row["date"]:
            yield f"{row['page']}: the index says {row['date']}, the page {newest}"
        for program in PROGRAM.findall(row["command"]):
            is_there = f"\n{program[5:]}:" in targets if program.startswith("make ") else (root / program).exists()
            if not is_there:
                yield f"{row['page']}: there is no {program}"
    for page in sorted(folder.glob("*.md")):
        count = rows.count(page.name)
        if page.name != "README.md" and count != 1:
            yield f"{page.name}: has {count} rows in the index"


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[2]
    problems = list(problems_of(root))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main(sys.argv[1:]))

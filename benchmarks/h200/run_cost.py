# SPDX-License-Identifier: Apache-2.0
"""What hypermile itself takes of its host beside a real training loop, its sensors polled at 50 Hz: share of one core and
resident memory of the hypermile process alone (the job is its child), from /proc. HYPERMILE_READ_ONLY=1.

usage: run_cost.py HYPERMILE [SECONDS] [LOOP…]"""
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TICK = os.sysconf("SC_CLK_TCK")


def used(pid):
    """Seconds of processor time, and MiB resident: in all, its own, of files (libraries), shared (rings)."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in file if line.startswith(("VmRSS", "Rss"))}
    resident = " / ".join(f"{sizes[name]:.0f}" for name in ("VmRSS", "RssAnon", "RssFile", "RssShmem"))
    return (int(fields[11]) + int(fields[12])) / TICK, resident


def measure(hypermile, loop, seconds):
    with tempfile.TemporaryDirectory() as folder:
        command = [hypermile, "run", "--observe", "--log", f"{folder}/log.jsonl", "--", sys.executable,
                   os.path.join(HERE, "loops.py"), loop, str(seconds + 25), f"{folder}/truth"]
        process = subprocess.Popen(command, env={**os.environ, "HYPERMILE_READ_ONLY": "1"}, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if "iterations are known" in line:
                break
        marks = []
        for wait in (0, min(9, seconds / 2), seconds):  # a launch-bound job is watched closely at first
            time.sleep(wait)
            marks.append((time.monotonic(), *used(process.pid)))
        process.terminate()
        process.communicate()
    shares = [100 * (b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(marks, marks[1:])]
    print(f"| {loop} | {shares[0]:.2f} | {shares[1]:.2f} | {marks[-1][2]} |", flush=True)


def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    print("| loop | first seconds, % of a core | after that | resident, MiB: all / own / files / shared |\n| --- | ---: | ---: | ---: |", flush=True)
    for loop in sys.argv[3:] or ("whole_graph", "resnet_eager"):
        measure(sys.argv[1], loop, seconds)


main()

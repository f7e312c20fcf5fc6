# SPDX-License-Identifier: Apache-2.0
"""The cost of hypermile itself on its host beside a real training loop under `run`, from /proc: share of one core by thread,
wakeups by thread, and resident memory of the hypermile process alone (the job is its child). Then the cost of NVML
without hypermile (nvml_calls.py) beside the same loop. HYPERMILE_READ_ONLY=1. Less than two minutes.

usage: run_cost.py HYPERMILE [SECONDS [LOOP…]]"""
import os
import subprocess
import sys
import tempfile
import time

from nvml_calls import resident_text, sizes

HERE = os.path.dirname(os.path.abspath(__file__))
TICK = os.sysconf("SC_CLK_TCK")
READ_ONLY = {**os.environ, "HYPERMILE_READ_ONLY": "1"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def cpu_of(task):
    """Processor seconds of a thread: in nanoseconds where the kernel reports them, else in ticks."""
    try:
        return int(read(f"{task}/schedstat").split()[0]) * 1e-9
    except (OSError, IndexError):
        fields = read(f"{task}/stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK


def woken(task):
    return sum(int(line.split()[1]) for line in read(f"{task}/status").splitlines() if line.startswith("voluntary_ctxt"))


def threads_of(pid):
    """By thread: (processor time, wakeups)."""
    folder = f"/proc/{pid}/task"
    return {int(name): (cpu_of(f"{folder}/{name}"), woken(f"{folder}/{name}")) for name in os.listdir(folder)}


def mappings_of(pid):
    """Resident KiB by mapped file, largest first."""
    kib, name = {}, ""
    for line in read(f"/proc/{pid}/smaps").splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            name = words[5] if len(words) > 5 else "(anonymous)"
        elif words[0] == "Rss:":
            kib[name] = kib.get(name, 0) + int(words[1])
    return sorted(kib.items(), key=lambda each: -each[1])


def by_thread(before, after, pid, span):
    """Share of a core and wakeups per second of each thread, beginning with the main thread."""
    parts = []
    for thread in sorted(after, key=lambda one: (one != pid, one)):
        cpu, wakeups = (now - then for now, then in zip(after[thread], before.get(thread, (0, 0))))
        if cpu > 0 or wakeups > 0:
            parts.append(f"{100 * cpu / span:.2f} % ({wakeups / span:.0f}/s)")
    return ", ".join(parts)


def share(before, after, span):
    return 100 * sum(after[one][0] - before.get(one, (0, 0))[0] for one in after) / span


def start(hypermile, loop, seconds, folder):
    command = [hypermile, "run", "--observe", "--log", f"{folder}/log.jsonl", "--", sys.executable,
               os.path.join(HERE, "loops.py"), loop, str(seconds), f"{folder}/truth"]
    process = subprocess.Popen(command, env=READ_ONLY, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "iterations are known" in line:
            break
    return process


def measure(hypermile, loop, seconds):
    """Prints a row and returns the largest mappings."""
    with tempfile.TemporaryDirectory() as folder:
        process = start(hypermile, loop, seconds + 25, folder)
        marks = [(time.monotonic(), threads_of(process.pid))]
        for wait in (min(9, seconds / 2), seconds):  # a launch-bound job is watched closely at first
            time.sleep(wait)
            marks.append((time.monotonic(), threads_of(process.pid)))
        resident, mappings = sizes(process.pid), mappings_of(process.pid)
        process.terminate()
        process.communicate()
    (begin, first), (middle, second), (end, third) = marks
    print(f"| {loop} | {share(first, second, middle - begin):.2f} | {share(second, third, end - middle):.2f} | "
          f"{by_thread(second, third, process.pid, end - middle)} | {resident_text(resident)} |", flush=True)
    return mappings


def beside_a_loop(command, loop, seconds):
    """Runs `command` while the loop trains by itself."""
    with tempfile.TemporaryDirectory() as folder:
        job = subprocess.Popen([sys.executable, os.path.join(HERE, "loops.py"), loop, str(seconds), f"{folder}/truth"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(12)  # by then the loop trains
        try:
            subprocess.run(command, env=READ_ONLY, check=False, timeout=seconds)
        finally:
            job.kill()
            job.wait()


def main():
    hypermile = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    loops = sys.argv[3:] or ["whole_graph", "resnet_eager"]
    print("| loop | first seconds, % of a core | after that | by thread (wakeups) | resident, MiB | its own | of files | shared |\n"
          "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |", flush=True)
    for loop in loops:
        mappings = measure(hypermile, loop, seconds)
    print("\n| mapped, last loop | resident, MiB |\n| --- | ---: |")
    for name, kib in mappings[:14]:
        print(f"| {name} | {kib / 1024:.2f} |")
    print(flush=True)
    beside_a_loop([sys.executable, os.path.join(HERE, "nvml_calls.py")], loops[-1], 60)


if __name__ == "__main__":
    main()

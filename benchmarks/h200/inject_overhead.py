# SPDX-License-Identifier: Apache-2.0
"""What the injected library costs PyTorch loops: launch-bound (many tiny kernels), GPU-bound, and one
CUDA graph per iteration. Processes differ from one another by 10 % and more on such loops, so both
ways are measured inside one process: blocks of about 25 ms with the library watching and with
CUPTI's subscription given up, in the order A B B A, the host waiting for the GPU around each. A
controller drains the ring and asks for CUDA events all the while, as in a real run. A round's figure
is the trimmed mean of its neighbouring blocks' ratios; the interval is Student's over the rounds.

Usage: inject_overhead.py FOLDER_OF_LIBRARIES [ROUNDS] [SECONDS A ROUND] [JOB…]"""
import ctypes
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# Two-sided 95 % points of Student's t by number of rounds.
T95 = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 8: 2.365, 10: 2.262, 12: 2.201, 15: 2.145, 20: 2.093}
BLOCK_SECONDS = 0.025


def trimmed_mean(values, share=0.2):
    cut = int(len(values) * share)
    return statistics.fmean(sorted(values)[cut : len(values) - cut])


def job(name, rounds, seconds):
    """In the process with the library: prints each round's relative difference and the block times."""
    import inject_jobs
    import torch

    pause = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).hypermile_inject_pause
    step = {"mlp": inject_jobs.mlp, "matmul": inject_jobs.matmul, "graph": inject_jobs.graph}[name]()

    def block(count, paused):
        pause(paused)
        for _ in range(max(3, count // 10)):
            step()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) / count

    block(200, 0)
    count = max(5, int(BLOCK_SECONDS / block(50, 0)))
    for _ in range(rounds):
        ratios, without = [], []
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            for first in (0, 1):
                times = {paused: block(count, paused) for paused in (first, 1 - first)}
                ratios.append(times[0] / times[1] - 1)
                without.append(times[1])
        pause(0)
        print(json.dumps({"difference": trimmed_mean(ratios), "pairs": len(ratios),
                          "period_s": statistics.median(without)}), flush=True)


def drain(process, folder):
    import ring

    held, wanted, launches = {}, set(), 0
    while process.poll() is None:
        for name in os.listdir(folder):
            if name.endswith(".ring") and name not in held:
                held[name] = ring.Ring(os.path.join(folder, name))
        for name, each in held.items():
            kernels = [r[4] for r in each.drain() if r[0] == "launch"]
            launches += len(kernels)
            if kernels and name not in wanted and each.next > 2000:
                each.want_events(min(set(kernels), key=kernels.count))
                wanted.add(name)
        time.sleep(0.05)
    return launches, [each.header() for each in held.values()]


def measure(name, libraries, rounds, seconds):
    command = [sys.executable, os.path.abspath(__file__), "--job", name, str(rounds), str(seconds)]
    if os.cpu_count() > 4:
        command = ["taskset", "-c", "2-5"] + command
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        env = {**os.environ, "HYPERMILE_RING_DIR": folder,
               "CUDA_INJECTION64_PATH": os.path.join(libraries, "libhypermile_inject.so")}
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        launches, headers = drain(process, folder)
        lines = [json.loads(line) for line in process.communicate()[0].splitlines()]
    assert launches > 1000 and headers[0]["status"] == "ended", (launches, headers)
    for number, line in enumerate(lines):
        print(f"  {name} round {number + 1}: {line['difference']:+.3%} ({line['pairs']} pairs, "
              f"{line['period_s'] * 1e6:.2f} us an iteration without)")
    differences = [line["difference"] for line in lines]
    half = T95.get(len(lines), 2.0) * statistics.stdev(differences) / math.sqrt(len(lines))
    print(f"{name}: {statistics.fmean(differences):+.3%} +- {half:.3%} (95 %), {launches} launches drained, "
          f"{headers[0]['events_placed']} events", flush=True)


def main():
    if sys.argv[1] == "--job":
        return job(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 4
    if os.cpu_count() > 4:
        os.sched_setaffinity(0, {0, 1})
    for name in sys.argv[4:] or ("mlp", "matmul", "graph"):
        measure(name, os.path.abspath(sys.argv[1]), rounds, seconds)


main()

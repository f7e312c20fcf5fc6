# SPDX-License-Identifier: Apache-2.0
"""The cost of the injected library for PyTorch loops: launch-bound (many tiny kernels), GPU-bound, and one CUDA graph per
iteration. Such loops vary by 10 % and more between processes, and also within one process from second to second. So
three modes alternate inside one process, in blocks of about 25 ms:

  none       without CUPTI's subscription: the reference, before and after every two other blocks
  watching   every launch is seen, as during the search for a pattern
  dark       subscribed, but with launch callbacks off, as most of the time after that search

The process has one core for itself and no garbage collection. The figure of a block is the median time of its iterations
where the host limits them (mlp); otherwise it is the block's duration, with a wait for the GPU at both ends. Each figure
is divided by the mean of the two reference blocks around it. The result is the mean of these ratios without the outer
fifths, with an interval from a bootstrap over stretches of ten blocks. "duty" is the mixture of both modes that
hypermile's duty cycle produces.

A controller drains the ring and requests CUDA events all the time, as in a real run. At the end it requests dark
stretches in quick succession, so that the library's own thread turns CUPTI's callbacks off and on during launches.

Usage: inject_overhead.py FOLDER_OF_LIBRARIES [SECONDS] [JOB…]"""
import ctypes
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
NONE, WATCHING, DARK = 1, 0, 2  # arguments of hypermile_inject_pause
TURNS = (WATCHING, DARK, NONE, DARK, WATCHING, NONE)
BLOCK_S = 0.025
SWITCHED_S = 5  # length of the part with dark stretches
BEARABLE, PER_LAUNCH_S = 0.0025, 0.6e-6  # src/progress/follow/watch_duty.h


def trimmed_mean(values, share=0.2):
    cut = int(len(values) * share)
    return statistics.fmean(sorted(values)[cut : len(values) - cut])


def job(name, seconds):
    """Runs in the process with the library: prints the mode and figure of every block as one JSON line."""
    if os.cpu_count() > 4:
        os.sched_setaffinity(0, {3})
    import inject_jobs
    import torch

    pause = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).hypermile_inject_pause
    step = {"mlp": inject_jobs.mlp, "matmul": inject_jobs.matmul, "graph": inject_jobs.graph}[name]()
    gc.disable()

    def block(count, how):
        pause(how)
        for _ in range(3):
            step()
        torch.cuda.synchronize()
        clock = time.perf_counter_ns
        stamps = [clock()]
        for _ in range(count):
            step()
            stamps.append(clock())
        torch.cuda.synchronize()
        whole = (clock() - stamps[0]) / count
        single = statistics.median(b - a for a, b in zip(stamps, stamps[1:]))
        return (single if name == "mlp" else whole) * 1e-9

    for _ in range(5):
        block(100, WATCHING)
    count = max(5, int(BLOCK_S / block(50, WATCHING)))
    blocks = [(NONE, block(count, NONE))]
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        for how in TURNS:
            blocks.append((how, block(count, how)))
    pause(WATCHING)
    open(os.environ["HYPERMILE_SWITCH_FILE"], "w").close()
    until = time.perf_counter() + SWITCHED_S
    switched = 0
    while time.perf_counter() < until:
        step()
        switched += 1
    torch.cuda.synchronize()
    print(json.dumps({"blocks": blocks, "count": count, "switched": switched}), flush=True)


def control(process, folder, switch_file):
    """Acts as the controller: drains the ring, requests events and, at the end, dark stretches."""
    import ring

    held, wanted, counts = {}, set(), {"launches": 0, "stretches": 0}
    next_wish = 0
    while process.poll() is None:
        for name in os.listdir(folder):
            if name.endswith(".ring") and name not in held:
                held[name] = ring.Ring(os.path.join(folder, name))
        switching = os.path.exists(switch_file)
        for name, each in held.items():
            records = list(each.drain())
            kernels = [r[4] for r in records if r[0] == "launch"]
            counts["launches"] += len(kernels)
            counts["stretches"] += sum(1 for r in records if r[0] == "watch" and r[4] == 1)
            if kernels and name not in wanted and each.next > 2000:
                each.want_events(min(set(kernels), key=kernels.count))
                wanted.add(name)
            if switching and time.monotonic() >= next_wish:
                each.want_dark(time.monotonic_ns() + 20_000_000)
                next_wish = time.monotonic() + 0.04
        time.sleep(0.005 if switching else 0.05)
    return counts, [each.header() for each in held.values()]


def ratios(blocks):
    """(mode, ratio to the reference blocks around - 1), in order."""
    out = []
    for i in range(0, len(blocks) - 3, 3):
        reference = (blocks[i][1] + blocks[i + 3][1]) / 2
        out.append({how: time / reference - 1 for how, time in blocks[i + 1 : i + 3]})
    return out


def interval(pairs, figure, draws=2000, stretch=5):
    source = random.Random(1)
    starts = range(max(1, len(pairs) - stretch + 1))
    drawn = []
    for _ in range(draws):
        sample = []
        while len(sample) < len(pairs):
            at = source.choice(starts)
            sample += pairs[at : at + stretch]
        drawn.append(figure(sample))
    drawn.sort()
    return drawn[int(0.025 * draws)], drawn[int(0.975 * draws)]


def report(name, result, counts, header):
    pairs = ratios(result["blocks"])
    period = statistics.median(t for how, t in result["blocks"] if how == NONE)
    launches = {"mlp": 30, "matmul": 8, "graph": 1}[name]
    share = min(1.0, BEARABLE / (PER_LAUNCH_S * launches / period))
    watching = lambda sample: trimmed_mean([p[WATCHING] for p in sample])
    dark = lambda sample: trimmed_mean([p[DARK] for p in sample])
    duty = lambda sample: share * watching(sample) + (1 - share) * dark(sample)
    print(f"{name}: {period * 1e6:.1f} us an iteration without, {len(pairs)} pairs of blocks of {result['count']}")
    for what, figure in (("watching", watching), ("dark", dark), (f"duty ({share:.0%} watched)", duty)):
        low, high = interval(pairs, figure)
        print(f"  {what}: {figure(pairs):+.3%}, 95 % {low:+.3%} to {high:+.3%}")
    print(f"  {counts['launches']} launches drained, {header['events_placed']} events, {counts['stretches']} dark "
          f"stretches of 20 ms asked for in {SWITCHED_S} s, {header['dark_ns'] * 1e-9:.2f} s dark", flush=True)


def measure(name, libraries, seconds):
    command = [sys.executable, os.path.abspath(__file__), "--job", name, str(seconds)]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        switch_file = os.path.join(folder, "switch")
        env = {**os.environ, "HYPERMILE_RING_DIR": folder, "HYPERMILE_SWITCH_FILE": switch_file,
               "CUDA_INJECTION64_PATH": os.path.join(libraries, "libhypermile_inject.so")}
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        counts, headers = control(process, folder, switch_file)
        result = json.loads(process.communicate()[0].splitlines()[-1])
    assert process.returncode == 0 and counts["launches"] > 1000 and headers[0]["status"] == "ended", headers
    report(name, result, counts, headers[0])


def main():
    if sys.argv[1] == "--job":
        return job(sys.argv[2], float(sys.argv[3]))
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    if os.cpu_count() > 4:
        os.sched_setaffinity(0, {0, 1})
    for name in sys.argv[3:] or ("mlp", "matmul", "graph"):
        measure(name, os.path.abspath(sys.argv[1]), seconds)


main()

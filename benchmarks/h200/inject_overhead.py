# SPDX-License-Identifier: Apache-2.0
"""What the injected library costs PyTorch loops: launch-bound (many tiny kernels), GPU-bound, and one
CUDA graph per iteration. Processes differ from one another by 10 % and more on such loops, so all
ways are measured inside one process, in neighbouring blocks in the order A B B A, the host waiting
for the GPU around each. B is always the same: CUPTI's subscription given up. A is

  watching   every launch is seen, as while a pattern is looked for
  dark       subscribed, but the callbacks of launches are off, as most of the time afterwards
  duty       a controller asks for 200 ms of dark in every 250 ms, so that the library's own thread
             turns CUPTI's callbacks off and on as in a run, only more often

in blocks of 25 ms, of 500 ms for duty. A controller drains the ring and asks for CUDA events all the
while, as in a real run. A round's figure is the trimmed mean of its neighbouring blocks' ratios; the
interval is Student's over the rounds.

Usage: inject_overhead.py FOLDER_OF_LIBRARIES [ROUNDS] [SECONDS A ROUND AND WAY] [JOB…]"""
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
WAYS = {"watching": (0, 0.025), "dark": (2, 0.025), "duty": (0, 0.5)}  # pause's argument, block's seconds
UNSUBSCRIBED = 1
DUTY_CYCLE_S, DUTY_DARK_S = 0.25, 0.2


def trimmed_mean(values, share=0.2):
    cut = int(len(values) * share)
    return statistics.fmean(sorted(values)[cut : len(values) - cut])


def job(name, rounds, seconds):
    """In the process with the library: prints each round's relative difference and the block times."""
    import inject_jobs
    import torch

    pause = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).hypermile_inject_pause
    step = {"mlp": inject_jobs.mlp, "matmul": inject_jobs.matmul, "graph": inject_jobs.graph}[name]()

    def block(count, how):
        pause(how)
        for _ in range(min(20, max(3, count // 10))):
            step()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) / count

    block(200, 0)
    period = block(50, 0)
    for _ in range(rounds):
        for way, (how, length) in WAYS.items():
            open(os.environ["HYPERMILE_WAY_FILE"], "w").write(way)
            count = max(5, int(length / period))
            ratios, without = [], []
            until = time.perf_counter() + seconds
            while time.perf_counter() < until or len(ratios) < 4:
                for order in ((how, UNSUBSCRIBED), (UNSUBSCRIBED, how)):
                    times = {each: block(count, each) for each in order}
                    ratios.append(times[how] / times[UNSUBSCRIBED] - 1)
                    without.append(times[UNSUBSCRIBED])
            print(json.dumps({"way": way, "difference": trimmed_mean(ratios), "pairs": len(ratios),
                              "period_s": statistics.median(without)}), flush=True)
    pause(0)


def control(process, folder, way_file):
    """What a controller does: drains, asks for events, and for darkness where that is measured."""
    import ring

    held, wanted, counts = {}, set(), {"launches": 0, "stretches": 0}
    dark_at = {}
    while process.poll() is None:
        for name in os.listdir(folder):
            if name.endswith(".ring") and name not in held:
                held[name] = ring.Ring(os.path.join(folder, name))
        duty = os.path.exists(way_file) and open(way_file).read() == "duty"
        now = time.monotonic()
        for name, each in held.items():
            records = list(each.drain())
            kernels = [r[4] for r in records if r[0] == "launch"]
            counts["launches"] += len(kernels)
            counts["stretches"] += sum(1 for r in records if r[0] == "watch" and r[4] == 1)
            if kernels and name not in wanted and each.next > 2000:
                each.want_events(min(set(kernels), key=kernels.count))
                wanted.add(name)
            if duty and now >= dark_at.get(name, 0):
                each.want_dark(time.monotonic_ns() + int(DUTY_DARK_S * 1e9))
                dark_at[name] = now + DUTY_CYCLE_S
            elif not duty and each.dark_until != 0:
                each.want_dark(0)
        time.sleep(0.01 if duty else 0.05)
    return counts, [each.header() for each in held.values()]


def measure(name, libraries, rounds, seconds):
    command = [sys.executable, os.path.abspath(__file__), "--job", name, str(rounds), str(seconds)]
    if os.cpu_count() > 4:
        command = ["taskset", "-c", "2-5"] + command
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        way_file = os.path.join(folder, "way")
        env = {**os.environ, "HYPERMILE_RING_DIR": folder, "HYPERMILE_WAY_FILE": way_file,
               "CUDA_INJECTION64_PATH": os.path.join(libraries, "libhypermile_inject.so")}
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        counts, headers = control(process, folder, way_file)
        lines = [json.loads(line) for line in process.communicate()[0].splitlines()]
    assert process.returncode == 0 and counts["launches"] > 1000 and headers[0]["status"] == "ended", headers
    for way in WAYS:
        of_way = [line for line in lines if line["way"] == way]
        for number, line in enumerate(of_way):
            print(f"  {name} {way} round {number + 1}: {line['difference']:+.3%} ({line['pairs']} pairs, "
                  f"{line['period_s'] * 1e6:.2f} us an iteration without)")
        differences = [line["difference"] for line in of_way]
        half = T95.get(len(of_way), 2.0) * statistics.stdev(differences) / math.sqrt(len(of_way))
        print(f"{name} {way}: {statistics.fmean(differences):+.3%} +- {half:.3%} (95 %)", flush=True)
    print(f"{name}: {counts['launches']} launches drained, {headers[0]['events_placed']} events, "
          f"{counts['stretches']} dark stretches, {headers[0]['dark_ns'] * 1e-9:.1f} s dark", flush=True)


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

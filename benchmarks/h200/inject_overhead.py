# SPDX-License-Identifier: Apache-2.0
"""What the injected library costs a PyTorch loop: processes with it and without it, alternating, each
timing itself. Prints the mean relative difference with a 95 % confidence interval for a launch-bound
loop (many tiny kernels) and a GPU-bound one. A controller drains the ring and asks for CUDA events
all the while, as in a real run. Usage: inject_overhead.py FOLDER_OF_LIBRARIES [PAIRS] [SECONDS]"""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import ring  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# Two-sided 95 % points of Student's t for n - 1 degrees of freedom.
T95 = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 8: 2.365, 10: 2.262, 12: 2.201, 15: 2.145, 20: 2.093}


def drain(job, folder):
    held, wanted = {}, set()
    while job.poll() is None:
        for name in os.listdir(folder):
            if name.endswith(".ring") and name not in held:
                held[name] = ring.Ring(os.path.join(folder, name))
        for name, each in held.items():
            kernels = [r[4] for r in each.drain() if r[0] == "launch"]
            if kernels and name not in wanted and each.next > 5000:
                each.want_events(min(set(kernels), key=kernels.count))
                wanted.add(name)
        time.sleep(0.05)


def run(job_name, seconds, libraries):
    command = [sys.executable, os.path.join(HERE, "inject_jobs.py"), job_name, str(seconds)]
    if os.cpu_count() > 4:
        command = ["taskset", "-c", "2-3"] + command  # the same cores every time, none of them ours
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        env = dict(os.environ)
        if libraries:
            env.update(HYPERMILE_RING_DIR=folder,
                       CUDA_INJECTION64_PATH=os.path.join(libraries, "libhypermile_inject.so"))
        job = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        drain(job, folder)
        out = json.loads(job.communicate()[0])
        if libraries:
            header = ring.rings(folder)[0].header()
            assert header["head"] > 1000, header
        return out["median_s"]


def main():
    libraries = os.path.abspath(sys.argv[1])
    if len(os.sched_getaffinity(0)) > 4:
        os.sched_setaffinity(0, {0, 1})
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 3
    for job_name in ("mlp", "matmul"):
        differences, plain = [], []
        for pair in range(pairs):
            order = (None, libraries) if pair % 2 == 0 else (libraries, None)
            times = {which: run(job_name, seconds, which) for which in order}
            plain.append(times[None])
            differences.append(times[libraries] / times[None] - 1)
            print(f"  {job_name} {pair + 1}/{pairs}: {times[None] * 1e6:.2f} us without, "
                  f"{times[libraries] * 1e6:.2f} us with, {differences[-1]:+.3%}", flush=True)
        mean = statistics.fmean(differences)
        half = T95.get(pairs, 2.0) * statistics.stdev(differences) / math.sqrt(pairs)
        spread = statistics.stdev(plain) / statistics.fmean(plain)
        print(f"{job_name}: {mean:+.3%} +- {half:.3%} (95 %), median {statistics.median(differences):+.3%}; "
              f"runs without spread by {spread:.3%}", flush=True)


main()

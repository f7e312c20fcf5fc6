# SPDX-License-Identifier: Apache-2.0
"""Checks the injected library in real PyTorch processes: launches against the loop's own count, periods from CUDA events
against the loop's own timing, profilers, captures, forks and NVTX. Changes nothing on the GPU.
Usage: inject_check.py FOLDER_OF_LIBRARIES [JOB…]"""
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import ring  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = "4"


def environment(libraries, folder):
    inject = os.path.join(libraries, "libhypermile_inject.so")
    return {**os.environ, "HYPERMILE_RING_DIR": folder, "CUDA_INJECTION64_PATH": inject,
            "NVTX_INJECTION64_PATH": inject, "HYPERMILE_NVTX_STEP": "step"}


def regular_kernel(launches):
    """The kernel whose launches are spaced most regularly in the stream, to use as a boundary."""
    places = collections.defaultdict(list)
    for place, (_, kernel) in enumerate(launches):
        places[kernel].append(place)
    best = None
    for kernel, at in places.items():
        gaps = [b - a for a, b in zip(at, at[1:])]
        if len(gaps) < 8:
            continue
        score = statistics.pstdev(gaps) / statistics.fmean(gaps), -statistics.fmean(gaps)
        best = min(best or (score, kernel), (score, kernel))
    return best[1] if best else None


def watch(job, folder):
    """Drains every ring until the job ends, and requests a boundary as soon as one is found."""
    seen, wanted, records = {}, {}, collections.defaultdict(list)
    while True:
        running = job.poll() is None
        for name in os.listdir(folder):
            if name.endswith(".ring") and name not in seen:
                seen[name] = ring.Ring(os.path.join(folder, name))
        for name, each in seen.items():
            records[name].extend(each.drain())
            if name not in wanted and len(records[name]) > 3000:
                recent = [(r[1], r[4]) for r in records[name][-2000:] if r[0] == "launch"]
                wanted[name] = regular_kernel(recent)
                if wanted[name] is not None:
                    each.want_events(wanted[name])
        if not running:
            return seen, wanted, records
        time.sleep(0.02)


def gpu_period(records, kernel):
    """Seconds on the GPU per launch of the boundary kernel, over the longest series on one GPU clock."""
    axes = collections.defaultdict(list)
    for kind, _, launch, axis, _, bits in records:
        if kind == "gpu_time":
            axes[axis].append((launch, ring.seconds(bits)))
    if not axes:
        return None
    points = max(axes.values(), key=len)
    boundaries = [r[1] for r in records if r[0] == "launch" and r[4] == kernel]
    first, last = points[0], points[-1]
    between = sum(first[0] < b <= last[0] for b in boundaries)
    return {"events": len(points), "per_boundary_s": (last[1] - first[1]) / between if between else None}


def main():
    libraries, jobs = sys.argv[1], sys.argv[2:] or ["mlp", "matmul", "graph", "profiled", "recapturing",
                                                     "forking", "nvtx", "compiled"]
    for name in jobs:
        command = [sys.executable, os.path.join(HERE, "inject_jobs.py"), name, SECONDS]
        without = subprocess.run(command, capture_output=True, text=True)
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            job = subprocess.Popen(command, env=environment(libraries, folder), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            seen, wanted, records = watch(job, folder)
            out, errors = job.communicate()
            print(f"== {name}\n  without: rc {without.returncode} {without.stdout.strip()}")
            print(f"  with:    rc {job.returncode} {out.strip()}")
            if errors.strip() != without.stderr.strip():
                print("  stderr differs:", errors.strip()[-600:])
            for file, each in seen.items():
                header = each.header()
                kinds = collections.Counter(r[0] for r in records[file])
                kernels = collections.Counter(r[4] for r in records[file] if r[0] == "launch")
                print("  ring", {k: header[k] for k in ("process", "pid", "status", "reason", "cupti",
                      "driver", "names", "contexts", "forks", "events_placed", "events_passed",
                      "in_capture")}, dict(kinds), "lost", each.lost)
                for kernel, count in kernels.most_common(3):
                    print(f"    {count} x {each.name(kernel)[:90]}")
                if wanted.get(file) is not None:
                    print("    boundary", each.name(wanted[file])[:90], kernels[wanted[file]], "launches",
                          json.dumps(gpu_period(records[file], wanted[file])))
        sys.stdout.flush()


main()

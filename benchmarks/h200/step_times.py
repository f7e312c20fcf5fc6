# SPDX-License-Identifier: Apache-2.0
"""Compares three timings of a PyTorch loop's steps, which the loop marks by NVTX ranges or ticks: the injected library's GPU
times, CUDA events that the loop records at the same places, and the host's clock. The loop is GPU-bound and waits for the
GPU only every 100 steps, so the host is far ahead.
Changes nothing on the GPU. Usage: step_times.py FOLDER_OF_LIBRARIES [SECONDS]"""
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
WINDOW_S = 2.0


def job(how, seconds, libraries, out):
    import inject_jobs
    import torch

    step = inject_jobs.matmul()
    if how == "ticks":
        begin = ctypes.CDLL(os.path.join(libraries, "libhypermile.so")).hypermile_tick
    else:
        begin = lambda: torch.cuda.nvtx.range_push("step")
    for _ in range(50):
        step()
    events = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        begin()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        events.append(event)
        step()
        if how != "ticks":
            torch.cuda.nvtx.range_pop()
        if len(events) % 100 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    json.dump([events[0].elapsed_time(e) * 1e-3 for e in events], open(out, "w"))


def watch(process, folder):
    import ring

    rings, ticks, times = {}, [], []
    while True:
        running = process.poll() is None
        for name in sorted(os.listdir(folder)):
            if name.endswith(".ring") and name not in rings:
                rings[name] = ring.Ring(os.path.join(folder, name))
                if "launches" in name:
                    rings[name].want_step_events()
        for each in rings.values():
            for kind, number, a, axis, _, bits in each.drain():
                if kind in ("tick", "step"):
                    ticks.append((number, a * 1e-9))
                elif kind in ("gpu_time", "tick_time"):
                    times.append((a, axis, ring.seconds(bits)))
        if not running:
            return ticks, times
        time.sleep(0.02)


def compare(how, own, ticks, times):
    place = {number: i for i, (number, _) in enumerate(ticks)}
    timed = [(place[n], t) for n, axis, t in times if axis == times[-1][1] and n in place]
    ours, host = [], []
    for i, (a, ta) in enumerate(timed):
        later = [(b, tb) for b, tb in timed[i + 1 :] if tb - ta >= WINDOW_S]
        if not later:
            break
        b, tb = later[0]
        truth = own[b] - own[a]
        ours.append((tb - ta) / truth - 1)
        host.append((ticks[b][1] - ticks[a][1]) / truth - 1)
    worst = lambda errors: max(errors, key=abs)
    print(f"{how}: {len(own)} steps made, {len(ticks)} told, {len(timed)} timed on the GPU; "
          f"{len(ours)} windows of 2 s against the loop's own events: "
          f"GPU times off by {statistics.median(map(abs, ours)):.5%} (worst {worst(ours):+.5%}), "
          f"host times by {statistics.median(map(abs, host)):.4%} (worst {worst(host):+.4%})", flush=True)


def main():
    if sys.argv[1] == "--job":
        return job(sys.argv[2], float(sys.argv[3]), sys.argv[4], sys.argv[5])
    libraries = os.path.abspath(sys.argv[1])
    seconds = sys.argv[2] if len(sys.argv) > 2 else "8"
    inject = os.path.join(libraries, "libhypermile_inject.so")
    for how in ("nvtx", "ticks"):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            env = {**os.environ, "HYPERMILE_RING_DIR": folder, "CUDA_INJECTION64_PATH": inject}
            if how == "nvtx":
                env.update(NVTX_INJECTION64_PATH=inject, HYPERMILE_NVTX_STEP="step")
            out = os.path.join(folder, "own.json")
            process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--job", how, seconds,
                                        libraries, out], env=env)
            ticks, times = watch(process, folder)
            assert process.returncode == 0, process.returncode
            compare(how, json.load(open(out)), ticks, times)


main()

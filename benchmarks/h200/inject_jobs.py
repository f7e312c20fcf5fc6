# SPDX-License-Identifier: Apache-2.0
"""Small PyTorch loops that time themselves, for the other scripts in this folder: inject_jobs.py NAME SECONDS prints one
JSON line with the loop's own count of iterations and its own period."""
import json
import statistics
import sys
import time

import torch
from torch import nn


def mlp(width=64, batch=32):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                          nn.Linear(width, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(batch, width, device="cuda")
    y = torch.randint(10, (batch,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def matmul(size=4096):
    a = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)

    def step():
        c = a
        for _ in range(4):
            c = torch.tanh(c @ b)

    return step


def graph():
    step = mlp(512, 512)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        step()
    return captured.replay


def timed(step, seconds, chunks=40):
    """Time per iteration of the whole run and of each chunk. The host waits for the GPU only at the ends of chunks."""
    for _ in range(20):
        step()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(20):
        step()
    torch.cuda.synchronize()
    per_chunk = max(10, int(seconds / chunks / ((time.perf_counter() - begin) / 20)))
    periods = []
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(chunks):
        begin = time.perf_counter()
        for _ in range(per_chunk):
            step()
        torch.cuda.synchronize()
        periods.append((time.perf_counter() - begin) / per_chunk)
    end.record()
    torch.cuda.synchronize()
    done = per_chunk * chunks
    return {"iterations": done, "all_iterations": done + 40, "median_s": statistics.median(periods),
            "mean_s": statistics.fmean(periods), "gpu_s": start.elapsed_time(end) * 1e-3 / done}


def profiled(seconds):
    """torch.profiler watches ten iterations in the middle, and its kernels are counted."""
    step = mlp()
    before = timed(step, seconds / 2)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU,
                                            torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(10):
            step()
        torch.cuda.synchronize()
    kernels = [e for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    after = timed(step, seconds / 2)
    return {**before, "kernels_profiled": len(kernels), "distinct": len({e.name for e in kernels}),
            "after_median_s": after["median_s"]}


def recapturing(seconds):
    """Eager steps; after every 25, a graph is captured and replayed."""
    step = mlp()
    done = captures = 0
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        for _ in range(25):
            step()
        done += 25
        graph()()
        captures += 1
    torch.cuda.synchronize()
    return {"iterations": done, "captures": captures}


def forking(seconds):
    """The data comes from two forked workers."""
    data = torch.utils.data.TensorDataset(torch.randn(4096, 64), torch.randint(10, (4096,)))
    model = nn.Linear(64, 10).cuda()
    done = 0
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        for x, y in torch.utils.data.DataLoader(data, batch_size=64, num_workers=2):
            nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
            done += 1
    torch.cuda.synchronize()
    return {"iterations": done}


def nvtx(seconds):
    step = mlp()
    done = 0
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        torch.cuda.nvtx.range_push("step")
        step()
        torch.cuda.nvtx.range_pop()
        done += 1
    torch.cuda.synchronize()
    return {"iterations": done}


def compiled(seconds):
    torch.manual_seed(0)
    model = torch.compile(nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)).cuda(),
                          mode="reduce-overhead")
    x = torch.randn(64, 256, device="cuda")
    return timed(lambda: model(x).sum().backward(), seconds)


JOBS = {
    "mlp": lambda s: timed(mlp(), s),
    "matmul": lambda s: timed(matmul(), s),
    "graph": lambda s: timed(graph(), s),
    "compiled": compiled,
    "profiled": profiled,
    "recapturing": recapturing,
    "forking": forking,
    "nvtx": nvtx,
}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](float(sys.argv[2]))), flush=True)

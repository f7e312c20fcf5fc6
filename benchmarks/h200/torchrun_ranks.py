# SPDX-License-Identifier: Apache-2.0
"""Are the ranks of a torchrun job joined into one job? Two ranks (DistributedDataParallel over gloo) share one GPU, first
under `hypermile run --observe` and then with `hypermile.observe()` in each rank. Reads the GPU and changes nothing on it
(HYPERMILE_READ_ONLY=1). Prints each rank's own count and what hypermile found.

    python3 torchrun_ranks.py HYPERMILE [SECONDS]      exits with 1 where the ranks did not join

Ticks come from the Python package where it can be imported, else from libhypermile.so beside HYPERMILE. Without a GPU the
ranks wait for a simulated one (HYPERMILE_NVML). `--by-hand` starts the ranks without torchrun, with its variables.
"""
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RANKS = 2
PORT = 29517


def ticker():
    try:
        import hypermile
        return hypermile.step
    except ImportError:
        return ctypes.CDLL(os.environ["HYPERMILE_TICK_LIBRARY"]).hypermile_tick


def gpu_work(torch, rank):
    """One training step on the GPU, or a wait for the simulated GPU."""
    if not torch.cuda.is_available():
        os.environ["HYPERMILE_SIM_GROUP"] = f"{PORT}:{RANKS}"
        sys.path.insert(0, os.path.join(HERE, "..", "..", "python", "examples"))
        from simulated_gpu import SimulatedGpu
        return SimulatedGpu(gpu=rank).__enter__().work
    torch.cuda.set_device(0)
    model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(4))).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    data = torch.randn(8192, 1024, device="cuda")

    def work():
        optimizer.zero_grad(set_to_none=True)
        model(data).square().mean().backward()
        optimizer.step()
        torch.cuda.synchronize()

    return work


def train(seconds, truth, watch):
    import torch
    import torch.distributed

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    rank = int(os.environ["LOCAL_RANK"])
    step, work = ticker(), gpu_work(torch, rank)
    for _ in range(10):
        work()
    begin = time.monotonic()
    for _ in range(10):
        work()
    each = torch.tensor([(time.monotonic() - begin) / 10])
    torch.distributed.all_reduce(each)  # the ranks must agree on the number of steps
    steps = max(20, round(seconds * RANKS / float(each)))

    def loop():
        begin = time.monotonic()
        for _ in range(steps):
            step()
            work()
            torch.distributed.all_reduce(torch.ones(1))
        return (time.monotonic() - begin) / steps

    result = {}
    if watch:
        import hypermile
        with hypermile.observe(device=0 if torch.cuda.is_available() else rank) as run:
            own = loop()
        result = {"reason": run.result.reason,
                  "windows": [{"process": w.process, "iterations": w.iterations, "time_s": w.time_per_iteration_s,
                               "usable": w.unusable is None} for w in run.result.windows]}
    else:
        own = loop()
    with open(os.path.join(truth, f"{rank}.json"), "w", encoding="utf-8") as file:
        json.dump({"rank": rank, "pid": os.getpid(), "steps": steps, "time_s": own, **result}, file)
    torch.distributed.barrier()


def ranks_command(by_hand, *arguments):
    me = [os.path.abspath(__file__), "--rank", *arguments]
    if by_hand:
        return [sys.executable, os.path.abspath(__file__), "--start-by-hand", *me[1:]]
    return [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(RANKS), "--master_addr", "127.0.0.1",
            "--master_port", str(PORT), *me]


def start_by_hand(arguments):
    variables = {"WORLD_SIZE": str(RANKS), "LOCAL_WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(PORT)}
    ranks = [subprocess.Popen([sys.executable, os.path.abspath(__file__), *arguments],
                              env={**os.environ, **variables, "RANK": str(i), "LOCAL_RANK": str(i)}) for i in range(RANKS)]
    return max(rank.wait() for rank in ranks)


def run(hypermile, seconds, watch, by_hand):
    """One job, watched from outside or inside: (exit code, output, truths, windows in the log)."""
    library = os.path.join(os.path.dirname(hypermile), "..", "lib", "libhypermile.so")
    environment = {**os.environ, "HYPERMILE_READ_ONLY": "1", "HYPERMILE_BIN": hypermile, "HYPERMILE_TICK_LIBRARY": library,
                   "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log.jsonl")
        command = ranks_command(by_hand, str(seconds), folder, "watch" if watch else "")
        if not watch:
            command = [hypermile, "run", "--observe", "--log", log, "--", *command]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds + 120)
        truths = []
        for rank in range(RANKS):
            path = os.path.join(folder, f"{rank}.json")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    truths.append(json.load(file))
        if watch:
            windows = truths[0]["windows"] if truths else []
        else:
            with open(log, encoding="utf-8") as file:
                events = [json.loads(line) for line in file]
            windows = [{"process": e["process"], "iterations": e["iterations"], "time_s": e.get("time_per_iteration_s"),
                        "usable": "unusable" not in e} for e in events if e["type"] == "window"]
    return done, truths, windows


def judge(truths, windows):
    """One row per rank, and whether all ranks are seen as one job with one pace."""
    rows = []
    for truth in truths:
        own = [w for w in windows if w["process"] == truth["pid"]]
        times = [w["time_s"] for w in own if w["usable"] and w["time_s"]]
        rows.append({"rank": truth["rank"], "process": truth["pid"], "own_steps": truth["steps"], "own_ms": 1e3 * truth["time_s"],
                     "found_steps": sum(w["iterations"] for w in own), "windows": len(own),
                     "found_ms": 1e3 * statistics.median(times) if times else None})
    paces = [row["found_ms"] for row in rows]
    joined = (len(rows) == RANKS and all(row["found_steps"] >= 0.8 * row["own_steps"] for row in rows)
              and all(paces) and max(paces) < 1.02 * min(paces))
    return rows, joined


def main():
    by_hand = "--by-hand" in sys.argv
    words = [word for word in sys.argv[1:] if word != "--by-hand"]
    hypermile, seconds = os.path.abspath(words[0]), float(words[1]) if len(words) > 1 else 15.0
    all_joined = True
    for watch in (False, True):
        done, truths, windows = run(hypermile, seconds, watch, by_hand)
        rows, joined = judge(truths, windows)
        all_joined = all_joined and joined
        print("== hypermile.observe() in each rank" if watch else "== hypermile run --observe -- torchrun")
        print(f"exit {done.returncode}; {'joined' if joined else 'NOT JOINED'}")
        for row in rows:
            print("  ", json.dumps(row))
        if watch:
            print("  ", [truth.get("reason") for truth in truths])
        print(done.stdout[-1500:] + done.stderr[-3000:], flush=True)
    return 0 if all_joined else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        train(float(sys.argv[2]), sys.argv[3], sys.argv[4:5] == ["watch"])
    elif sys.argv[1:2] == ["--start-by-hand"]:
        sys.exit(start_by_hand(sys.argv[2:]))
    else:
        sys.exit(main())

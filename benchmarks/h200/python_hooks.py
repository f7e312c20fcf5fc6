# SPDX-License-Identifier: Apache-2.0
"""The cost of the Python package for a training loop on a GPU, read-only: everything except the setters.

A ResNet50 in bf16 is trained in many short turns (a b b a) in three ways: plain; with step(); with step() and a plan's
hooks at forward, backward and optimizer, whose executor runs with dry_run and so changes no GPU. Then layers are profiled
at the default setting, from CUDA graphs with joules from the energy counter, and the time per layer is measured.

    HYPERMILE_READ_ONLY=1 PYTHONPATH=… python3 python_hooks.py [SECONDS]     prints one JSON document
    python3 python_hooks.py --page HOOKS.json DATE     prints the table of docs/evidence/python.md

The extension must be built for that Python; benchmarks/h200/python-package does so on the machine. Without a GPU, a
smaller network runs on the CPU beside the NVML stand-in (HYPERMILE_NVML), to try the script out.
"""
import json
import os
import shutil
import statistics
import sys
import tempfile
import time

os.environ["HYPERMILE_READ_ONLY"] = "1"
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
BOUNDARIES = 16


def plan_for(model):
    """A boundary every few layers through forward and backward, and one at the optimizer."""
    names = [name for name, module in model.named_modules() if not any(True for _ in module.children())]
    chosen = names[:: max(1, len(names) // (BOUNDARIES // 2))]
    layers = [{"name": name, "phase": "forward"} for name in chosen]
    layers += [{"name": name, "phase": "backward"} for name in reversed(chosen)] + [{"name": "o", "phase": "optimizer"}]
    clocks = ["sm=1500MHz", "sm=1200MHz"]
    return {"network": "resnet50", "switch_latency_s": 0.02, "max_slowdown": 0.05, "layers": layers,
            "strategies": [{"name": "uniform", "setting": clocks[0]}],
            "segments": [{"first": i, "last": i, "setting": clocks[i % 2], "time_s": 0.005} for i in range(len(layers))]}


def main():
    import hypermile
    import loops
    import torch

    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    on_gpu = torch.cuda.is_available()
    device, batch, size = ("cuda", 64, 224) if on_gpu else ("cpu", 2, 32)
    wait = torch.cuda.synchronize if on_gpu else lambda: None
    model = (loops.resnet() if on_gpu else loops.resnet((1, 1), 8)).to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    x = torch.randn(batch, 3, size, size, device=device).to(memory_format=torch.channels_last)
    y = torch.randint(0, 1000, (batch,), device=device)

    def iterate(mark):
        mark()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()

    def block(mark, length):
        wait()
        begin, count = time.perf_counter(), 0
        while time.perf_counter() - begin < length:
            for _ in range(5):
                iterate(mark)
            count += 5
            wait()
        return (time.perf_counter() - begin) / count

    folder = tempfile.mkdtemp(dir="/dev/shm")  # the folder for ticks, as under `hypermile run`
    os.environ["HYPERMILE_RING_DIR"] = folder
    hypermile._core.listen_again()
    executor = hypermile.PlanExecutor(plan_for(model), model, optimizer, trial=None, dry_run=True)

    def hooked(length):
        with executor:
            assert executor.report.state != "refused", executor.report.reason
            return block(hypermile.step, length)

    arms = {"plain": lambda s: block(lambda: None, s), "step": lambda s: block(hypermile.step, s), "hooks": hooked}
    for arm in arms.values():
        arm(2.0)
    times = {name: [] for name in arms}
    for turn in range(4):
        for name in (list(arms) if turn % 2 == 0 else list(arms)[::-1]):
            times[name].append(arms[name](seconds / 12))
    plain = statistics.median(times["plain"])
    begin = time.perf_counter()
    costs = hypermile.profile_layers(model.float(), x, precision="bf16", seconds=0.5, name="resnet50")
    spent = time.perf_counter() - begin
    shutil.rmtree(folder)
    print(json.dumps({
        "gpu": hypermile._core.Gpu().name, "torch": torch.__version__, "python": sys.version.split()[0],
        "boundaries": len(plan_for(model)["segments"]),
        "ms": {name: [1e3 * t for t in values] for name, values in times.items()},
        "overhead_pct": {name: 100 * (statistics.median(values) / plain - 1) for name, values in times.items()},
        "report": {name: value for name, value in vars(executor.report).items() if name != "verdict"},
        "profiled_layers": len(costs), "seconds_a_layer": spent / max(1, len(costs)),
        "with_joules": sum(cost.fwd_j is not None for cost in costs),
        "forward_ms": sum(cost.fwd_us for cost in costs) / 1e3,
        "layers": [vars(cost) for cost in costs]}))


def page(path, date):
    with open(path, encoding="utf-8") as file:
        found = json.loads(file.read().splitlines()[-1])
    print(f"{date}, {found['gpu']}, PyTorch {found['torch']}, Python {found['python']}: ResNet50, bf16, batch 64, "
          f"{found['boundaries']} boundaries an iteration, medians of {len(found['ms']['plain'])} turns (least to greatest)\n")
    print("| | ms an iteration | against plain |\n| --- | ---: | ---: |")
    words = {"plain": "plain", "step": "`step()`", "hooks": "`step()` and the plan's hooks, executor dry"}
    for name, word in words.items():
        times = found["ms"][name]
        print(f"| {word} | {statistics.median(times):.3f} ({min(times):.3f} to {max(times):.3f}) | {found['overhead_pct'][name]:+.2f} % |")
    report = found["report"]
    print(f"\n{report['boundaries']} boundaries were posted in the last turn, {report['dropped']} dropped. Profiling took "
          f"{found['seconds_a_layer']:.1f} s for each of {found['profiled_layers']} distinct layers; {found['with_joules']} have joules.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--page"]:
        page(*sys.argv[2:4])
    else:
        main()

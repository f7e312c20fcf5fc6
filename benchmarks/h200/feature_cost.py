# SPDX-License-Identifier: Apache-2.0
"""The cost of collecting features for a training job, and whether CUPTI's counters agree with NVML's. Beside a PyTorch loop
of loops.py that never stops, stretches of time without collection, with `hypermile counters --from nvml` and with
`hypermile counters` (CUPTI) alternate. The loop records its own iteration times. Reads the GPU and changes nothing on it
(HYPERMILE_READ_ONLY=1). About five minutes for two loops.

usage: feature_cost.py HYPERMILE OUT [--pairs N] [--seconds S] [LOOP…]     runs, writes OUT/feature_cost.json
       feature_cost.py --page OUT/feature_cost.json DATE                   prints docs/evidence/feature-cost.md
"""
import argparse
import bisect
import glob
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LOOPS = ["resnet_eager", "gpt_accumulation"]
LIMIT_S = 340  # for the whole run; what is not done by then is left out
# Student's t for a two-sided 95 % interval, by degrees of freedom.
T95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26, 10: 2.23, 11: 2.20, 12: 2.18}

PAGE = """# What collecting features costs a job

*Measured on a GPU, read-only.* {date}, {gpu}. Beside a PyTorch loop that never stops, stretches of time alternated: {seconds:.0f} s each
without collection (*nobody*), with `hypermile counters --from nvml` (activity and utilisation every half second, as features are
collected) and with `hypermile counters` (CUPTI's PM sampling in its own process, from its start to its end). The loop's own GPU events
give the time per iteration:

```sh
python3 benchmarks/h200/feature_cost.py build/bin/hypermile OUT
python3 benchmarks/h200/feature_cost.py --page OUT/feature_cost.json DATE > docs/evidence/feature-cost.md
```

{costs}

*Cost*: how much longer an iteration took than in the stretches without collection before and after it, as the mean of all pairs with its
95 % interval (Student's t over pairs). *nobody* compares stretches without collection with their neighbours, so it shows the error of
the method.

The same features from both sources, as means of all stretches:

{features}

Limits and clocks before and after: {before} / {after}.
{problems}"""


def say(text):
    print(text, flush=True)


def nvidia_smi(query):
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], capture_output=True,
                              text=True, timeout=20)
        return (done.stdout.strip() or done.stderr.strip()).splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError) as problem:
        return f"unknown ({problem})"


def cupti_copies():
    """Every CUPTI that this Python could use, after the one that hypermile finds by itself (None)."""
    found = [None]
    for folder in sys.path:
        found += sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib", "libcupti.so.*")), reverse=True)
    found += sorted(glob.glob("/usr/local/cuda*/**/libcupti.so.1?", recursive=True), reverse=True)
    return found


def read_counters(hypermile, source, seconds, cupti=None):
    """Runs `hypermile counters` once: (document or None, its messages, (begin, end) in ns)."""
    environment = {**os.environ, "HYPERMILE_READ_ONLY": "1"}
    if cupti:
        environment["HYPERMILE_CUPTI"] = cupti
    begin = time.monotonic_ns()
    try:
        done = subprocess.run([hypermile, "counters", "--json", "--from", source, "--seconds", f"{seconds}s"],
                              env=environment, capture_output=True, text=True, timeout=seconds + 30)
        said = done.stderr.strip()
        document = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 and done.stdout else None
    except (OSError, ValueError, subprocess.SubprocessError) as problem:
        said, document = str(problem), None
    return document, said, (begin, time.monotonic_ns())


def pick_cupti(hypermile, problems):
    """(whether CUPTI works, path of the first copy that works)."""
    for cupti in cupti_copies():
        document, said, span = read_counters(hypermile, "cupti", 2, cupti)
        say(f"CUPTI {cupti or '(as found)'}: {(span[1] - span[0]) * 1e-9:.1f} s: {json.dumps(document) if document else said}")
        if document and document["samples"] > 0:
            return True, cupti
        problems.append(f"CUPTI {cupti or 'as found'}: {said or 'no samples'}")
        if "may not read" in said or "another profiler" in said:  # the next copy would fail in the same way
            break
    return False, None


def stretches(hypermile, seconds, pairs, cupti, has_cupti, deadline):
    """Stretches in turn: nobody, one kind, nobody, the other kind, nobody, nobody, …"""
    kinds = ["nvml"] + (["cupti"] if has_cupti else []) + ["nobody"]
    done = []
    for number in range(pairs):
        for kind in kinds[number % len(kinds):] + kinds[:number % len(kinds)]:
            if time.monotonic() > deadline:
                return done
            begin = time.monotonic_ns()
            time.sleep(seconds)
            done.append({"kind": "between", "span": (begin, time.monotonic_ns())})
            if kind == "nobody":
                begin = time.monotonic_ns()
                time.sleep(seconds)
                done.append({"kind": kind, "span": (begin, time.monotonic_ns())})
                continue
            document, said, span = read_counters(hypermile, kind, seconds, cupti if kind == "cupti" else None)
            done.append({"kind": kind, "span": span, "document": document, "said": said})
    begin = time.monotonic_ns()
    time.sleep(seconds)
    done.append({"kind": "between", "span": (begin, time.monotonic_ns())})
    return done


def period(truth, span):
    """Mean time of the iterations that began within the span, by GPU events; None with too few."""
    first = bisect.bisect_left(truth["host_ns"], span[0])
    last = bisect.bisect_left(truth["host_ns"], span[1])
    if last - first < 20 or last >= len(truth["gpu_s"]):
        return None
    return (truth["gpu_s"][last] - truth["gpu_s"][first]) / (last - first)


def costs(blocks, truth):
    """By kind: relative cost of each stretch against its neighbours without collection."""
    by_kind = {}
    for index, block in enumerate(blocks[1:-1], 1):
        if block["kind"] == "between" or blocks[index + 1]["kind"] != "between":
            continue
        here, before, after = (period(truth, blocks[i]["span"]) for i in (index, index - 1, index + 1))
        if None not in (here, before, after):
            by_kind.setdefault(block["kind"], []).append(here / ((before + after) / 2) - 1)
    return by_kind


def interval(values):
    """(mean, half width of the 95 % interval), in percent."""
    half = math.nan
    if len(values) > 1:
        t = T95.get(len(values) - 1, 1.96)
        half = t * statistics.stdev(values) / math.sqrt(len(values))
    return 100 * statistics.fmean(values), 100 * half


def mean_features(blocks, kind):
    sums = {}
    for block in blocks:
        if block["kind"] == kind and block.get("document"):
            for name, value in block["document"]["features"].items():
                sums.setdefault(name, []).append(value)
    return {name: statistics.fmean(values) for name, values in sums.items()}


def run_loop(hypermile, loop, options, cupti, has_cupti, deadline, problems):
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "truth")
        kinds = 3 if has_cupti else 2
        most = min(options.pairs * kinds * 2.6 * options.seconds + 20, deadline - time.monotonic())
        over = time.monotonic() + most - 3 * options.seconds
        job = subprocess.Popen([sys.executable, os.path.join(HERE, "loops.py"), loop, str(most), prefix],
                               stdout=subprocess.DEVNULL)
        try:
            time.sleep(12)  # time for imports, allocations and clocks to settle
            if job.poll() is not None:
                problems.append(f"{loop} ended with {job.returncode}")
                return None
            blocks = stretches(hypermile, options.seconds, options.pairs, cupti, has_cupti, over)
            job.wait(timeout=most + 30)
        except subprocess.SubprocessError as problem:
            problems.append(f"{loop}: {problem}")
            return None
        finally:
            if job.poll() is None:
                job.kill()
                job.wait()
        paths = glob.glob(prefix + ".*.json")
        if not paths:
            problems.append(f"{loop} left no books")
            return None
        with open(paths[0], encoding="utf-8") as file:
            truth = json.load(file)
    result = {"loop": loop, "iteration_ms": 1e3 * (truth["gpu_s"][-1] - truth["gpu_s"][0]) / (len(truth["gpu_s"]) - 1),
              "costs": costs(blocks, truth), "nvml": mean_features(blocks, "nvml"), "cupti": mean_features(blocks, "cupti"),
              "documents": [block.get("document") for block in blocks if block.get("document")][:4],
              "set_up_s": [(b["span"][1] - b["span"][0]) * 1e-9 - options.seconds for b in blocks if b["kind"] == "cupti"],
              "said": sorted({block["said"] for block in blocks if block.get("said")})}
    problems += [f"{loop}: {line}" for line in result["said"]]
    return result


def cost_table(results):
    lines = ["| loop | ms an iteration | collecting | pairs | cost % |", "| --- | --- | --- | --- | --- |"]
    for one in results:
        for kind in ("nobody", "nvml", "cupti"):
            values = one["costs"].get(kind, [])
            if values:
                mean, half = interval(values)
                lines.append(f"| {one['loop']} | {one['iteration_ms']:.2f} | {kind} | {len(values)} | {mean:+.3f} ± {half:.3f} |")
    return "\n".join(lines)


def feature_table(results):
    head = ["feature"] + [f"{one['loop']}: {kind}" for one in results for kind in ("NVML", "CUPTI")]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    for name in sorted({name for one in results for name in {**one["nvml"], **one["cupti"]}}):
        cells = [f"{one[kind][name]:.4f}" if name in one[kind] else "–" for one in results for kind in ("nvml", "cupti")]
        lines.append("| " + " | ".join([f"`{name}`", *cells]) + " |")
    return "\n".join(lines)


def page(path, date):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    problems = "".join(f"\n- {line}" for line in data["problems"])
    return PAGE.format(date=date, gpu=data["gpu"], seconds=data["seconds"], costs=cost_table(data["results"]),
                       features=feature_table(data["results"]), before=data["before"], after=data["after"],
                       problems=f"\nWhat did not work:\n{problems}\n" if problems else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--page", action="store_true")
    parser.add_argument("hypermile")
    parser.add_argument("out")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("loops", nargs="*")
    options = parser.parse_intermixed_args()
    if options.page:
        print(page(options.hypermile, options.out), end="")
        return
    os.makedirs(options.out, exist_ok=True)
    hypermile = os.path.abspath(options.hypermile)
    deadline = time.monotonic() + LIMIT_S
    query = "clocks.max.sm,clocks.max.mem,power.limit,enforced.power.limit"
    problems, results = [], []
    data = {"gpu": nvidia_smi("name,driver_version"), "seconds": options.seconds, "before": nvidia_smi(query),
            "results": results, "problems": problems}
    document, said, _ = read_counters(hypermile, "nvml", 2)
    say(f"NVML: {json.dumps(document) if document else said}")
    if not document:
        problems.append(f"NVML: {said}")
    has_cupti, cupti = pick_cupti(hypermile, problems)
    names = options.loops or LOOPS
    for number, loop in enumerate(names):
        share = time.monotonic() + (deadline - time.monotonic()) / (len(names) - number)
        try:
            result = run_loop(hypermile, loop, options, cupti, has_cupti, min(share, deadline) - 10, problems)
        except Exception as problem:  # keep the figures so far, whatever failed
            problems.append(f"{loop}: {type(problem).__name__}: {problem}")
            continue
        if result:
            results.append(result)
            say(cost_table([result]) + "\n" + feature_table([result]))
        data["after"] = nvidia_smi(query)
        with open(os.path.join(options.out, "feature_cost.json"), "w", encoding="utf-8") as file:
            json.dump(data, file, indent=1)
    data["after"] = nvidia_smi(query)
    with open(os.path.join(options.out, "feature_cost.json"), "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1)
    for line in problems:
        say(f"problem: {line}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The long cases of scripts/check-slurm --full and the page that they make, docs/evidence/slurm.md."""

import contextlib
import datetime
import json
import os
import time

from cluster import BUILD, ROOT

KEPT = BUILD / "slurm.json"

ITERATIONS = 700  # of 0.3 s: the search takes a minute or two of it
BOUND = 0.05
STRAGGLED = 2800  # iterations of the job with a straggler
WAITING, SLOW = ("n0", "n1", "n2"), "n3"
NODE = ("-N1", "-n2", "--ntasks-per-node=2", "--gres=gpu:2")


def energy_of(events):
    """Joules of all GPUs of a node, from the first reading of their counters to the last."""
    first, last = {}, {}
    for event in events:
        if event["type"] == "sample" and event.get("energy_j") is not None:
            first.setdefault(event["gpu"], event["energy_j"])
            last[event["gpu"]] = event["energy_j"]
    return sum(last[gpu] - first[gpu] for gpu in last)


def measured(cluster, job):
    state = cluster.wait(job, 3600)
    assert state == "COMPLETED", f"{state}: {cluster.output(job)}"
    line = [text for text in cluster.output(job).splitlines() if text.startswith("{")][-1]
    energies = {node: energy_of(events) for node, events in cluster.logs(job).items()}
    assert energies and min(energies.values()) > 0, f"nothing was measured: {energies}: {cluster.output(job)}"
    return json.loads(line)["seconds"], energies


def compare(cluster, submit, more="", options=()):
    """Slowdown, share of energy saved, and the latter by node of the run under hypermile, against a run at the default. Jobs
    of one node run at the same time, each on a node of its own."""
    jobs = [submit(cluster, mode, *options, iterations=ITERATIONS, more=more)
            for mode in ("--hypermile-observe", "--hypermile=5%")]  # of four nodes, the second one waits for the first
    base, ours = (measured(cluster, job) for job in jobs)
    slowdown = ours[0] / base[0] - 1
    saved = {node: 1 - joules / base[1].get(node, sum(base[1].values())) for node, joules in ours[1].items()}
    whole = 1 - sum(ours[1].values()) / sum(base[1].values())
    return slowdown, whole, saved


def saving(cluster, submit):
    slowdown, whole, saved = compare(cluster, submit)
    alone_slowdown, alone, _ = compare(cluster, submit, options=NODE)
    spread = max(saved.values()) - min(saved.values())
    text = (f"4 nodes save {100 * whole:.1f} % and take {100 * slowdown:+.1f} % longer (nodes differ by {100 * spread:.1f} points); "
            f"one node saves {100 * alone:.1f} % and takes {100 * alone_slowdown:+.1f} % longer")
    assert slowdown <= BOUND, text
    assert whole >= 0.9 * alone, text
    return text


def clocks_while_held(cluster, job):
    """Mean clock of the nodes that wait and clock of the one that does not, by second of the job; the default left out."""
    seen = []
    while cluster.state(job) in ("PENDING", "RUNNING"):
        time.sleep(1)
        clocks = {node: min(locks) for node, locks in cluster.locks().items() if all(locks)}
        if len(clocks) == len(cluster.names):
            seen.append((sum(clocks[node] for node in WAITING) / len(WAITING), clocks[SLOW]))
    return seen


def straggler(cluster, submit):
    """What the nodes that wait for the fourth are told, and what the whole job takes and saves, against the same job at the
    default, by iteration: that one is shorter."""
    # The host of the last rank takes 60 ms longer for each iteration of 0.3 s, so all others wait.
    base_s, base_j = measured(cluster, submit(cluster, "--hypermile-observe", iterations=ITERATIONS // 2, more="7 60"))
    job = submit(cluster, "--hypermile=5%", iterations=STRAGGLED, more="7 60")
    seen = clocks_while_held(cluster, job)
    ours_s, ours_j = measured(cluster, job)
    longer = STRAGGLED / (ITERATIONS // 2)
    slowdown = ours_s / base_s / longer - 1
    saved = {node: 1 - ours_j[node] / base_j[node] / longer for node in base_j}
    last = seen[-len(seen) // 3:]  # the search comes first, and slack is searched for where a setting is held
    waiting, slow = (sum(column) / len(column) for column in zip(*last))
    text = (f"{STRAGGLED} iterations take {100 * slowdown:+.1f} % longer; in their last third the three nodes that wait for the fourth "
            f"were at {waiting:.0f} MHz and the fourth at {slow:.0f} MHz (means); they save "
            f"{100 * sum(saved[node] for node in WAITING) / len(WAITING):.1f} % of their energy over the whole job, the fourth "
            f"{100 * saved[SLOW]:.1f} %")
    assert slowdown <= BOUND, text
    assert waiting < 0.97 * slow, text
    return text


def kept():
    """What earlier pieces showed, by case."""
    with contextlib.suppress(FileNotFoundError):
        return json.loads(KEPT.read_text(encoding="utf-8"))
    return {}


def keep(name, shown):
    KEPT.write_text(json.dumps({**kept(), name: shown}, indent=1), encoding="utf-8")


def forget():
    KEPT.unlink(missing_ok=True)


def words(shown):
    """What a case showed, for people."""
    if isinstance(shown, str):
        return shown
    each = ", ".join(f"{number} × {kind}" for kind, number in sorted(shown["kinds"].items()))
    return (f"{sum(shown['kinds'].values())} faults at random moments ({each}); slowest restore {shown['slowest_s']:.1f} s after the "
            f"fault, {shown['slowest_silent_s']:.1f} s where a peer fell silent")


def write(wanted):
    """The page of all that is kept; it names what of `wanted` has not been shown."""
    shown_by_case = kept()
    lines = ["# Jobs on several nodes, under Slurm", "",
             f"The cases of `scripts/check-slurm --full`, run in pieces with `--write`, {datetime.date.today()}, on a machine with",
             f"{os.cpu_count()} cores that other programs used as well, which is in all times: munged, slurmctld and four",
             "slurmd of Debian 12, each node with two simulated GPUs (rtx3080ti) on the NVML stand-in and its own hypermiled. The job is",
             "`tests/slurm/mpi_rank.c`, four nodes × two ranks that wait for each other in every iteration (and",
             "`tests/slurm/ddp_rank.py` for PyTorch). **Simulated GPUs, real Slurm, real agents.**", "",
             "| case | what was seen |", "| --- | --- |"]
    lines += [f"| {name.replace('_', ' ')} | {words(shown_by_case[name]) if name in shown_by_case else '**not shown**'} |"
              for name in wanted]
    (ROOT / "docs/evidence/slurm.md").write_text("\n".join(lines) + "\n", encoding="utf-8")

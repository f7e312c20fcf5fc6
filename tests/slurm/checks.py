# SPDX-License-Identifier: Apache-2.0
"""The cases of scripts/check-slurm. Each is a function of a Cluster that raises AssertionError where a promise is broken and
returns what it saw, in words."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import time
import traceback

import evidence
from cluster import HYPERMILE, ROOT, Cluster, wait_for

WORKLOAD = "resnet50"  # 0.3 s an iteration on this card, so that a host's own delays matter little
RESTORED_WITHIN = 2.0  # s, from the moment that the cause is seen
ENDLESS = 100_000      # iterations
MPI = ("export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_pml=ob1 OMPI_MCA_mpi_yield_when_idle=1\n"
       "srun --mpi=pmix {program} {hypermile} {workload} {iterations} {more}\n")
WHOLE = ("-N4", "-n8", "--ntasks-per-node=2", "--gres=gpu:2")


def mpi_program(folder):
    """Built once, where every user may run it."""
    program = os.path.join(folder, "mpi_rank")
    subprocess.run(["mpicc", "-O1", "-o", program, ROOT / "tests/slurm/mpi_rank.c"], check=True)
    return program


def submit_mpi(cluster, *options, iterations=ENDLESS, more="", workload=WORKLOAD):
    script = MPI.format(program=cluster.mpi, hypermile=HYPERMILE, workload=workload, iterations=iterations, more=more)
    return cluster.submit(script, *WHOLE, *options)


def running(cluster, job):
    return wait_for(f"job {job} runs", lambda: cluster.state(job) == "RUNNING", 30)


def until_changed(cluster, seconds=90):
    wait_for("clocks are changed on every node", lambda: all(any(locks) for locks in cluster.locks().values()), seconds)


def until_default(cluster, seconds, what):
    begin = time.monotonic()
    wait_for(f"every GPU is at its default after {what}", lambda: not cluster.changed(), seconds)
    return time.monotonic() - begin


def cancel(cluster, job):
    cluster.call("scancel", job, user=cluster.user)
    cluster.wait(job, 60)


def nothing_left(cluster, what):
    wait_for(f"no agent is left after {what}", lambda: not cluster.agents(), 10)
    wait_for(f"no right is left after {what}", lambda: not cluster.rights(), 15)
    assert not cluster.changed(), f"a GPU is changed after {what}: {cluster.locks()}"
    wait_for(f"every node is idle after {what}", lambda: cluster.node_states() <= {"idle"}, 60)


def settings_by_order(events):
    """The settings that a node's Controller was told to explore, in order."""
    return [(event["setting"], event["reason"]) for event in events
            if event["type"] == "decision" and event["numbers"].get("exploring")]


# ---- cases ----


def off(cluster):
    """A job that does not ask for hypermile gets nothing of it."""
    answer = cluster.call("srun", "-N2", "-n2", "--gres=gpu:1", "bash", "-c", "env; sleep 0.5", user=cluster.user)
    assert answer.returncode == 0, answer.stderr
    assert "HYPERMILE" not in answer.stdout and not cluster.agents()
    return "no agent, no variable"


def fails_open(cluster):
    """Whatever goes wrong, the job runs and its standard error has one line."""
    cluster.agent.rename(cluster.agent.with_suffix(".away"))
    try:
        answer = cluster.call("srun", "--hypermile", "-N1", "-n2", "--gres=gpu:1", "echo", "trained", user=cluster.user)
    finally:
        cluster.agent.with_suffix(".away").rename(cluster.agent)
    assert answer.returncode == 0 and answer.stdout.count("trained") == 2, answer.stderr
    lines = [line for line in answer.stderr.splitlines() if "hypermile" in line]
    assert len(lines) == 1, lines
    wrong = cluster.call("srun", "--hypermile=fast", "true", user=cluster.user)
    assert wrong.returncode != 0 and "no slowdown" in wrong.stderr, wrong.stderr
    return lines[0]


def observe(cluster):
    """--hypermile-observe measures and changes nothing; it overrides the bound."""
    job = submit_mpi(cluster, "--hypermile-observe", iterations=40)
    running(cluster, job)
    changed = False
    while cluster.state(job) == "RUNNING":
        changed = changed or cluster.changed()
        time.sleep(0.5)
    assert cluster.wait(job) == "COMPLETED", cluster.output(job)
    assert not changed
    windows = sum(event["type"] == "window" for events in cluster.logs(job).values() for event in events)
    assert windows > 0
    nothing_left(cluster, "observing")
    return f"{windows} windows on 4 nodes, nothing changed"


def one_decision(cluster):
    """All nodes explore the same settings in the same order; scancel gives everything back."""
    job = submit_mpi(cluster, "--hypermile=5%")
    running(cluster, job)
    wait_for("the right is granted", lambda: len(cluster.rights()) == 4, 15)
    until_changed(cluster)

    def compared():
        orders = [settings_by_order(events) for events in cluster.logs(job).values()]
        return orders if len(orders) == 4 and min(map(len, orders)) >= 6 else None

    orders = wait_for("three settings are tried", compared, 120)
    shortest = min(map(len, orders))
    # Two GPUs a node, so each decision stands twice in a node's log.
    for order in orders[1:]:
        assert order[:shortest] == orders[0][:shortest], (order[:shortest], orders[0][:shortest])
    cluster.call("scancel", job, user=cluster.user)
    took = until_default(cluster, RESTORED_WITHIN + 3, "scancel")
    cluster.wait(job, 60)
    nothing_left(cluster, "scancel")
    return f"{shortest // 2} settings tried alike on 4 nodes; default {took:.1f} s after scancel"


def may_lease(cluster, user):
    """How many GPUs of n0 the daemon would lease to the user."""
    text = cluster.call(HYPERMILE, "doctor", "--json", user=user, environment=cluster.node_environment("n0")).stdout
    return int(re.search(r"you may lease (\d+)", text).group(1))


def rights(cluster):
    """The job's user may lease the job's GPUs while it runs, nobody else may, and afterwards nobody."""
    job = cluster.submit("srun sleep 60\n", "-N1", "-n1", "-w", "n0", "--gres=gpu:1")
    running(cluster, job)
    wait_for("the right is granted", lambda: len(cluster.rights()) == 1, 15)
    seen = [may_lease(cluster, cluster.user), may_lease(cluster, cluster.other)]
    cancel(cluster, job)
    nothing_left(cluster, "the job")
    seen.append(may_lease(cluster, cluster.user))
    assert seen == [1, 0, 0], f"the user, another user, the user after the job: {seen} GPUs of two"
    return "one of two GPUs for the job's user, none for another, none after the job"


def lost_agents(cluster):
    """kill -9 of the coordinator, then of another agent: default at once, the next node takes over while enough are left."""
    job = submit_mpi(cluster, "--hypermile=5%")
    running(cluster, job)
    until_changed(cluster)
    cluster.kill(cluster.agents()[0])
    first = until_default(cluster, RESTORED_WITHIN + 4, "the coordinator was killed")
    wait_for("n1 has taken over", lambda: sum(any(locks) for locks in cluster.locks().values()) == 3, 120)
    cluster.kill(cluster.agents()[3])
    second = until_default(cluster, RESTORED_WITHIN + 4, "a follower was killed")
    assert set(cluster.agents()) == {1, 2}
    time.sleep(12)
    assert not cluster.changed(), "half of the nodes without the first decided"
    assert cluster.state(job) == "RUNNING"
    cancel(cluster, job)
    nothing_left(cluster, "two lost agents")
    return (f"default {first:.1f} s after the coordinator's death, n1 took over; default {second:.1f} s after a follower's, "
            "and the two that were left decided nothing")


def ddp(cluster):
    """PyTorch DDP over gloo on four nodes."""
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import torch.distributed"], capture_output=True, check=False).returncode != 0:
        return "skipped: python3-torch is not installed"
    port = 29_500 + random.randrange(400)
    job = cluster.submit(f"export MASTER_ADDR=127.0.0.1 MASTER_PORT={port} GLOO_SOCKET_IFNAME=lo\n"
                         f"srun {python} {ROOT}/tests/slurm/ddp_rank.py {HYPERMILE} {WORKLOAD} {ENDLESS}\n",
                         *WHOLE, "--hypermile=5%")
    running(cluster, job)
    until_changed(cluster, 150)
    cluster.call("scancel", job, user=cluster.user)
    took = until_default(cluster, RESTORED_WITHIN + 3, "scancel")
    cluster.wait(job, 60)
    nothing_left(cluster, "DDP")
    return f"clocks moved on 4 nodes, default {took:.1f} s after scancel"


def daemon_lost(cluster):
    """kill -9 of a node's hypermiled: that GPU is restored when the daemon is back, the job goes on."""
    job = submit_mpi(cluster, "--hypermile=5%")
    running(cluster, job)
    until_changed(cluster)
    process = cluster.processes["hypermiled-n2"]
    process.kill()
    process.wait()
    cluster.start_daemon("n2")
    wait_for("n2 is restored", lambda: not any(cluster.locks()["n2"]), 10)
    assert cluster.state(job) == "RUNNING"
    cancel(cluster, job)
    nothing_left(cluster, "a lost daemon")
    return "restored by the next daemon, the job ran on"


def faults(cluster, count):
    """Random faults at random moments; after each everything is at its default and nothing is left."""
    generator = random.Random(20)
    slowest, done = 0.0, {}
    while sum(done.values()) < count:
        job = submit_mpi(cluster, "--hypermile=5%")
        running(cluster, job)
        with contextlib.suppress(AssertionError):
            until_changed(cluster, generator.uniform(1, 60))
        kind = generator.choice(["agent", "agent", "coordinator", "stopped agent", "job", "scancel", "daemon", "slurmd", "requeue"])
        agents = cluster.agents()
        if kind.endswith("agent") and not agents:
            continue
        victim = generator.choice(sorted(agents)) if agents else 0
        if kind == "agent":
            cluster.kill(agents[victim])
        elif kind == "coordinator":
            cluster.kill(agents[min(agents)])
        elif kind == "stopped agent":  # as a cut network: alive, and silent
            cluster.kill(agents[victim], signal.SIGSTOP)
        elif kind == "job":
            cluster.kill_rank(generator)
        elif kind == "scancel":
            cluster.call("scancel", job)
        elif kind == "requeue":
            cluster.call("scontrol", "requeue", job)
        elif kind == "daemon":
            node = generator.choice(cluster.names)
            cluster.processes[f"hypermiled-{node}"].kill()
            cluster.processes[f"hypermiled-{node}"].wait()
            cluster.start_daemon(node)
        elif kind == "slurmd":
            node = generator.choice(cluster.names)
            cluster.processes[f"slurmd-{node}"].kill()
            cluster.processes[f"slurmd-{node}"].wait()
            cluster.start_slurmd(node)
        if kind in ("daemon", "slurmd"):
            time.sleep(1)
            assert cluster.state(job) == "RUNNING", f"{kind}: {cluster.state(job)}"
        else:
            # A peer that is alive and silent is given up after three seconds; the rest is seen at once.
            seconds = RESTORED_WITHIN + (14 if kind == "stopped agent" else 4)
            slowest = max(slowest, until_default(cluster, seconds, kind))
        if kind == "stopped agent":
            cluster.kill(agents[victim], signal.SIGCONT)
        if kind in ("agent", "coordinator", "stopped agent"):
            assert cluster.state(job) == "RUNNING", f"{kind}: {cluster.state(job)}"
        cancel(cluster, job)
        nothing_left(cluster, kind)
        done[kind] = done.get(kind, 0) + 1
    each = ", ".join(f"{number} × {kind}" for kind, number in sorted(done.items()))
    return f"{count} faults ({each}), slowest restore {slowest:.1f} s"


def saving(cluster):
    """What a job of four nodes saves against the same job at the default, and how much longer it takes."""
    return evidence.saving(cluster, submit_mpi)


def straggler(cluster):
    """Three nodes wait for the fourth; their slack is taken."""
    return evidence.straggler(cluster, submit_mpi)


CI = ["off", "fails_open", "rights", "observe", "one_decision", "lost_agents"]
PLAIN = [*CI, "ddp", "daemon_lost", "faults"]
FULL = [*PLAIN, "saving", "straggler"]


def run(arguments):
    names = arguments.cases or (CI if arguments.ci else FULL if arguments.full else PLAIN)
    count = arguments.faults or (200 if arguments.full else 10)
    failed, seen = 0, {}
    with Cluster() as cluster:
        cluster.mpi = mpi_program(cluster.folder)
        for name in names:
            begin = time.monotonic()
            try:
                case = globals()[name]
                seen[name] = case(cluster, count) if name == "faults" else case(cluster)
                verdict = "ok"
            except Exception as problem:  # pylint: disable=broad-except
                verdict, seen[name] = "FAILED", str(problem)
                failed += 1
                if not isinstance(problem, AssertionError):
                    traceback.print_exc()
                cluster.call("scancel", "--user", cluster.user.pw_name)
                with contextlib.suppress(AssertionError):
                    wait_for("no job runs", lambda: not cluster.call("squeue", "-h").stdout.strip(), 30)
            print(f"{name:14} {time.monotonic() - begin:6.1f} s  {verdict:6}  {seen[name]}", flush=True)
    if arguments.full and not failed and not arguments.cases:
        evidence.write(seen)
    return 1 if failed else 0

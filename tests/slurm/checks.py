# SPDX-License-Identifier: Apache-2.0
"""The cases of scripts/check-slurm. Each is a function of a Cluster that raises AssertionError where a promise is broken and
returns what it saw, in words."""

import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import time
import traceback

import evidence
from cluster import HYPERMILE, HYPERMILED, ROOT, Cluster, wait_for

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
    return wait_for(f"job {job} runs", lambda: cluster.state(job) == "RUNNING", 60)


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
    wait_for(f"no agent is left after {what}", lambda: not cluster.agents(), 20)
    wait_for(f"no right is left after {what}", lambda: not cluster.rights(), 30)
    wait_for(f"no shared memory is left after {what}", lambda: not cluster.rings(), 15)
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


def split(cluster):
    """The coordinator's network is cut: default everywhere, the others decide without it, and with it once it is back."""
    job = submit_mpi(cluster, "--hypermile=5%")
    running(cluster, job)
    until_changed(cluster)
    first = cluster.agents()[0]
    with cluster.cut(*cluster.ports_of(first)):
        took = until_default(cluster, RESTORED_WITHIN + SILENT, "the network was cut")
        wait_for("the other three decide", lambda: sum(any(locks) for locks in cluster.locks().values()) == 3, 120)
        assert not any(cluster.locks()["n0"]), "a node that is alone has decided"
    wait_for("all four decide again", lambda: all(any(locks) for locks in cluster.locks().values()), 150)
    assert cluster.state(job) == "RUNNING"
    cancel(cluster, job)
    nothing_left(cluster, "a cut network")
    return f"default {took:.1f} s after the cut, three nodes decided on, four again once it was over"


def shapes(cluster):
    """Arrays, heterogeneous jobs, --exclusive, several steps at a time, a script without srun, requeue."""
    # A job sees its own GPUs as the first ones, or is told which they are.
    rank = f"bash -c '{HYPERMILE} simulate --realtime --workload {WORKLOAD} --seconds 6 --gpu ${{CUDA_VISIBLE_DEVICES%%,*}}'\n"
    script = "srun " + rank
    one = ("-N1", "-n1", "--gres=gpu:1", "--hypermile=5%")
    jobs = {"array": cluster.submit(script, "--array=0-3", *one),
            "exclusive": cluster.submit(script, "--exclusive", *one),
            "no srun": cluster.submit(script.removeprefix("srun "), *one),
            "steps": cluster.submit(2 * f"srun -n1 --gres=gpu:1 --exact {rank.strip()} &\n" + "wait -n && wait -n\n", "-N1",
                                    "-n2", "--gres=gpu:2", "--hypermile=5%"),
            "heterogeneous": cluster.submit("srun --het-group=0,1 " + rank, "-N1", "-n1", "--gres=gpu:2", "--hypermile=5%", ":",
                                            "-N1", "-n1", "--gres=gpu:1", "--hypermile=5%")}
    for shape, job in jobs.items():
        state = cluster.wait(job, 180)
        assert state == "COMPLETED", f"{shape}: {state}: {cluster.output(job)}"
        assert "hypermile:" not in cluster.output(job), f"{shape}: {cluster.output(job)}"
    seen = {shape: len(list(cluster.work.glob(f"{job}.*.jsonl"))) for shape, job in jobs.items()}
    array = len(list(cluster.work.glob("*.jsonl")))
    assert min(number for shape, number in seen.items() if shape not in ("array", "heterogeneous")) >= 1, seen
    assert array >= 4 + 5, f"{array} logs"
    job = cluster.submit(script, "--requeue", *one)
    running(cluster, job)
    wait_for("its agent is there", cluster.agents, 20)
    cluster.call("scontrol", "requeue", job, check=True)
    wait_for("it waits again", lambda: cluster.state(job) == "PENDING", 60)
    cluster.call("scontrol", "update", f"JobId={job}", "StartTime=now", check=True)
    state = cluster.wait(job, 180)
    assert state == "COMPLETED", f"requeued: {state}: {cluster.output(job)}"
    nothing_left(cluster, "jobs of many shapes")
    return f"array of 4, {', '.join(shape for shape in jobs if shape != 'array')}, requeued: all completed, {array} logs"


def shared(cluster):
    """A job that may share its GPU (shards) is observed; once two do, nobody may change the GPU."""
    shard = ("-N1", "-n1", "-w", "n0", "--gres=shard:1")
    simulate = f"{HYPERMILE} simulate --realtime --workload {WORKLOAD}"
    job = cluster.submit(f"srun {simulate} --seconds 12\n", *shard, "--hypermile=5%")
    running(cluster, job)
    wait_for("its agent is there", cluster.agents, 20)
    changed = False
    while cluster.state(job) == "RUNNING":
        changed = changed or cluster.changed()
        time.sleep(0.5)
    assert cluster.wait(job) == "COMPLETED", cluster.output(job)
    assert not changed, "the clocks of a GPU that may be shared were changed"
    # One that steers by itself while it is alone.
    variables = " ".join(f"{name}={value}" for name, value in cluster.node_environment("n0").items())
    alone = cluster.submit(f"srun env {variables} {HYPERMILE} run --policy fixed:sm=1200 -- {simulate} --seconds 10min\n", *shard)
    wait_for("a job that is alone on its GPU may change it", cluster.changed, 60)
    second = cluster.submit("srun sleep 20\n", *shard)
    running(cluster, second)
    took = until_default(cluster, RESTORED_WITHIN + 3, "a second job has come")
    time.sleep(3)
    assert not cluster.changed() and cluster.state(alone) == "RUNNING"
    cancel(cluster, alone)
    cancel(cluster, second)
    nothing_left(cluster, "a shared GPU")
    return f"observed; a job that changed its GPU had to let go {took:.1f} s after a second one came"


def seen_as_one(cluster):
    """At the end the job's comment has energy and saving, and one report is made of the nodes' logs."""
    job = submit_mpi(cluster, "--hypermile=5%", iterations=60)
    mine = cluster.submit("scontrol update JobId=$SLURM_JOB_ID Comment=mine\n"
                          f"srun {HYPERMILE} simulate --realtime --workload {WORKLOAD} --seconds 3\n", "-N1", "-n1",
                          "--gres=gpu:1", "--hypermile=5%")
    comments = {}
    for one in (job, mine):
        assert cluster.wait(one, 240) == "COMPLETED", cluster.output(one)
        text = cluster.call("scontrol", "show", "job", one).stdout
        comments[one] = text.split("Comment=")[1].splitlines()[0] if "Comment=" in text else ""
    assert re.match(r"hypermile: step 0: [\d.]+ kJ on 4 nodes", comments[job]), comments
    assert comments[mine].startswith("mine"), comments
    logs = sorted(cluster.work.glob(f"{job}.0-n*.jsonl"))
    report = json.loads(cluster.call(HYPERMILE, "report", "--json", *logs, check=True).stdout)
    assert [node["node"] for node in report["nodes"]] == cluster.names and report["job"] == f"{job}.0", report
    assert report["joules"] > 0
    start = next(event for event in cluster.logs(job)["n2"] if event["type"] == "run_start")["environment"]
    told = [start.get(name) for name in ("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURMD_NODENAME", "SLURM_JOB_USER")]
    assert told == [job, "0", "n2", cluster.user.pw_name], told
    nothing_left(cluster, "a job that ended")
    return f"comment: {comments[job]}"


def container(cluster):
    """Ranks in a container without privileges that has the daemon's socket and /dev/shm, and neither /run nor other processes."""
    hide = f"mount -t tmpfs tmpfs /run && exec {HYPERMILE} simulate --realtime --workload {WORKLOAD} --seconds 10min --gpu 0"
    job = cluster.submit(f"srun unshare --user --map-root-user --mount --pid --fork --mount-proc sh -c '{hide}'\n", "-N1", "-n1",
                         "-w", "n0", "--gres=gpu:1", "--hypermile=5%")
    running(cluster, job)
    wait_for("clocks are changed for ranks in a container", cluster.changed, 120)
    cluster.call("scancel", job, user=cluster.user)
    took = until_default(cluster, RESTORED_WITHIN + 3, "scancel")
    cluster.wait(job, 60)
    nothing_left(cluster, "a container")
    return f"clocks moved for ranks in user, mount and process namespaces of their own; default {took:.1f} s after scancel"


def abuse(cluster):
    """Another user's agent for the same step, garbage, and connections that say nothing: the job and its group never notice."""
    job = submit_mpi(cluster, "--hypermile=5%")
    running(cluster, job)
    until_changed(cluster)
    port = next(iter(sorted(cluster.ports_of(cluster.agents()[0]))))
    intruder = subprocess.Popen(
        [cluster.agent, "--job", f"{job}.0", "--nodes", "n[0-3]", "--node", "#3", "--address", "127.0.0.1", "--munge-socket",
         cluster.munge_socket, "--log", "/dev/null"], env={**cluster.environment, **cluster.node_environment("n3")},
        user=cluster.other.pw_uid, group=cluster.other.pw_gid, extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
    with socket.create_connection(("127.0.0.1", port)) as loud, contextlib.suppress(OSError):
        loud.sendall(os.urandom(4 << 20))
    time.sleep(6)
    locks = cluster.locks()
    assert all(any(each) for each in locks.values()), f"the group was disturbed: {locks}"
    intruder.stdin.close()
    assert intruder.wait(20) == 0
    for one in silent:
        one.close()
    cancel(cluster, job)
    nothing_left(cluster, "abuse")
    return "another user's agent, 100 silent connections and 4 MB of garbage changed nothing"


def torchrun(cluster):
    """Without Slurm: three hosts of torchrun decide together; the second takes over when the first agent is killed."""
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import torch.distributed"], capture_output=True, check=False).returncode != 0:
        return "skipped: python3-torch is not installed"
    hosts = cluster.names[:3]
    secret = cluster.work / "secret"
    secret.write_bytes(os.urandom(32))
    os.chown(secret, cluster.user.pw_uid, cluster.user.pw_gid)
    secret.chmod(0o600)
    runs = []
    for place, node in enumerate(hosts):
        subprocess.run([HYPERMILED, "--grant", "torchrun", "--uid", str(cluster.user.pw_uid), "--gpus", "0,1", "--state",
                        cluster.state_folder(node), "--socket", cluster.node_folder(node) / "hypermiled.sock"],
                       env={**cluster.environment, **cluster.node_environment(node)}, check=True)
        with open(cluster.work / f"torchrun-{node}.out", "wb") as output:
            runs.append(subprocess.Popen(
                [HYPERMILE, "run", "--quiet", "--nodes-from", "torchrun", "--secret-file", secret, "--", python, "-m",
                 "torch.distributed.run", "--nnodes=3", f"--node_rank={place}", "--master_addr=127.0.0.1", "--master_port=29500",
                 "--nproc_per_node=2", "--redirects=9:1", "--tee=9:1", ROOT / "tests/slurm/ddp_rank.py", HYPERMILE, WORKLOAD, str(ENDLESS)],
                env={**cluster.environment, **cluster.node_environment(node), "GLOO_SOCKET_IFNAME": "lo"}, cwd=cluster.work,
                user=cluster.user.pw_uid, group=cluster.user.pw_gid, extra_groups=[], stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, start_new_session=True))

    def changed_on(wanted):
        return lambda: {node for node, locks in cluster.locks().items() if any(locks)} == set(wanted)

    try:
        wait_for("clocks are changed on every host", changed_on(hosts), 150)
        runs[0].kill()  # the agent alone: torchrun and its ranks go on
        took = until_default(cluster, RESTORED_WITHIN + 4, "the first agent was killed")
        wait_for("the second host has taken over", changed_on(hosts[1:]), 120)
    except AssertionError as problem:
        outputs = {node: (cluster.work / f"torchrun-{node}.out").read_text()[-800:] for node in hosts}
        raise AssertionError(f"{problem}: {outputs}") from problem
    finally:
        for run in runs:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
            run.wait()
    until_default(cluster, RESTORED_WITHIN + 4, "everything was killed")
    for node in hosts:
        subprocess.run([HYPERMILED, "--revoke", "torchrun", "--state", cluster.state_folder(node), "--socket",
                        cluster.node_folder(node) / "hypermiled.sock"],
                       env={**cluster.environment, **cluster.node_environment(node)}, check=True)
    cluster.call(cluster.agent, "--clean", user=cluster.user)
    nothing_left(cluster, "torchrun")
    return f"3 hosts moved their clocks together; default {took:.1f} s after the first agent's death, the second took over"


SILENT = 14  # s until a peer that is alive and silent is given up, and its lease at the latest
ENDING = ("job", "scancel", "requeue", "timeout")


class Faults:
    """Random faults at random moments; after each everything is at its default and, with the job, nothing is left."""

    def __init__(self, cluster):
        self.cluster, self.generator = cluster, random.Random()
        self.done, self.slowest, self.slowest_silent = {}, 0.0, 0.0

    def restart(self, name, start):
        self.cluster.processes[name].kill()
        self.cluster.processes[name].wait()
        start()

    def inject(self, kind, job):
        """Returns for how long it may last until every GPU is at its default; None where it need not be."""
        cluster, agents = self.cluster, self.cluster.agents()
        victim = self.generator.choice(sorted(agents)) if agents else 0
        if kind == "agent":
            cluster.kill(agents[victim])
        elif kind == "coordinator":
            cluster.kill(agents[min(agents)])
        elif kind == "silent agent":
            cluster.kill(agents[victim], signal.SIGSTOP)
            self.restored(kind, SILENT)
            cluster.kill(agents[victim], signal.SIGCONT)
            return None
        elif kind == "cut network":
            with cluster.cut(*cluster.ports_of(agents[victim])):
                self.restored(kind, SILENT)
            return None
        elif kind == "full disk":
            with cluster.full_disk():
                time.sleep(3)
            return None
        elif kind == "job":
            cluster.kill_rank(self.generator)
        elif kind == "scancel":
            cluster.call("scancel", job)
        elif kind == "requeue":
            cluster.call("scontrol", "requeue", job)
        elif kind == "timeout":
            wait_for("the job's time is over", lambda: cluster.state(job) != "RUNNING", 200)
        elif kind == "daemon":
            node = self.generator.choice(cluster.names)
            self.restart(f"hypermiled-{node}", lambda: cluster.start_daemon(node))
            wait_for(f"{node} is restored", lambda: not any(cluster.locks()[node]), 10)
            return None
        elif kind == "slurmd":
            node = self.generator.choice(cluster.names)
            self.restart(f"slurmd-{node}", lambda: cluster.start_slurmd(node))
            time.sleep(1)
            return None
        return 4

    def restored(self, what, seconds):
        took = until_default(self.cluster, RESTORED_WITHIN + seconds, what)
        if seconds == SILENT:
            self.slowest_silent = max(self.slowest_silent, took)
        else:
            self.slowest = max(self.slowest, took)

    def one_job(self, most):
        """One job and the faults that it lives through; the last one ends it."""
        cluster, left = self.cluster, most
        ending = self.generator.choices(ENDING, (4, 8, 4, 1))[0]
        job = submit_mpi(cluster, "--hypermile=5%", *(["--time=1"] if ending == "timeout" else []))
        running(cluster, job)
        kinds = ["agent", "coordinator", "silent agent", "cut network", "daemon", "slurmd", "full disk"]
        for kind in self.generator.sample(kinds, min(3, most - 1)) + [ending]:
            with contextlib.suppress(AssertionError):  # a fault may also come before anything was changed
                until_changed(cluster, self.generator.uniform(1, 25))
            if kind not in ENDING and (cluster.state(job) != "RUNNING" or len(cluster.agents()) < 2):
                continue
            if (seconds := self.inject(kind, job)) is not None:
                self.restored(kind, seconds)
            if kind not in ENDING:
                assert cluster.state(job) == "RUNNING", f"{kind}: {cluster.state(job)}: {cluster.output(job)}"
            self.done[kind] = self.done.get(kind, 0) + 1
            left -= 1
        cancel(cluster, job)
        nothing_left(cluster, ending)
        for path in cluster.work.glob("*"):
            path.unlink()
        return left


def faults(cluster, count):
    """In pieces: what --write has kept is added to."""
    before = evidence.kept().get("faults", {})
    course = Faults(cluster)
    left = count
    while left > 0:
        left = course.one_job(left)
    kinds = {kind: before.get("kinds", {}).get(kind, 0) + course.done.get(kind, 0)
             for kind in {*course.done, *before.get("kinds", {})}}
    return {"kinds": kinds, "slowest_s": max(course.slowest, before.get("slowest_s", 0)),
            "slowest_silent_s": max(course.slowest_silent, before.get("slowest_silent_s", 0))}


def saving(cluster):
    """What a job of four nodes saves against the same job at the default, and how much longer it takes."""
    return evidence.saving(cluster, submit_mpi)


def straggler(cluster):
    """Three nodes wait for the fourth; their slack is taken."""
    shown = evidence.straggler(cluster, submit_mpi)
    nothing_left(cluster, "a straggler")
    return shown


CI = ["off", "fails_open", "rights", "observe", "one_decision", "lost_agents", "shared", "seen_as_one"]
PLAIN = [*CI, "abuse", "container", "split", "shapes", "ddp", "torchrun", "daemon_lost", "faults"]
FULL = [*PLAIN, "saving", "straggler"]


def run(arguments):
    names = arguments.cases or (CI if arguments.ci else FULL if arguments.full else PLAIN)
    count = arguments.faults or (200 if arguments.full else 10)
    writing = arguments.write or (arguments.full and not arguments.cases)
    if arguments.full and not arguments.cases:
        evidence.forget()
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
            print(f"{name:14} {time.monotonic() - begin:6.1f} s  {verdict:6}  {evidence.words(seen[name])}", flush=True)
            if writing and verdict == "ok":
                evidence.keep(name, seen[name])
    if writing and not failed:
        evidence.write(FULL)
    return 1 if failed else 0

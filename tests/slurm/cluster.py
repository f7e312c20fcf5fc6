# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster on this machine for tests: munged, slurmctld and several slurmd, each node with its own hypermiled and
its own simulated GPUs on the NVML stand-in. Everything lives in one folder and ends with this object. Needs root."""

import contextlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HYPERMILE_BUILD", ROOT / "build"))
HYPERMILE = BUILD / "bin/hypermile"
HYPERMILED = BUILD / "bin/hypermiled"
AGENT = BUILD / "bin/hypermile-agent"
PLUGIN = BUILD / "lib/hypermile_slurm.so"
STAND_IN = BUILD / "lib/nvmlsim/libnvidia-ml.so.1"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_for(what, condition, seconds=30):
    until = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        time.sleep(0.05)


class Cluster:
    """`user` runs the jobs; it must not be root."""

    def __init__(self, nodes=4, gpus=2, user="nobody", card="rtx3080ti", site="default=off"):
        self.names = [f"n{i}" for i in range(nodes)]
        self.gpus, self.user, self.card, self.site = gpus, pwd.getpwnam(user), card, site
        self.other = pwd.getpwnam("daemon")  # who has no job
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hypermile-slurm-"))
        self.folder.chmod(0o755)
        self.processes = {}
        # Logs and the daemons' states are on a small disk of their own, so that it can be full.
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,mode=755", "tmpfs", self.disk], check=True)
        self.work = self.disk / "work"
        self.work.mkdir()
        self.agent = self.folder / "hypermile-agent"  # a link, so that a test can take it away
        self.agent.symlink_to(AGENT)
        os.chown(self.work, self.user.pw_uid, self.user.pw_gid)
        self.environment = {"PATH": os.environ["PATH"], "SLURM_CONF": str(self.folder / "slurm.conf"),
                            "HOME": str(self.work), "LANG": "C.UTF-8"}

    def __enter__(self):
        try:
            self._configure()
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    # ---- files ----

    def node_folder(self, node):
        return self.folder / node

    def node_environment(self, node):
        return {"HYPERMILE_NVML": str(STAND_IN), "HYPERMILE_SIM_STATE": str(self.node_folder(node) / "gpus"),
                "HYPERMILE_SIM_GPUS": ",".join([self.card] * self.gpus), "HYPERMILE_SIM_SPEED": "1",
                "HYPERMILE_SOCKET": str(self.node_folder(node) / "hypermiled.sock"),
                "HYPERMILE_DATA": str(ROOT)}

    def _configure(self):
        controller, *node_ports = free_ports(1 + len(self.names))
        munge = self.folder / "munge"
        munge.mkdir(mode=0o755)
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o600)
        self.munge_socket = munge / "socket"
        plugins = "/usr/lib/x86_64-linux-gnu/slurm-wlm"
        nodes = "\n".join(f"NodeName={name} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port} CPUs=64 "
                          f"RealMemory=1000 Gres=gpu:{self.gpus},shard:{4 * self.gpus} State=UNKNOWN" for name, port in zip(self.names, node_ports))
        (self.folder / "slurm.conf").write_text(f"""
ClusterName=hypermile
SlurmctldHost={socket.gethostname()}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={self.munge_socket}
CredType=cred/munge
StateSaveLocation={self.folder}/ctld
SlurmdSpoolDir={self.folder}/%n/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/%n/slurmd.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/%n/slurmd.log
SlurmdParameters=config_overrides
TmpFS={self.folder}/%n/tmp
PluginDir={plugins}
PlugStackConfig={self.folder}/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=1
GresTypes=gpu,shard
MpiDefault=none
ReturnToService=2
KillWait=3
SlurmdTimeout=300
MessageTimeout=30
PrologFlags=Alloc
InactiveLimit=0
MinJobAge=7200
{nodes}
PartitionName=all Nodes={self.names[0]}-{self.names[-1][1:]} Default=YES MaxTime=60 State=UP OverSubscribe=YES
""".replace(f"Nodes={self.names[0]}-{self.names[-1][1:]}", "Nodes=" + ",".join(self.names)))
        for gpu in range(self.gpus):  # Slurm wants character devices for GRES; nobody opens them
            os.mknod(self.folder / f"gpu{gpu}", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        (self.folder / "gres.conf").write_text("".join(
            f"NodeName={name} Name=gpu File={self.folder}/gpu{gpu}\n" for name in self.names for gpu in range(self.gpus)) +
            "".join(f"NodeName={name} Name=shard Count={4 * self.gpus}\n" for name in self.names))
        (self.folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        (self.folder / "plugstack.conf").write_text(
            f"required {PLUGIN} {self.site} agent={self.agent} daemon={HYPERMILED} socket={self.folder}/%n/hypermiled.sock "
            f"state={self.disk}/state-%n address=127.0.0.1 munge_socket={self.munge_socket} "
            f"environment={self.folder}/%n/environment log={self.work}/%j-%n.jsonl\n")
        (self.folder / "ctld").mkdir()
        for name in self.names:
            folder = self.node_folder(name)
            (folder / "spool").mkdir(parents=True)
            (folder / "tmp").mkdir()
            (folder / "tmp").chmod(0o1777)
            (folder / "environment").write_text(
                "".join(f"{key}={value}\n" for key, value in self.node_environment(name).items()))
            (folder / "hypermiled.toml").write_text(
                "[slurm]\nsm_clock = [1, 9999]\nmemory_clock = [1, 9999]\npower_limit = [1, 9999]\n")

    # ---- processes ----

    def start(self, name, command, environment=None, **more):
        with open(self.folder / f"{name}.out", "ab") as output:
            self.processes[name] = subprocess.Popen(
                [str(word) for word in command], env=environment or self.environment, stdin=subprocess.DEVNULL,
                stdout=output, stderr=output, start_new_session=True, **more)
        return self.processes[name]

    def start_daemon(self, node):
        self.start(f"hypermiled-{node}", [HYPERMILED, "--config", self.node_folder(node) / "hypermiled.toml",
                                          "--state", self.state_folder(node)],
                   {**self.environment, **self.node_environment(node)})

    def state_folder(self, node):
        return self.disk / f"state-{node}"

    def start_slurmd(self, node):
        self.start(f"slurmd-{node}", ["slurmd", "-D", "-N", node])

    def _start(self):
        self.start("munged", ["munged", "--foreground", "--force", f"--socket={self.munge_socket}",
                              f"--key-file={self.folder}/munge/key", f"--pid-file={self.folder}/munge/pid",
                              f"--log-file={self.folder}/munge/log", f"--seed-file={self.folder}/munge/seed"])
        wait_for("munged listens", self.munge_socket.exists)
        self.start("slurmctld", ["slurmctld", "-D", "-i"])
        for name in self.names:
            self.status(name)  # makes the simulated machine, for everybody
            os.chmod(self.node_folder(name) / "gpus", 0o666)
            self.start_daemon(name)
            self.start_slurmd(name)
        wait_for("all nodes are idle", lambda: self.node_states() == {"idle"}, 60)
        for name in self.names:
            wait_for(f"the daemon of {name} serves", (self.node_folder(name) / "hypermiled.sock").exists)

    def close(self):
        # Jobs first, so that their steps are not left to nobody.
        with contextlib.suppress(Exception):
            self.call("scancel", "--user", self.user.pw_name)
            wait_for("no job runs", lambda: not self.call("squeue", "-h").stdout.strip(), 15)
        for name, process in self.processes.items():
            if name != "munged":
                process.terminate()
        for process in self.processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill() if process.poll() is None else None
            if process.poll() is None:
                process.wait()
        if "munged" in self.processes and self.processes["munged"].poll() is None:
            self.processes["munged"].terminate()
        if not os.environ.get("HYPERMILE_KEEP"):
            subprocess.run(["umount", "-l", self.disk], check=False)
            shutil.rmtree(self.folder, ignore_errors=True)

    # ---- faults of the machine ----

    @contextlib.contextmanager
    def cut(self, *ports):
        """No packet from or to these TCP ports arrives; nobody is told."""
        rules = [["pref", "5", end, str(port), "ipproto", "tcp", "blackhole"] for port in ports for end in ("sport", "dport")]
        # The rule for local addresses comes first unless it is moved.
        if "\n10:" not in "\n" + self.call("ip", "rule").stdout:
            self.call("ip", "rule", "add", "pref", "10", "lookup", "local", check=True)
            self.call("ip", "rule", "del", "pref", "0", check=True)
        for rule in rules:
            self.call("ip", "rule", "add", *rule, check=True)
        try:
            yield
        finally:
            for rule in rules:
                self.call("ip", "rule", "del", *rule, check=True)

    def ports_of(self, pid):
        """The TCP ports at this end of a process's connections, and those that it listens on."""
        inodes = set()
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                inodes.add(os.readlink(entry).removeprefix("socket:[").removesuffix("]"))
        lines = [line.split() for name in ("tcp", "tcp6") for line in open(f"/proc/{pid}/net/{name}", encoding="ascii")]
        return {int(words[1].split(":")[1], 16) for words in lines[1:] if words[9] in inodes}

    @contextlib.contextmanager
    def full_disk(self):
        filler = self.disk / "filler"
        with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 16))
        try:
            yield
        finally:
            filler.unlink()

    # ---- what a test asks ----

    def call(self, *words, user=None, check=False, seconds=60, environment=None):
        who = {}
        if user is not None:
            who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        return subprocess.run([str(word) for word in words], env={**self.environment, **(environment or {})}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=check, cwd=self.work,
                              **who)

    def node_states(self):
        return set(self.call("sinfo", "-h", "-N", "-o", "%T").stdout.split())

    def status(self, node):
        """The GPUs of a node as the stand-in has them."""
        answer = self.call(HYPERMILE, "simulate", "--status", "--json", environment=self.node_environment(node))
        return json.loads(answer.stdout)["gpus"]

    def locks(self):
        return {node: [gpu["sm_lock_mhz"] for gpu in self.status(node)] for node in self.names}

    def changed(self):
        return any(gpu["sm_lock_mhz"] or gpu["mem_lock_mhz"] for node in self.names for gpu in self.status(node))

    def submit(self, script, *options):
        """sbatch as the user; returns the job's number."""
        path = self.work / f"job-{time.monotonic_ns()}.sh"
        path.write_text("#!/bin/bash\n" + script)
        path.chmod(0o755)
        os.chown(path, self.user.pw_uid, self.user.pw_gid)
        answer = self.call("sbatch", "--parsable", *options, path, user=self.user)
        if answer.returncode != 0:
            raise AssertionError(f"sbatch: {answer.stderr}")
        return answer.stdout.strip()

    def state(self, job):
        text = self.call("scontrol", "show", "job", "-o", job).stdout
        return text.split("JobState=")[1].split()[0] if "JobState=" in text else "GONE"

    def wait(self, job, seconds=600):
        final = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "GONE"}
        return wait_for(f"job {job} ends", lambda: (s := self.state(job)) in final and s, seconds)

    def output(self, job):
        return "".join(path.read_text() for path in sorted(self.work.glob(f"slurm-{job}[._]*")))

    def agents(self):
        """Process numbers of the living agents, by node's place."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if words[0].decode() == str(self.agent) and str(self.munge_socket).encode() in words:
                    found[int(words[words.index(b"--node") + 1][1:])] = int(entry.name)
        return found

    def kill_rank(self, generator):
        """kill -9 of one simulated rank of the running job."""
        ranks = [int(entry.name) for entry in pathlib.Path("/proc").iterdir()
                 if entry.name.isdigit() and self._is_rank(entry)]
        self.kill(generator.choice(ranks))

    def _is_rank(self, entry):
        with contextlib.suppress(OSError):
            return (b"--paced" in (entry / "cmdline").read_bytes().split(b"\0") and
                    str(self.folder).encode() in (entry / "environ").read_bytes())
        return False

    def rights(self):
        return [path.name for node in self.names for path in (self.state_folder(node) / "jobs").glob("*")]

    def rings(self):
        """Folders of shared memory that agents made for the jobs' user."""
        return [path for path in pathlib.Path("/dev/shm").glob("hypermile-rings-*") if path.stat().st_uid == self.user.pw_uid]

    def logs(self, job, step=0):
        """Events of each node's log."""
        events = {}
        for node in self.names:
            path = self.work / f"{job}.{step}-{node}.jsonl"
            if path.exists():
                events[node] = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
        return events

    def kill(self, pid, number=signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

# SPDX-License-Identifier: Apache-2.0
"""A machine of simulated GPUs for one test. Everything that takes part in a controlled run is a process of its own: daemon,
hypermile, job. Nothing here changes this process's environment, so several worlds can exist at once."""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

HYPERMILE = os.environ["HYPERMILE"]
HYPERMILED = os.environ["HYPERMILED"]

EVERYBODY = """
[[allow]]
everyone = true
gpus = ["all"]
sm_clock = [1, 9999]
memory_clock = [1, 9999]
power_limit = [1, 9999]
"""


# Guardians leave every control group; they shall not leave the one that confines the tests.
CLONE_NEWCGROUP = 0x02000000
ctypes.CDLL(None).unshare(CLONE_NEWCGROUP)

# A shell starts background programs with SIGINT ignored, and every job would inherit that; a
# handler is not inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)


def wait_for(what, condition, seconds=60):
    """Waits until `condition` is true and returns its value. The limit in seconds allows for a machine under load."""
    until = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        time.sleep(0.02)


class World:
    def __init__(self, gpus="rtx3080ti"):
        self.folder = tempfile.mkdtemp(prefix="hypermile-world-")
        os.chmod(self.folder, 0o1777)
        self.environment = {
            **os.environ,
            "HYPERMILE_SIM_STATE": self.path("state"),
            "HYPERMILE_SIM_GPUS": gpus,
            "HYPERMILE_SIM_SPEED": "1",
            "HYPERMILE_STATE": self.path("journal"),
            "HYPERMILE_SOCKET": self.path("socket"),
            "XDG_CONFIG_HOME": self.path("config"),
            "XDG_STATE_HOME": self.path("history"),
            "HYPERMILE_CACHE": "no",  # each run is to search for itself
        }
        self.environment.pop("HYPERMILE_READ_ONLY", None)  # these GPUs are simulated
        self.started = []
        self.status()  # creates the machine

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            # Also kills the processes that it has started, as these may hold its pipes open.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, command, **more):
        more.setdefault("env", self.environment)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, process_group=0, **more)
        self.started.append(process)
        return process

    def daemon(self, config=EVERYBODY):
        with open(self.path("hypermiled.toml"), "w", encoding="utf-8") as file:
            file.write(config)
        os.chmod(self.path("hypermiled.toml"), 0o644)
        process = self.start([HYPERMILED, "--config", self.path("hypermiled.toml")])
        wait_for("the daemon serves", lambda: self.call("leases").returncode == 0)
        return process

    def call(self, *words):
        return subprocess.run([HYPERMILE, *words], env=self.environment, capture_output=True, text=True, timeout=60)

    def status(self):
        return json.loads(self.call("simulate", "--status", "--json").stdout)["gpus"]

    def locks(self):
        return [gpu["sm_lock_mhz"] for gpu in self.status()]

    def changed(self):
        return any(gpu["sm_lock_mhz"] or gpu["mem_lock_mhz"] for gpu in self.status())

    def job(self, seconds, *more, workload="dcgan"):
        return [HYPERMILE, "simulate", "--realtime", "--json", "--seconds", f"{seconds}s", "--workload", workload, *more]

    def run(self, job, *options, **more):
        """`hypermile run` with its own log and summary."""
        return self.start([HYPERMILE, "run", "--summary", self.path("summary.json"), "--log", self.path("log.jsonl"),
                           *options, "--", *job], **more)

    def wait_until_changed(self):
        wait_for("clocks are changed", self.changed)

    def wait_until_restored(self, seconds=60):
        wait_for("clocks are given back", lambda: not self.changed(), seconds)

    def summary(self):
        with open(self.path("summary.json"), encoding="utf-8") as file:
            return json.load(file)

    def read(self, name):
        """The content of a file so far; "" where it does not exist."""
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def log(self):
        """The complete lines so far."""
        return [json.loads(line) for line in self.read("log.jsonl").splitlines(keepends=True) if line.endswith("\n")]

    def job_pid(self):
        """The process that trains, from the log."""
        return wait_for("the job is seen", lambda: [e["process"] for e in self.log() if e["type"] == "process"])[0]

    def guardian_pid(self):
        """The process that holds a GPU, from its lock file."""
        for name in os.listdir(self.path("journal")):
            if name.endswith(".lock"):
                with open(os.path.join(self.path("journal"), name), encoding="utf-8") as file:
                    text = file.read()
                if "(pid " in text:
                    return int(text.split("(pid ")[1].split(")")[0])
        return None


def finish(process, seconds=120):
    """(exit status, stdout, stderr)."""
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err

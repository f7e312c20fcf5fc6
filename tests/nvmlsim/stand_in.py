# SPDX-License-Identifier: Apache-2.0
"""What the tests of the NVML stand-in share: a machine of their own, and a job that trains on it.

ctest gives HYPERMILE (the program) and puts the stand-in on LD_LIBRARY_PATH; any client that loads
libnvidia-ml.so.1 in this process or a child then meets the simulated GPUs.
"""

import json
import os
import shutil
import subprocess
import tempfile

HYPERMILE = os.environ["HYPERMILE"]


class Machine:
    """Simulated GPUs behind the stand-in; they are removed with this object."""

    def __init__(self, gpus="rtx3080ti", speed=1):
        self.folder = tempfile.mkdtemp(prefix="hypermile-stand-in-")
        os.chmod(self.folder, 0o1777)
        self.state = os.path.join(self.folder, "state")
        self.speed = speed
        os.environ["HYPERMILE_SIM_STATE"] = self.state
        os.environ["HYPERMILE_SIM_GPUS"] = gpus
        os.environ["HYPERMILE_SIM_SPEED"] = str(speed)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)


def hypermile(*arguments, check=True):
    """Runs the program and returns the completed process, with its output as text."""
    return subprocess.run(
        [HYPERMILE, *arguments], capture_output=True, text=True, check=check, timeout=120
    )


def status():
    """The GPUs as `hypermile simulate --status`, another process, reports them."""
    return json.loads(hypermile("simulate", "--status", "--json").stdout)["gpus"]


class Job:
    """A process that trains on the stand-in; step() returns when its next iteration is over."""

    def __init__(self, workload="resnet50", gpu=0, seconds="1000h"):
        self.process = subprocess.Popen(
            [HYPERMILE, "simulate", "--realtime", "--ticks", "--seconds", seconds,
             "--workload", workload, "--gpu", str(gpu)],
            stdout=subprocess.PIPE, text=True,
        )

    def step(self):
        """Returns the simulated seconds since the start of the job."""
        line = self.process.stdout.readline()
        if not line[:1].isdigit():  # the job ended: this is its summary, or nothing
            raise RuntimeError(f"the job ended with status {self.process.wait()}: {line.strip()}")
        return float(line.split()[1])

    def steps(self, count):
        time = 0.0
        for _ in range(count):
            time = self.step()
        return time

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()

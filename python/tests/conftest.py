# SPDX-License-Identifier: Apache-2.0
"""Each test has its own machine of simulated GPUs (tests/run/world.py); training scripts are processes on it.

ctest sets HYPERMILE, HYPERMILED, HYPERMILE_NVML, and PYTHONPATH for the built package.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "run"), str(ROOT / "tests" / "nvmlsim")]

from world import HYPERMILE, World  # noqa: E402


class Machine(World):
    """A World whose jobs are Python scripts."""

    def __init__(self, gpus="rtx3080ti"):
        super().__init__(gpus)
        self.environment["HYPERMILE_BIN"] = HYPERMILE
        self.environment["LD_LIBRARY_PATH"] = os.path.dirname(os.environ["HYPERMILE_NVML"])
        self.environment["PYTHONPATH"] = os.pathsep.join(
            [os.environ.get("PYTHONPATH", ""), str(ROOT / "tests" / "nvmlsim"), str(ROOT / "python" / "examples")])
        self.environment["PYTHONDONTWRITEBYTECODE"] = "1"

    def train(self, script, *arguments, **variables):
        """Starts a script (text or path), which prints JSON on its standard output."""
        if isinstance(script, Path):
            command = [sys.executable, str(script)]
        else:
            command = [sys.executable, "-c", textwrap.dedent(script)]
        return self.start([*command, *map(str, arguments)], env={**self.environment, **variables})


def answer(process, seconds=300):
    """The last line of a script's output, as JSON."""
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


@pytest.fixture
def machine():
    with Machine() as made:
        yield made


@pytest.fixture
def two_gpus():
    with Machine("rtx3080ti,rtx3080ti") as made:
        yield made


@pytest.fixture
def second_client(machine):
    """Another NVML client, nvidia-ml-py in its own process, which reads the SM clock of GPU 0."""
    script = """
        import sys, pynvml
        pynvml.nvmlInit()
        card = pynvml.nvmlDeviceGetHandleByIndex(0)
        for _ in sys.stdin:
            print(pynvml.nvmlDeviceGetClockInfo(card, pynvml.NVML_CLOCK_SM), flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, env=machine.environment)

    def ask():
        process.stdin.write("\n")
        process.stdin.flush()
        return int(process.stdout.readline())

    yield ask
    process.stdin.close()
    process.wait()
    process.stdout.close()

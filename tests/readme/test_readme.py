# SPDX-License-Identifier: Apache-2.0
"""Every line that the README tells people to type is typed: against an installation in a folder of its own, on GPUs of the
NVML stand-in, with `python train.py` a job there. Blocks run side by side, each on a machine of its own; lines of a
block follow one another.

What stands for something that only the reader has: process 4242 is a job that runs, sweep.csv a sweep with counters,
systemctl what starts the unit's program. `make …` lines must be targets; the checks before a change run them."""

import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from world import World, wait_for

SOURCE, BUILD = os.environ["SOURCE_FOLDER"], os.environ["BUILD_FOLDER"]

SYSTEMCTL = """#!/bin/bash
# In place of systemd: starts what the unit says.
[ "$*" = "enable --now hypermiled" ] || exit 1
setsid "$(dirname "$0")/hypermiled" --config "$HYPERMILED_CONFIG" >/dev/null 2>&1 &
echo $! >"$HYPERMILED_CONFIG.pid"
for _ in $(seq 100); do [ -S "$HYPERMILE_SOCKET" ] && exit 0; sleep 0.1; done
exit 1
"""


# What a reader's trainer has: a loader, and a training step on the stand-in's GPU.
TRAINER = """
import atexit
from simulated_gpu import SimulatedGpu
gpu = SimulatedGpu()
atexit.register(gpu.__exit__)
loader = range(250)
def train(batch):
    gpu.work()
"""


def blocks():
    """The code blocks of the README that are typed: (line of the README, its lines)."""
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
        text = file.read()
    for found in re.finditer(r"^```(sh|python)?\n(.*?)^```$", text, re.M | re.S):
        if found[1] == "python":
            yield text[:found.start()].count("\n") + 2, [found[2]]
            continue
        lines = [line.split(" # ")[0].strip() for line in found[2].splitlines()]
        if found[1] or all(re.match(r"make \w+$", line) for line in lines):
            yield text[:found.start()].count("\n") + 2, [line for line in lines if line]


def write_sweep(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write("gpu,workload,sm_mhz,time_s,power_w,is_default,dram_active,fp32_active\n")
        for job in range(8):
            core = 0.1 + 0.1 * job
            for mhz in (1000, 900, 800, 700, 600):
                s = mhz / 1000
                file.write(f"G,job{job},{mhz},{1 + core * (1 / s - 1)},{40 + 60 * s * s},{int(mhz == 1000)},"
                           f"{1 - core},{core}\n")


class Reader:
    """Somebody in a folder of their own, with an installation on their PATH and a machine of simulated GPUs."""

    def __init__(self, prefix, world):
        self.world, self.folder = world, world.path("home")
        os.mkdir(self.folder)
        shutil.copy(os.path.join(SOURCE, "tests/readme/train.py"), self.folder)
        shutil.copy(os.path.join(SOURCE, "examples/c/train.c"), self.folder)
        write_sweep(os.path.join(self.folder, "sweep.csv"))
        library = glob.glob(os.path.join(prefix, "lib*/**/libhypermile.so.0"), recursive=True)[0]
        config = world.path("hypermiled.toml")
        with open(config, "w", encoding="utf-8"):
            pass
        self.environment = {
            **world.environment, "PATH": os.path.join(prefix, "bin") + ":" + os.environ["PATH"],
            "HYPERMILE_NVML": glob.glob(os.path.join(prefix, "lib*/**/libnvidia-ml.so.1"), recursive=True)[0],
            "LD_LIBRARY_PATH": os.path.dirname(library), "HYPERMILED_CONFIG": config,
            "PYTHON_FOLDERS": f"{BUILD}/python:{SOURCE}/python/examples",
            "PKG_CONFIG_PATH": os.path.join(os.path.dirname(library), "pkgconfig")}

    def type(self, line):
        """Exit status, and everything that was said."""
        if line.startswith("import "):
            return self.run_python(line)
        if "4242" in line:
            line = line.replace("4242", str(self.running_job()))
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200)
        return done.returncode, done.stdout

    def run_python(self, program):
        with open(os.path.join(self.folder, "readme.py"), "w", encoding="utf-8") as file:
            file.write(TRAINER + program)
        return self.type("PYTHONPATH=$PYTHON_FOLDERS python readme.py")

    def running_job(self):
        """A job that carries our library because somebody started it so."""
        log = self.world.path("job.jsonl")
        self.world.start(["hypermile", "run", "--observe", "--quiet", "--log", log, "--", "python", "train.py"],
                         cwd=self.folder, env=self.environment)
        return wait_for("the job is seen", lambda: re.search(r'"process":(\d+)', self.world.read("job.jsonl")))[1]

    def leave(self):
        pid = self.world.read("hypermiled.toml.pid")
        if pid:
            os.kill(int(pid), 15)


@unittest.skipUnless(os.geteuid() == 0, "only root can be a guardian or a daemon")
class ReadmeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = tempfile.mkdtemp(prefix="hypermile-readme-")
        cls.addClassCleanup(shutil.rmtree, cls.prefix)
        os.chmod(cls.prefix, 0o755)
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True, stdout=subprocess.DEVNULL)
        folder = os.path.join(cls.prefix, "bin")
        with open(os.path.join(folder, "systemctl"), "w", encoding="utf-8") as file:
            file.write(SYSTEMCTL)
        os.chmod(os.path.join(folder, "systemctl"), 0o755)
        os.symlink(sys.executable, os.path.join(folder, "python"))
        with open(os.path.join(SOURCE, "Makefile"), encoding="utf-8") as file:
            cls.targets = set(re.findall(r"^(\w+):.*##", file.read(), re.M))

    def run_block(self, lines):
        said = {}
        with World() as world:
            reader = Reader(self.prefix, world)
            try:
                for line in lines:
                    if line.startswith("make "):
                        said[line] = (0 if line.split()[1] in self.targets else 1, "no such target")
                    else:
                        said[line] = reader.type(line)
                self.assertFalse(world.changed(), f"a GPU was left changed by {lines}")
            finally:
                reader.leave()
        return said

    def test_every_line_runs(self):
        found = list(blocks())
        said = {}
        with concurrent.futures.ThreadPoolExecutor(len(found)) as pool:
            for result in pool.map(lambda block: self.run_block(block[1]), found):
                said.update(result)
        for line, (code, text) in said.items():
            with self.subTest(line):
                self.assertEqual(code, 0, text)
        # That it was more than an exit code.
        self.assertRegex(said["hypermile run -- python train.py"][1], r"(?s)the job ended after.*an iteration, from")
        self.assertRegex(said["hypermile run --observe -- python train.py"][1], r"iterations, [\d.]+ ± [\d.]+ ms and")
        self.assertRegex(said["hypermile attach --pid 4242"][1], r"process \d+ \(\w+\) watched for")
        self.assertRegex(said["hypermile run -- ./train"][1], r"(?s)epoch 1: 40 iterations.*from ticks")
        self.assertIn("true best", said["hypermile demo"][1])
        program = next(line for line in said if line.startswith("import hypermile"))
        self.assertRegex(said[program][1], r"iteration")

    def test_each_kind_of_user_is_told_what_to_type(self):
        lines = [line for _, block in blocks() for line in block]
        for start in ("hypermile run -- python train.py", "hypermile run --observe -- python train.py",
                      "hypermile attach --pid 4242", "import hypermile", "hypermile sweep", "hypermile evaluate",
                      "hypermile learn", "hypermile plan",
                      "systemctl enable --now hypermiled", "make demo"):
            self.assertTrue(any(line.startswith(start) for line in lines), start)


if __name__ == "__main__":
    unittest.main()

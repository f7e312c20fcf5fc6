# SPDX-License-Identifier: Apache-2.0
"""Every line that the README and the guide tell people to type is typed: against an installation in a folder of its own, on
GPUs of the NVML stand-in, with `python train.py` a job there. Blocks run side by side, each on a machine of its own; lines of a
block follow one another. The demo's output in the README is what the program prints.

Typed are blocks marked `sh`, blocks of `make TARGET` lines, and `python` blocks that begin with `import hypermile`; blocks marked
`bash` are only shown. What stands for something that only the reader has: process 4242 is a job that runs, sweep.csv a sweep
with counters, systemctl what starts the unit's program. `make …` lines must be targets; the checks before a change run them.

    test_readme.py --update    puts what the demo prints now into the README (build/bin/hypermile, or $HYPERMILE)"""

import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ.setdefault("SOURCE_FOLDER", os.path.abspath(os.path.join(os.path.dirname(__file__), "../..")))
BUILD = os.environ.setdefault("BUILD_FOLDER", os.path.join(SOURCE, "build"))
for program in ("hypermile", "hypermiled"):
    os.environ.setdefault(program.upper(), os.path.join(BUILD, "bin", program))
sys.path.insert(0, os.path.join(SOURCE, "tests/run"))

from world import World, wait_for  # noqa: E402  (it reads the environment set above)

README = os.path.join(SOURCE, "README.md")
PAGES = [README, *sorted(glob.glob(os.path.join(SOURCE, "docs/guide/*.md")))]
DEMO = re.compile(r"(<!-- demo:begin[^\n]*-->\n```text\n)(.*?)(```\n<!-- demo:end -->)", re.S)
ONE_SCREEN = 70  # lines of the README

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


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def code_blocks(text):
    """All code blocks of a page: (language, lines)."""
    language, lines = None, []
    for line in text.splitlines():
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, lines = line[3:], []
        else:
            yield language, lines
            language = None


def blocks():
    """The code blocks that are typed: their lines, a Python program being one."""
    for page in PAGES:
        for language, lines in code_blocks(read(page)):
            if language == "python" and lines[0] == "import hypermile":
                yield ["\n".join(lines) + "\n"]
            lines = [line.split(" # ")[0].strip() for line in lines]
            if language == "sh" or (not language and all(re.match(r"make \w+$", line) for line in lines)):
                yield [line for line in lines if line]


def demo_output():
    """What `make demo` prints after building. Where no page was built (npm is missing) no report is made or named."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "build"))
        done = subprocess.run([os.path.abspath(os.environ["HYPERMILE"]), "demo", "--report", "build/demo.html"], cwd=folder,
                              env={**os.environ, "XDG_CONFIG_HOME": folder}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True, check=True, timeout=120)
        reported = os.path.exists(os.path.join(folder, "build/demo.html"))
    return done.stdout + ("" if reported else "Report, with plots and every decision: build/demo.html\n")


def update():
    printed = demo_output()
    text = DEMO.sub(lambda found: found[1] + printed + found[3], read(README))
    with open(README, "w", encoding="utf-8") as file:
        file.write(text)


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
            "PYTHON_FOLDERS": f"{SOURCE}/python:{SOURCE}/python/examples",
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
        cls.targets = set(re.findall(r"^(\w+):.*##", read(os.path.join(SOURCE, "Makefile")), re.M))

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
        found = []
        for block in blocks():  # what only repeats another block is typed once
            if not any(set(block) <= set(earlier) for earlier in found):
                found.append(block)
        said = {}
        with concurrent.futures.ThreadPoolExecutor(len(found)) as pool:
            for result in pool.map(self.run_block, found):
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
        lines = [line for block in blocks() for line in block]
        for start in ("hypermile run -- python train.py", "hypermile run --observe -- python train.py",
                      "hypermile attach --pid 4242", "import hypermile", "hypermile sweep", "hypermile evaluate",
                      "hypermile learn", "hypermile plan",
                      "systemctl enable --now hypermiled", "make demo"):
            self.assertTrue(any(line.startswith(start) for line in lines), start)


class ReadmeTextTest(unittest.TestCase):
    maxDiff = None

    def test_the_demos_output_is_what_the_program_prints(self):
        pasted = DEMO.search(read(README))
        self.assertIsNotNone(pasted, "the README has no block between demo:begin and demo:end")
        self.assertEqual(pasted[2], demo_output(), "run: python3 tests/readme/test_readme.py --update")

    def test_it_is_one_screen(self):
        self.assertLessEqual(len(read(README).splitlines()), ONE_SCREEN)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()

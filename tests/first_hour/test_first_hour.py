# SPDX-License-Identifier: Apache-2.0
"""A person's first hour as a script, in a home folder that holds nothing: install (the wheel where one was built, else the
program that was built), demo, doctor, a run on the NVML stand-in, its report in a browser, history and statement. What each
step prints leads to the next one, and all tell the same figures."""

import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = os.environ["SOURCE_FOLDER"], os.environ["BUILD_FOLDER"]
STAND_IN = os.environ["STAND_IN"]
SKIPPED = 77  # exit code of tests/web/run without Chromium or npm


def installed(home):
    """The path of the program: from a wheel if there is one."""
    wheels = sorted(glob.glob(os.path.join(BUILD, "wheel", "*.whl")))
    if not wheels:
        return os.environ["HYPERMILE"]
    subprocess.run([sys.executable, "-m", "venv", os.path.join(home, "venv")], check=True)
    tools = os.path.join(home, "venv", "bin")
    subprocess.run([os.path.join(tools, "pip"), "install", "-q", "--no-index", "--no-deps", wheels[-1]], check=True)
    return os.path.join(tools, "hypermile")


class FirstHour(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hypermile-first-hour-")
        cls.addClassCleanup(folder.cleanup)
        cls.home = folder.name
        kept = ("PATH", "LANG", "LD_LIBRARY_PATH", "CI")
        cls.environment = {name: os.environ[name] for name in kept if name in os.environ}
        cls.environment.update({
            "HOME": cls.home, "USER": "newcomer", "TERM": "dumb", "COLUMNS": "80", "HYPERMILE_NVML": STAND_IN,
            "HYPERMILE_SIM_GPUS": "rtx3080ti", "HYPERMILE_SIM_SPEED": "1", "HYPERMILE_SIM_STATE": cls.path("machine"),
            "HYPERMILE_STATE": cls.path("journal"), "HYPERMILE_SOCKET": cls.path("socket"),
            "HYPERMILE_CACHE": "no",  # each run is to search for itself
        })
        cls.program = installed(cls.home)
        cls.environment["PATH"] = os.path.dirname(cls.program) + ":" + cls.environment["PATH"]

    @classmethod
    def path(cls, name):
        return os.path.join(cls.home, name)

    def hypermile(self, *words):
        done = subprocess.run([self.program, *words], cwd=self.home, env=self.environment, capture_output=True, text=True,
                              timeout=200)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
        return done

    def browse(self, *reports):
        """Opens pages at 1280 and 400 pixels, light and dark; tests/first_hour/look.mjs says what must hold."""
        environment = {**os.environ, "HOME": os.environ.get("HOME", self.home), "NEEDS": "chromium"}
        done = subprocess.run([os.path.join(SOURCE, "tests", "web", "run"), "node",
                               os.path.join(SOURCE, "tests", "first_hour", "look.mjs"), *reports],
                              env=environment, capture_output=True, text=True, timeout=200)
        if done.returncode == SKIPPED:
            print(done.stderr, file=sys.stderr)
            return
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_first_hour(self):
        demo = self.hypermile("demo", "--report", "demo.html").stdout
        self.assertIn("energy saved", demo)
        self.assertIn("Next: 'hypermile doctor'", demo)
        self.assertLessEqual(max(map(len, demo.splitlines())), 80, demo)

        doctor = self.hypermile("doctor", "--watch", "0.2s").stdout
        self.assertIn("3080 Ti", doctor)
        self.assertTrue(doctor.splitlines()[-1].startswith("clocks can be changed by you: "), doctor)

        # Root may change the stand-in's clocks, others only watch.
        how = ("--policy", "fixed:sm=1500") if os.geteuid() == 0 else ("--observe",)
        job = ["hypermile", "simulate", "--realtime", "--json", "--seconds", "14s", "--workload", "dcgan"]
        run = self.hypermile("run", *how, "--price", "0.30EUR/kWh", "--carbon", "FR", "--log", "run.jsonl", "--summary",
                             "run.json", "--report", "run.html", "--", *job)
        self.assertIn("kWh of the GPUs", run.stderr)
        self.assertIn("EUR", run.stderr)
        self.assertIn("g CO₂e", run.stderr)
        with open(self.path("run.json"), encoding="utf-8") as file:
            told = json.load(file)["job"]
        self.assertAlmostEqual(told["kwh"] * 0.3, told["cost"])
        self.assertAlmostEqual(told["kwh"] * 56, told["co2e_g"])
        self.assertIn("France in 2023", told["carbon_source"])

        self.browse(self.path("demo.html"), self.path("run.html"))

        runs = json.loads(self.hypermile("history", "--json").stdout)["runs"]
        self.assertEqual(len(runs), 1)
        self.assertEqual(runs[0]["figures"]["kwh"], told["kwh"])
        self.assertTrue(runs[0]["simulated"], "the stand-in is no GPU")
        self.assertIn("simulate --realtime", self.hypermile("history", "1").stdout)
        self.assertEqual(self.hypermile("history", "--csv").stdout.count("\n"), 2)
        compared = self.hypermile("compare", "1", "run.jsonl").stdout
        self.assertIn("+0.0 %", compared)
        self.assertIn("cost, EUR", compared)
        self.assertLessEqual(max(map(len, compared.splitlines())), 80, compared)
        self.assertNotIn("note:", compared)

        stated = json.loads(self.hypermile("statement", "run.jsonl", "--json").stdout)
        self.assertAlmostEqual(stated["energy_kwh"], told["kwh"])
        self.assertEqual(stated["share_estimated"], 0)
        self.assertEqual(stated["runs_simulated"], 1)
        twice = json.loads(self.hypermile("statement", "run.jsonl", "run.jsonl", "--json").stdout)
        self.assertAlmostEqual(twice["energy_kwh"], told["kwh"])
        self.assertIn("this is no measurement", self.hypermile("statement", "run.jsonl").stdout)

    def test_a_run_that_is_not_to_be_remembered_is_not(self):
        history = self.path("other.jsonl")
        job = ["hypermile", "simulate", "--realtime", "--json", "--seconds", "1s"]
        self.hypermile("run", "--observe", "--quiet", "--history", "no", "--", *job)
        self.hypermile("run", "--observe", "--quiet", "--history", history, "--", *job)
        self.assertEqual(len(json.loads(self.hypermile("history", "--history", history, "--json").stdout)["runs"]), 1)


if __name__ == "__main__":
    unittest.main()

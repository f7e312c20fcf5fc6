# SPDX-License-Identifier: Apache-2.0
"""`hypermile sweep` with a job on the NVML stand-in, in real time: measurements are kept whatever dies, the GPU is restored,
and the same command continues an interrupted sweep."""

import csv
import json
import os
import signal
import unittest

import parallel
from world import HYPERMILE, World, finish, wait_for

FAKE_COUNTERS = os.environ.get("FAKE_COUNTERS", "")
needs_root = unittest.skipUnless(os.geteuid() == 0, "only root can be a guardian")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@needs_root
class SweepTest(unittest.TestCase):
    def setUp(self):
        self.world = self.enterContext(World("h200"))
        self.out = self.world.path("F.csv")

    def sweep(self, seconds, *more):
        return self.world.start([HYPERMILE, "sweep", "--out", self.out, "--grid", "sm=3", "--warm-up", "1s", "--settle",
                                 "0s", "--window", "1s", "--name", "dcgan", "--log", self.world.path("log.jsonl"), *more,
                                 "--", *self.world.job(seconds)])

    def rows(self):
        with open(self.out, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def entries(self):
        lines = self.world.read("F.csv.journal").splitlines()
        return [json.loads(line) for line in lines[1:]]

    def events(self, kind):
        lines = self.world.read("log.jsonl").splitlines()
        return [event for event in map(json.loads, lines) if event["type"] == kind]

    def test_measures_the_grid_ends_the_job_and_gives_the_gpu_back(self):
        run = self.sweep(200, "--end-job")
        code, out, err = finish(run)
        self.assertEqual(code, 0, err)
        self.assertFalse(self.world.changed())
        rows = self.rows()
        self.assertEqual([row["is_default"] for row in rows], ["1", "0", "0", "0"])
        for row in rows:
            self.assertGreater(float(row["time_s"]), 0)
            self.assertGreater(float(row["time_error"]), 0)
        # The lower the clock, the more time and the less power.
        times = [float(row["time_s"]) for row in rows]
        powers = [float(row["power_w"]) for row in rows]
        self.assertLess(times[0], times[-1])
        self.assertGreater(powers[0], powers[-1])
        # Features are collected once, from activity counters.
        self.assertEqual(len(self.events("features")), 1)
        self.assertGreater(float(rows[0]["sm_active"]), 0.1)
        self.assertEqual(rows[1]["sm_active"], "")
        self.assertIn("left", err)
        self.assertEqual(self.world.call("evaluate", self.out, "--policy", "oracle").returncode, 0)

    def test_goes_on_after_a_kill_and_loses_nothing(self):
        run = self.sweep(200)
        wait_for("two Windows", lambda: len(self.entries()) >= 2)
        job = self.world.job_pid()
        run.send_signal(signal.SIGKILL)
        run.wait()
        self.world.wait_until_restored()
        before = self.entries()
        # The job outlives its sweep and still uses the GPU.
        os.kill(job, signal.SIGTERM)
        wait_for("the job is gone", lambda: not alive(job))
        code, _, err = finish(self.sweep(200, "--end-job"))
        self.assertEqual(code, 0, err)
        self.assertIn("going on with", err)
        self.assertEqual(self.entries()[:len(before)], before)
        self.assertEqual(len(self.rows()), 4)
        self.assertFalse(self.world.changed())

    def test_a_job_that_ends_too_early_is_reported_and_its_measurements_are_written(self):
        code, _, err = finish(self.sweep(14))
        self.assertEqual(code, 1, err)
        self.assertIn("the same command goes on from there", err)
        self.assertFalse(self.world.changed())

    def test_sweeps_a_job_that_already_runs_and_leaves_it_running(self):
        job = self.world.start([HYPERMILE, "run", "--observe", "--log", self.world.path("observed.jsonl"), "--",
                                *self.world.job(300)])
        wait_for("the job is seen", lambda: '"process"' in self.world.read("observed.jsonl"))
        run = self.world.start([HYPERMILE, "sweep", "--out", self.out, "--pid", str(job.pid), "--grid", "sm=3", "--warm-up",
                                "1s", "--settle", "0s", "--window", "1s", "--log", self.world.path("log.jsonl")])
        code, _, err = finish(run)
        self.assertEqual(code, 0, err)
        [end] = self.events("run_end")
        self.assertEqual(end["reason"], "the sweep is complete")
        self.assertGreater(end["totals"]["seconds"], 0)
        rows = self.rows()
        self.assertEqual([row["is_default"] for row in rows], ["1", "0", "0", "0"])
        self.assertEqual({row["workload"] for row in rows}, {f"pid {job.pid}"})
        self.assertLess(float(rows[0]["time_s"]), float(rows[-1]["time_s"]))
        self.assertFalse(self.world.changed())
        self.assertIsNone(job.poll(), "the job was harmed")
        job.terminate()
        finish(job)

    def test_reports_a_running_job_that_cannot_be_timed(self):
        job = self.world.start(self.world.job(30))
        code, _, err = finish(self.world.start([HYPERMILE, "sweep", "--out", self.out, "--pid", str(job.pid)]))
        self.assertEqual(code, 1)
        self.assertIn("carries neither hypermile's library nor ticks", err)
        self.assertFalse(os.path.exists(self.out))
        self.assertIsNone(job.poll(), "the job was harmed")


@needs_root
class CountersTest(unittest.TestCase):
    """Performance counters on a card without activity counters, through a fake CUPTI."""

    def setUp(self):
        self.world = self.enterContext(World("rtx3080ti"))
        self.world.environment["HYPERMILE_CUPTI"] = FAKE_COUNTERS
        self.world.environment["LD_LIBRARY_PATH"] = os.path.dirname(FAKE_COUNTERS)

    def sweep(self, *more, **faults):
        self.world.environment.update(faults)
        run = self.world.start([HYPERMILE, "sweep", "--out", self.world.path("F.csv"), "--grid", "sm=2", "--warm-up", "1s",
                                "--settle", "0s", "--window", "3s", "--end-job", *more, "--", *self.world.job(200)])
        code, _, err = finish(run)
        self.assertEqual(code, 0, err)
        self.assertFalse(self.world.changed())
        with open(self.world.path("F.csv"), encoding="utf-8", newline="") as file:
            return next(csv.DictReader(file)), err

    def test_fill_the_features_that_nvml_lacks(self):
        row, err = self.sweep("--counters")
        self.assertGreater(float(row["l2_active"]), 0, err)
        self.assertGreater(float(row["sm_active"]), 0, err)

    def test_are_not_read_unless_asked_for(self):
        row, _ = self.sweep()
        self.assertEqual(row.get("sm_active", ""), "")

    def test_that_may_not_be_read_leave_only_their_features_out(self):
        row, err = self.sweep("--counters", FAKE_COUNTERS_FAIL="cuptiPmSamplingEnable=35")
        self.assertEqual(row.get("sm_active", ""), "")
        self.assertIn("this user may not read performance counters", err)
        self.assertIn("NVreg_RestrictProfilingToAdminUsers=0", err)
        self.assertGreater(float(row["gpu_util"]), 0)

    def test_whose_library_crashes_harm_nobody(self):
        row, err = self.sweep("--counters", FAKE_COUNTERS_DO="cuptiPmSamplingStart=crash")
        self.assertEqual(row.get("sm_active", ""), "")
        self.assertIn("what only counters tell is missing", err)

    def test_whose_library_hangs_harm_nobody(self):
        row, err = self.sweep("--counters", FAKE_COUNTERS_DO="cuptiPmSamplingEnable=hang")
        self.assertEqual(row.get("sm_active", ""), "")
        self.assertIn("performance counters have not answered in time", err)

    def test_can_be_read_by_hand(self):
        done = self.world.call("counters", "--json", "--seconds", "3s")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["chip"], "GA102")
        self.assertGreater(document["samples"], 20)
        self.assertAlmostEqual(document["features"]["pcie_gb_s"], 4)
        lines = self.world.call("counters", "--json", "--seconds", "2s", "--interval", "0.5s").stdout.splitlines()
        self.assertGreater(len(lines), 2)
        self.assertIn("l2_active", self.world.call("counters", "--seconds", "3s").stdout)

    def test_by_hand_report_a_failure_in_one_line(self):
        self.world.environment["FAKE_COUNTERS_CHIP"] = "GV100"
        done = self.world.call("counters")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("begins with Turing", done.stderr)
        self.assertEqual(self.world.call("counters", "--from", "tea").returncode, 2)
        self.world.environment["HYPERMILE_CUPTI"] = self.world.path("libnone.so")
        self.world.environment["LD_LIBRARY_PATH"] = self.world.folder
        done = self.world.call("counters")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    parallel.main()

# SPDX-License-Identifier: Apache-2.0
"""hypermile sweep beside a job on the NVML stand-in, in real time: what is measured is kept whatever dies, the GPU goes
back, and the same command goes on."""

import csv
import json
import os
import signal
import unittest

import parallel
from world import HYPERMILE, World, finish, wait_for

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
        # Slower and cheaper, the lower the clock.
        times = [float(row["time_s"]) for row in rows]
        powers = [float(row["power_w"]) for row in rows]
        self.assertLess(times[0], times[-1])
        self.assertGreater(powers[0], powers[-1])
        # Collected once, from activity counters.
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
        # The job outlives its sweep and still has the GPU.
        os.kill(job, signal.SIGTERM)
        wait_for("the job is gone", lambda: not alive(job))
        code, _, err = finish(self.sweep(200, "--end-job"))
        self.assertEqual(code, 0, err)
        self.assertIn("going on with", err)
        self.assertEqual(self.entries()[:len(before)], before)
        self.assertEqual(len(self.rows()), 4)
        self.assertFalse(self.world.changed())

    def test_a_job_that_ends_too_early_is_told_and_what_was_measured_is_written(self):
        code, _, err = finish(self.sweep(14))
        self.assertEqual(code, 1, err)
        self.assertIn("the same command goes on from there", err)
        self.assertFalse(self.world.changed())


if __name__ == "__main__":
    parallel.main()

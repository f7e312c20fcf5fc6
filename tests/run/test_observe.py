# SPDX-License-Identifier: Apache-2.0
"""What `hypermile run --observe` finds, compared with what the jobs record about themselves."""

import json
import os
import tempfile
import unittest

import jsonschema
from jobs import Watched, training, training_environment
from stand_in import HYPERMILE, Machine


class ObserveTest(unittest.TestCase):
    def setUp(self):
        self.enterContext(Machine("h200,rtx3080ti", speed=1))

    def test_a_simulated_job_has_its_iterations_time_and_energy_measured(self):
        run = Watched([HYPERMILE, "simulate", "--realtime", "--seconds", "12s", "--workload", "dcgan", "--gpu", "1",
                       "--json"])
        truth = json.loads(run.out)
        self.assertEqual(run.code, 0)
        self.assertEqual(run.summary["gpus"][0]["uuid"], truth["gpu"], "the GPU that the job uses, not the first")
        phase = run.phase()
        self.assertAlmostEqual(phase["iterations"], truth["iterations"], delta=3)
        self.assertAlmostEqual(phase["time_per_iteration_s"] / truth["time_per_iteration_s"], 1, delta=0.02)
        self.assertAlmostEqual(phase["energy_per_iteration_j"] / truth["energy_per_iteration_j"], 1, delta=0.06)
        self.assertGreater(run.processes()[0]["coverage"], 0.95)
        self.assertAlmostEqual(phase["launches_per_iteration"], 178, delta=0.5, msg="as workloads/dcgan.toml says")

    def test_a_job_on_the_fake_driver_is_counted_exactly(self):
        run = Watched(training("kernel-time", 0.0001, "loop", 700, 40, 8000), environment=training_environment())
        self.assertAlmostEqual(run.phase()["iterations"], 700, delta=2)
        self.assertAlmostEqual(run.phase()["launches_per_iteration"], 40, delta=0.1)
        self.assertEqual(run.processes()[0]["launches"], 28000)
        self.assertEqual(run.processes()[0]["launches_lost"], 0)
        self.assertGreater(run.processes()[0]["gpu_times"], 30)
        # The clock of the fake GPU runs only while it works: 40 kernels of 0.1 ms.
        self.assertAlmostEqual(run.phase()["time_per_iteration_s"], 0.004, delta=1e-6)

    def test_a_replayed_stream_shows_its_phases(self):
        rows, now = ["t_s,kernel"], 0.0
        rounds = [("train", range(80), 0.020), ("eval", range(100, 130), 0.008)] * 2
        counts = {"train": 0, "eval": 0}
        for name, kernels, period in rounds:
            for _ in range(round((3 if name == "train" else 2) / period)):
                rows += [f"{now + 0.8 * period * i / len(kernels):.6f},{kernel}" for i, kernel in enumerate(kernels)]
                now += period
                counts[name] += 1
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write("\n".join(rows) + "\n")
            file.flush()
            run = Watched(training("kernel-time", 0.00025, "replay", file.name, 1), environment=training_environment())
        phases = run.processes()[0]["phases"]
        self.assertEqual(len(phases), 2)
        for phase, name in zip(phases, ("train", "eval")):
            self.assertAlmostEqual(phase["iterations"], counts[name], delta=0.08 * counts[name] + 4, msg=name)
        self.assertAlmostEqual(phases[0]["time_per_iteration_s"], 80 * 0.00025, delta=1e-6)
        self.assertAlmostEqual(phases[1]["time_per_iteration_s"], 30 * 0.00025, delta=1e-6)
        self.assertTrue(any(e.get("known_phase") for e in run.log if e["type"] == "progress"))

    def test_two_processes_are_distinguished(self):
        one = " ".join(training("loop", 500, 30, 8000))
        other = " ".join(training("loop", 250, 30, 16000))
        run = Watched(["bash", "-c", f"{one} & {other} & wait"], environment=training_environment())
        counts = sorted(process["phases"][0]["iterations"] for process in run.processes())
        self.assertEqual(len(counts), 2)
        self.assertAlmostEqual(counts[0], 250, delta=2)
        self.assertAlmostEqual(counts[1], 500, delta=2)

    def test_ticks_are_heard_without_cuda(self):
        words = []
        for _ in range(120):
            words += ["tick", "1", "train", "sleep", "0.02"]
        run = Watched([os.environ["FAKE_TRAINING"], *words], environment=training_environment())
        self.assertEqual(run.processes()[0]["source"], "ticks")
        self.assertEqual(run.phase()["name"], "train")
        self.assertEqual(run.phase()["iterations"], 120)
        self.assertAlmostEqual(run.phase()["time_per_iteration_s"], 0.0203, delta=0.001)

    def test_a_profiler_that_starts_takes_over_and_that_is_reported(self):
        run = Watched(training("loop", 200, 30, 8000, "profiler-loaded", "loop", 100, 30, 8000),
                      environment=training_environment())
        self.assertIn("profiler 0 saw 2", run.out)
        self.assertTrue(any("a profiler started and took over" in note for note in run.summary["notes"]), run.err)
        self.assertAlmostEqual(run.phase()["iterations"], 200, delta=3)

    def test_the_log_is_as_documented(self):
        # The GPU takes as long for an iteration as the host: 30 kernels in 8.1 ms.
        run = Watched(training("kernel-time", 0.00027, "loop", 600, 30, 8000), environment=training_environment())
        with open(os.environ["EVENT_LOG_SCHEMA"], encoding="utf-8") as file:
            validator = jsonschema.Draft202012Validator(json.load(file))
        for event in run.log:
            validator.validate(event)
        types = [event["type"] for event in run.log]
        self.assertEqual((types[0], types[-1]), ("run_start", "run_end"))
        self.assertLessEqual({"gpu", "process", "progress", "sample", "window"}, set(types))

    def test_json_comes_after_the_jobs_own_output(self):
        run = Watched(["echo", "mine"], ["--json"])
        lines = run.out.splitlines()
        self.assertEqual(lines[0], "mine")
        self.assertEqual(json.loads(lines[1]), run.summary)
        self.assertEqual(run.err, "")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The job under `hypermile run --observe` behaves as without it, whatever is missing or goes wrong."""

import os
import signal
import subprocess
import time
import unittest

from jobs import FAKE_TRAINING, Watched, training, training_environment
from stand_in import HYPERMILE, Machine


class TransparentTest(unittest.TestCase):
    def setUp(self):
        self.enterContext(Machine("h200", speed=1))

    def start(self, script, **more):
        return subprocess.Popen([HYPERMILE, "run", "--observe", "--quiet", "--", "bash", "-c", script],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def test_exit_codes_are_the_jobs(self):
        for code in (0, 1, 2, 77, 255):
            self.assertEqual(Watched(["bash", "-c", f"exit {code}"]).code, code)
        self.assertEqual(Watched(["no-such-command"]).code, 127)
        self.assertEqual(Watched(["/etc/passwd"]).code, 126)
        self.assertEqual(Watched(["bash", "-c", "kill -SEGV $$"]).code, -signal.SIGSEGV)
        self.assertEqual(Watched(["bash", "-c", "kill -INT $$"]).summary["signal"], signal.SIGINT)

    def test_input_and_output_are_the_jobs(self):
        run = Watched(["cat", "-"], ["--quiet"], input="a\nb\n")
        self.assertEqual((run.out, run.err), ("a\nb\n", ""))

    def test_signals_reach_the_job_and_its_answer_counts(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            job = self.start(f"trap 'echo got; exit 9' {int(number)}; echo ready; while :; do sleep 0.01; done")
            self.assertEqual(job.stdout.readline(), "ready\n")
            job.send_signal(number)
            self.assertEqual(job.communicate(timeout=20)[0], "got\n")
            self.assertEqual(job.returncode, 9)

    def test_the_job_survives_us(self):
        job = self.start("echo ready; read x; echo alive $x")
        self.assertEqual(job.stdout.readline(), "ready\n")
        job.kill()
        self.assertEqual(job.communicate("and well\n", timeout=20)[0], "alive and well\n")

    def test_no_descriptor_of_ours_is_inherited(self):
        script = "import os; print(sorted(int(f) for f in os.listdir('/proc/self/fd')))"
        alone = subprocess.run(["python3", "-c", script], capture_output=True, text=True).stdout
        self.assertEqual(Watched(["python3", "-c", script], ["--quiet"]).out, alone)

    def test_without_a_driver_one_line_says_so(self):
        environment = training_environment(HYPERMILE_NVML="/nowhere/libnvidia-ml.so.1")
        run = Watched(training("kernel-time", 0.0002, "loop", 400, 30, 8000), environment=environment)
        self.assertEqual(run.code, 0)
        self.assertEqual(sum("cannot load NVIDIA's management library" in line for line in run.err.splitlines()), 1)
        self.assertAlmostEqual(run.phase()["iterations"], 400, delta=2)
        self.assertAlmostEqual(run.phase()["time_per_iteration_s"], 30 * 0.0002, delta=1e-5)

    def test_a_gpu_that_hangs_delays_nothing(self):
        environment = training_environment(HYPERMILE_SIM_FAULTS="nvmlDeviceGetTotalEnergyConsumption:hang")
        begin = time.monotonic()
        run = Watched(training("loop", 400, 30, 8000), environment=environment)
        self.assertEqual(run.code, 0)
        self.assertLess(time.monotonic() - begin, 12)
        self.assertAlmostEqual(run.processes()[0]["launches"] + run.processes()[0]["launches_lost"], 12000, delta=1)

    def test_another_tools_injection_is_left_alone(self):
        environment = training_environment(CUDA_INJECTION64_PATH="/opt/tool.so")
        run = Watched(["bash", "-c", "echo $CUDA_INJECTION64_PATH"], environment=environment)
        self.assertEqual(run.out, "/opt/tool.so\n")
        self.assertIn("CUDA_INJECTION64_PATH is set to /opt/tool.so and is left alone", run.err)

    def test_a_log_that_cannot_be_written_is_refused_before_the_job_runs(self):
        done = subprocess.run([HYPERMILE, "run", "--observe", "--log", "/nowhere/log", "--", "echo", "ran"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("/nowhere/log: cannot open", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_under_sudo_the_job_is_the_users_and_is_seen(self):
        script = f"id -u; id -g; echo $USER; {FAKE_TRAINING} init loop 300 30 8000"
        environment = training_environment(SUDO_UID="65534", SUDO_GID="65534", SUDO_USER="nobody")
        run = Watched(["bash", "-c", script], environment=environment)
        self.assertEqual(run.out, "65534\n65534\nnobody\n")
        self.assertAlmostEqual(run.phase()["iterations"], 300, delta=2)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The job under `hypermile run --observe` behaves as without it, whatever is missing or goes wrong."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from jobs import FAKE_TRAINING, Watched, training, training_environment
from stand_in import HYPERMILE, Machine


ANSWERS = """
import os, signal, sys
def answer(*_):
    print("got", flush=True)
    os._exit(9)
signal.signal(int(sys.argv[1]), answer)
print("ready", flush=True)
while True:
    signal.pause()
"""


def others_may_run(program):
    """Whether every folder above the program lets other users through; the home of root does not."""
    path = pathlib.Path(program).resolve()
    return all(each.stat().st_mode & 0o001 for each in (path, *path.parents))


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
            # Python, because a shell in a loop of short programs may lose a signal on a busy machine.
            job = self.start(f"exec python3 -c '{ANSWERS}' {int(number)}")
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

    def test_a_report_that_cannot_be_written_is_refused_before_the_job_runs(self):
        for option in ("--report", "--summary"):
            done = subprocess.run([HYPERMILE, "run", "--observe", option, "/nowhere/file", "--", "echo", "ran"],
                                  capture_output=True, text=True, timeout=30)
            self.assertEqual((done.returncode, done.stdout), (1, ""), option)
            self.assertIn("/nowhere/file: cannot be written", done.stderr)

    def seconds_until_the_job_runs(self, **more):
        begin = time.time()
        done = subprocess.run([HYPERMILE, "run", "--", "date", "+%s.%N"], capture_output=True, text=True, timeout=60, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return float(done.stdout.splitlines()[0]) - begin, done.stderr

    def test_a_stopped_daemon_with_a_full_queue_delays_the_job_by_less_than_two_seconds(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as waiting:
            path = os.path.join(folder, "socket")
            daemon = waiting.enter_context(socket.socket(socket.AF_UNIX))
            daemon.bind(path)
            daemon.listen(0)
            with contextlib.suppress(BlockingIOError):
                while True:
                    client = waiting.enter_context(socket.socket(socket.AF_UNIX))
                    client.setblocking(False)
                    client.connect(path)
            waited, said = self.seconds_until_the_job_runs(env=training_environment(HYPERMILE_SOCKET=path))
        self.assertLess(waited, 2)
        self.assertIn("the daemon did not answer in time", said)

    @unittest.skipUnless(os.geteuid() == 0 and others_may_run(HYPERMILE), "needs root and a build that other users may run")
    def test_a_sudo_that_hangs_delays_the_job_by_less_than_two_seconds(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            sudo = os.path.join(folder, "sudo")
            with open(sudo, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nexec sleep 60\n")
            os.chmod(sudo, 0o755)
            environment = training_environment(PATH=f"{folder}:{os.environ['PATH']}", HYPERMILE_SOCKET="/nowhere/socket",
                                               HOME="/nonexistent")
            waited, said = self.seconds_until_the_job_runs(env=environment, user=65534, group=65534, extra_groups=[])
        self.assertLess(waited, 2)
        self.assertIn("sudo did not start a guardian in time", said)

    def test_a_log_into_a_pipe_that_nobody_reads_delays_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            done = subprocess.run([HYPERMILE, "run", "--observe", "--quiet", "--log", pipe, "--", "echo", "ran"],
                                  capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)

    @unittest.skipUnless(os.geteuid() == 0 and others_may_run(HYPERMILE), "needs root and a build that other users may run")
    def test_under_sudo_the_job_is_the_users_and_is_seen(self):
        script = f"id -u; id -g; echo $USER; {FAKE_TRAINING} init loop 300 30 8000"
        environment = training_environment(SUDO_UID="65534", SUDO_GID="65534", SUDO_USER="nobody")
        run = Watched(["bash", "-c", script], environment=environment)
        self.assertEqual(run.out, "65534\n65534\nnobody\n")
        self.assertAlmostEqual(run.phase()["iterations"], 300, delta=2)


if __name__ == "__main__":
    unittest.main()

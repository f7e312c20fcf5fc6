# SPDX-License-Identifier: Apache-2.0
"""hypermile's own commands on the stand-in, as separate programs, through HYPERMILE_NVML."""

import json
import os
import signal
import subprocess
import time
import unittest

from stand_in import HYPERMILE, Machine, hypermile, status


def realtime(*arguments):
    return json.loads(hypermile("simulate", "--realtime", "--json", *arguments).stdout)


def lock_clock(gpu, mhz):
    """Sets through NVML in a separate process, as any client would."""
    setter = (
        "import ctypes as c; n = c.CDLL('libnvidia-ml.so.1'); n.nvmlInit_v2(); d = c.c_void_p();"
        f"n.nvmlDeviceGetHandleByIndex_v2({gpu}, c.byref(d));"
        f"raise SystemExit(n.nvmlDeviceSetGpuLockedClocks(d, 210, {mhz}))"
    )
    subprocess.run(["python3", "-c", setter], check=True)


class CliTest(unittest.TestCase):
    def setUp(self):
        self.machine = self.enterContext(Machine("rtx3080ti,h200", speed=10))

    def test_status_has_the_agreed_keys(self):
        gpus = status()
        self.assertEqual(len(gpus), 2)
        self.assertEqual(
            set(gpus[0]),
            {"uuid", "name", "sm_lock_mhz", "mem_lock_mhz", "power_limit_w", "sm_mhz", "mem_mhz",
             "power_w"},
        )
        self.assertIsNone(gpus[0]["sm_lock_mhz"])
        self.assertGreater(gpus[0]["power_w"], 5)

    def test_doctor_finds_both_gpus_and_their_sensors(self):
        report = json.loads(hypermile("doctor", "--json").stdout)
        self.assertEqual(len(report["gpus"]), 2)
        self.assertNotIn("fail", {finding["verdict"] for finding in report["checks"]})
        text = hypermile("doctor", "--gpu", "0").stdout
        self.assertIn("3080 Ti", text)
        self.assertIn("power_instant", text)

    def test_monitor_watches_every_gpu_unless_one_is_named(self):
        report = json.loads(hypermile("monitor", "--seconds", "0.5s", "--interval", "250ms", "--json").stdout)
        self.assertEqual([gpu["gpu"] for gpu in report["gpus"]], [gpu["uuid"] for gpu in status()])
        self.assertAlmostEqual(
            report["energy_j"], sum(gpu["energy_j"] for gpu in report["gpus"]), delta=0.01 * report["energy_j"]
        )
        text = hypermile("monitor", "--seconds", "0.3s", "--interval", "300ms").stdout
        self.assertIn("GPU 1: NVIDIA H200", text)
        self.assertIn("2 GPUs together", text)

    def test_reset_without_rights_leaves_the_journals_of_root_alone(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to become somebody else")
        state = os.path.join(self.machine.folder, "state-of-root")
        os.makedirs(state, mode=0o700)
        os.chmod(self.machine.folder, 0o755)
        done = subprocess.run(
            ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", HYPERMILE, "reset", "--all"],
            capture_output=True,
            text=True,
            env={**os.environ, "HYPERMILE_STATE": state, "HYPERMILE_SOCKET": "/nonexistent/socket"},
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("without one only root resets GPUs; run it with sudo", done.stderr)
        self.assertNotIn("find out who created it", done.stderr)

    def test_monitor_sees_a_job_by_uuid(self):
        uuid = status()[1]["uuid"]
        job = subprocess.Popen(
            [HYPERMILE, "simulate", "--realtime", "--gpu", "1", "--seconds", "1h"],
            stdout=subprocess.DEVNULL,
        )
        try:
            time.sleep(0.3)
            report = json.loads(
                hypermile("monitor", "--gpu", uuid, "--seconds", "1s", "--json").stdout
            )
        finally:
            job.terminate()
            job.wait()
        self.assertEqual(report["gpu"], uuid)
        self.assertGreater(report["intervals"][-1]["gpu_utilization"], 0.5)
        self.assertGreater(report["energy_j"], 10 * 1 * 150, "ten simulated seconds under load")

    def test_ranks_of_a_job_go_as_fast_as_the_slowest(self):
        with Machine("rtx3080ti,rtx3080ti", speed=10):
            lock_clock(1, 900)
            job = json.loads(
                hypermile("simulate", "--realtime", "--ranks", "2", "--seconds", "10", "--json").stdout
            )
            alone = realtime("--seconds", "10", "--gpu", "0")
        times = [rank["time_per_iteration_s"] for rank in job["ranks"]]
        self.assertAlmostEqual(times[0] / times[1], 1, delta=0.05)
        self.assertGreater(times[0], 1.2 * alone["time_per_iteration_s"])
        self.assertLess(
            job["ranks"][0]["energy_per_iteration_j"] / times[0],
            0.95 * alone["energy_per_iteration_j"] / alone["time_per_iteration_s"],
            "a rank that waits draws less",
        )

    def test_a_job_ends_when_one_of_its_ranks_fails(self):
        with Machine("rtx3080ti,rtx3080ti", speed=10):
            job = subprocess.run(
                [HYPERMILE, "simulate", "--realtime", "--ranks", "3", "--seconds", "1h"],
                capture_output=True, text=True, timeout=30,
            )
        self.assertEqual(job.returncode, 1)
        self.assertIn("rank 2 of the job failed", job.stderr)

    def test_a_job_lasts_as_long_as_it_should_and_counts(self):
        job = realtime("--seconds", "5", "--workload", "resnet50", "--gpu", "0")
        self.assertAlmostEqual(job["seconds"], 5, delta=1)
        self.assertAlmostEqual(
            job["iterations"] * job["time_per_iteration_s"], job["seconds"], delta=0.01
        )
        self.assertGreater(job["energy_j"], 5 * 100)

    def test_a_lower_limit_makes_the_job_slower_and_the_reset_fast_again(self):
        fast = realtime("--seconds", "5")
        setter = (
            "import ctypes,os,signal; n=ctypes.CDLL('libnvidia-ml.so.1'); n.nvmlInit_v2();"
            "d=ctypes.c_void_p(); n.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(d));"
        )
        kill = "os.kill(os.getpid(), signal.SIGKILL)"
        killed = subprocess.run(
            ["python3", "-c", setter + "n.nvmlDeviceSetGpuLockedClocks(d, 210, 900);" + kill]
        )
        self.assertEqual(killed.returncode, -signal.SIGKILL)
        self.assertEqual(status()[0]["sm_lock_mhz"], 900)
        slow = realtime("--seconds", "5")
        subprocess.run(["python3", "-c", setter + "n.nvmlDeviceResetGpuLockedClocks(d)"], check=True)
        again = realtime("--seconds", "5")

        self.assertGreater(slow["time_per_iteration_s"], 1.2 * fast["time_per_iteration_s"])
        self.assertLess(again["time_per_iteration_s"], 1.1 * fast["time_per_iteration_s"])

    def test_an_interrupted_job_prints_what_it_did(self):
        job = subprocess.Popen(
            [HYPERMILE, "simulate", "--realtime", "--seconds", "1h", "--json"],
            stdout=subprocess.PIPE, text=True,
        )
        time.sleep(0.5)
        job.send_signal(signal.SIGINT)
        out, _ = job.communicate(timeout=10)
        self.assertEqual(job.returncode, 0)
        self.assertGreater(json.loads(out)["iterations"], 0)

    def test_a_stopped_job_leaves_the_gpu_idle_and_goes_on_later(self):
        with subprocess.Popen(
            [HYPERMILE, "simulate", "--realtime", "--seconds", "50", "--json"],
            stdout=subprocess.PIPE, text=True,
        ) as job:
            time.sleep(0.5)
            busy = status()[0]["power_w"]
            job.send_signal(signal.SIGSTOP)
            time.sleep(2.6)
            idle = status()[0]["power_w"]
            job.send_signal(signal.SIGCONT)
            out, _ = job.communicate(timeout=30)
        self.assertLess(idle, busy / 2)
        result = json.loads(out)
        self.assertEqual(job.returncode, 0)
        self.assertGreater(result["iterations"], 10)

    def test_wrong_usage_is_one_line_and_status_2(self):
        for arguments, hint in [
            (["--realtime", "--gpu", "7"], "7"),
            (["--realtime", "--workload", "resnet5"], "resnet50"),
            (["--realtime", "--json", "--ticks"], "--ticks"),
        ]:
            done = hypermile("simulate", *arguments, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(hint, done.stderr)

    def test_scripted_faults_reach_doctor(self):
        os.environ["HYPERMILE_SIM_FAULTS"] = "*#1:lost"
        self.addCleanup(os.environ.pop, "HYPERMILE_SIM_FAULTS")
        report = json.loads(hypermile("doctor", "--json").stdout)
        self.assertEqual(len(report["gpus"]), 1)
        self.assertIn("fail", {finding["verdict"] for finding in report["checks"]})


if __name__ == "__main__":
    unittest.main()

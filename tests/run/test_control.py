# SPDX-License-Identifier: Apache-2.0
"""`hypermile run` and `attach` with jobs on the NVML stand-in, in real time: whatever dies or goes wrong, the job is unharmed
and the GPU is restored. A policy that goes straight to one clock keeps the tests short; scripts/run-live runs the search
itself, on one, two and four GPUs."""

import json
import os
import shutil
import signal
import subprocess
import unittest

import parallel
from world import HYPERMILE, HYPERMILED, World, finish, wait_for

ALICE = 60001
FIXED = ("--policy", "fixed:sm=1500")


def as_user(uid):
    return {"user": uid, "group": uid, "extra_groups": []}


def may_be_run_by(uid):
    try:
        return subprocess.run([HYPERMILE, "--version"], capture_output=True, **as_user(uid)).returncode == 0
    except OSError:
        return False


needs_root = unittest.skipUnless(os.geteuid() == 0, "only root can play other users and be a guardian")
needs_others = unittest.skipUnless(os.geteuid() == 0 and may_be_run_by(ALICE),
                                   "other users cannot run the programs where they were built")


@needs_root
class GuardedTest(unittest.TestCase):
    """As root, with a guardian."""

    def setUp(self):
        self.world = self.enterContext(World())

    def test_moves_the_clock_gives_it_back_and_says_so(self):
        run = self.world.run(self.world.job(12), *FIXED)
        self.world.wait_until_changed()
        self.assertEqual(self.world.locks(), [1500])
        code, out, err = finish(run)
        self.assertEqual(code, 0)
        self.assertFalse(self.world.changed())
        control = self.world.summary()["control"]
        self.assertEqual((control["state"], control["restored"]), ("released", True))
        self.assertEqual(control["phases"][0]["kept"], {"sm_mhz": 1500.0})
        self.assertIn("given back", err)
        self.assertGreater(json.loads(out)["iterations"], 100)

    def test_the_exit_code_is_the_jobs(self):
        job = ["bash", "-c", " ".join(self.world.job(12)) + "; exit 7"]
        run = self.world.run(job, *FIXED)
        self.world.wait_until_changed()
        self.assertEqual(finish(run)[0], 7)
        self.assertFalse(self.world.changed())

    def test_ctrl_c_ends_both_and_restores(self):
        run = self.world.run(["bash", "-c", "trap 'kill $!; wait; exit 9' INT; " + " ".join(self.world.job(600)) + " & wait"], *FIXED)
        self.world.wait_until_changed()
        run.send_signal(signal.SIGINT)
        self.assertEqual(finish(run)[0], 9)
        self.assertFalse(self.world.changed())

    def test_run_killed_leaves_the_job_running_and_the_gpu_restored(self):
        run = self.world.run(self.world.job(12), *FIXED)
        self.world.wait_until_changed()
        run.kill()
        self.world.wait_until_restored()
        out, _ = run.communicate(timeout=60)  # the job holds the same pipes
        self.assertGreaterEqual(json.loads(out)["seconds"], 12)

    def test_a_killed_job_ends_the_run_with_its_signal_and_restores(self):
        run = self.world.run(self.world.job(600), *FIXED)
        self.world.wait_until_changed()
        os.kill(self.world.job_pid(), signal.SIGKILL)
        self.assertEqual(finish(run)[0], -signal.SIGKILL)
        self.assertFalse(self.world.changed())

    def test_a_killed_guardian_is_replaced(self):
        run = self.world.run(self.world.job(30), *FIXED)
        self.world.wait_until_changed()
        first = self.world.guardian_pid()
        os.kill(first, signal.SIGKILL)
        wait_for("another guardian", lambda: self.world.guardian_pid() not in (first, None))
        self.world.wait_until_changed()
        self.assertEqual(finish(run)[0], 0)
        self.assertFalse(self.world.changed())

    def test_a_stopped_job_gives_its_gpu_back_and_takes_it_again(self):
        run = self.world.run(self.world.job(600), *FIXED)
        self.world.wait_until_changed()
        os.killpg(run.pid, signal.SIGTSTP)
        self.world.wait_until_restored()  # after the lease was not renewed
        os.killpg(run.pid, signal.SIGCONT)
        self.world.wait_until_changed()
        run.terminate()
        self.assertEqual(finish(run)[0], 0)  # simulate exits with 0 on SIGTERM
        self.assertFalse(self.world.changed())

    def test_a_gpu_that_is_lost_does_not_harm_the_job(self):
        run = self.world.run(self.world.job(25), *FIXED)
        self.world.wait_until_changed()
        with open(self.world.path("state.faults"), "w", encoding="utf-8") as file:
            file.write("*#0:lost\n")
        wait_for("it is noticed", lambda: any(e["type"] == "state" and e["state"] in ("unsure", "refused")
                                              for e in self.world.log()))
        os.remove(self.world.path("state.faults"))
        code, out, _ = finish(run)
        self.assertEqual(code, 0)
        self.assertGreaterEqual(json.loads(out)["seconds"], 25)
        self.world.wait_until_restored()

    def test_read_only_observes_and_says_what_is_expected(self):
        environment = {**self.world.environment, "HYPERMILE_READ_ONLY": "1"}
        code, _, err = finish(self.world.run(self.world.job(12), env=environment))
        self.assertEqual(code, 0)
        self.assertIn("HYPERMILE_READ_ONLY is set: clocks may not be changed; observing", err)
        self.assertIn("not tried on this job", err)
        control = self.world.summary()["control"]
        self.assertEqual((control["state"], control["expected"]["measured"]), ("refused", False))
        self.assertNotIn("saved_j", control)


@needs_root
class AttachTest(unittest.TestCase):
    def setUp(self):
        self.world = self.enterContext(World())

    def attach(self, pid, *options):
        return self.world.start([HYPERMILE, "attach", "--pid", str(pid), *options])

    def test_controls_a_job_that_is_observed_and_leaves_it_running(self):
        observed = self.world.run(self.world.job(600), "--observe")
        self.world.job_pid()
        attached = self.attach(observed.pid, *FIXED)
        self.world.wait_until_changed()
        second = self.attach(observed.pid, *FIXED, "--log", self.world.path("second.jsonl"))
        wait_for("the second is refused", lambda: '"refused"' in self.world.read("second.jsonl"))
        attached.send_signal(signal.SIGINT)
        code, _, err = finish(attached)
        self.assertEqual(code, 0)
        self.assertIn("given back", err)
        self.assertIn("hypermile was interrupted", err)
        self.assertNotIn("the job has ended", err)
        second.send_signal(signal.SIGINT)
        code, _, err = finish(second)
        self.assertEqual(code, 0)
        self.assertIn("kept by a guardian (pid ", err)
        self.assertFalse(self.world.changed())
        self.assertIsNone(observed.poll(), "the job was harmed")
        observed.terminate()
        self.assertEqual(finish(observed)[0], 0)
        self.assertGreater(self.world.summary()["processes"][0]["coverage"], 0.9, "two readers disturbed each other")

    def test_a_job_without_our_library_is_watched_and_left_alone(self):
        job = self.world.start(self.world.job(6))
        code, _, err = finish(self.attach(job.pid, *FIXED))
        self.assertEqual(code, 0)
        self.assertIn("carries neither hypermile's library nor ticks", err)
        self.assertRegex(err, r"watched for .* s; GPU 0 used [1-9]")
        self.assertFalse(self.world.changed())
        self.assertEqual(finish(job)[0], 0)


@needs_others
class OrdinaryUserTest(unittest.TestCase):
    def setUp(self):
        self.world = self.enterContext(World())

    def test_finds_the_daemon_by_itself(self):
        self.world.daemon()
        run = self.world.run(self.world.job(12), *FIXED, **as_user(ALICE))
        self.world.wait_until_changed()
        self.assertIn("60001", self.world.call("leases").stdout)
        self.assertEqual(finish(run)[0], 0)
        self.assertFalse(self.world.changed())

    def test_without_a_rule_it_observes(self):
        self.world.daemon("")
        code, _, err = finish(self.world.run(self.world.job(12), *FIXED, **as_user(ALICE)))
        self.assertEqual(code, 0)
        self.assertIn("may not change", err)
        self.assertEqual(self.world.summary()["control"]["state"], "refused")
        self.assertGreater(self.world.summary()["processes"][0]["phases"][0]["iterations"], 100)

    def test_without_daemon_and_sudo_one_line_says_so_and_the_job_runs(self):
        environment = {**self.world.environment, "PATH": "/nowhere"}
        run = self.world.run(self.world.job(3), env=environment, **as_user(ALICE))
        code, out, err = finish(run)
        self.assertEqual(code, 0)
        self.assertGreaterEqual(json.loads(out)["seconds"], 3)
        self.assertEqual(sum("; observing" in line for line in err.splitlines()), 1, err)

    def test_a_daemon_that_is_restarted_is_found_again(self):
        daemon = self.world.daemon()
        run = self.world.run(self.world.job(600), *FIXED, **as_user(ALICE))
        self.world.wait_until_changed()
        daemon.terminate()
        self.assertEqual(finish(daemon)[0], 0)
        self.assertFalse(self.world.changed(), "a daemon that stops restores first")
        self.world.daemon()
        self.world.wait_until_changed()
        run.terminate()
        self.assertEqual(finish(run)[0], 0)
        self.assertFalse(self.world.changed())

    def test_a_killed_daemon_is_replaced_by_the_next(self):
        daemon = self.world.daemon()
        run = self.world.run(self.world.job(600), *FIXED, **as_user(ALICE))
        self.world.wait_until_changed()
        daemon.kill()
        finish(daemon)
        self.world.daemon()
        wait_for("the new daemon knows the run", lambda: "60001" in self.world.call("leases").stdout)
        run.terminate()
        self.assertEqual(finish(run)[0], 0)
        self.assertFalse(self.world.changed())

    def test_an_administrator_who_closes_the_machine_is_obeyed(self):
        self.world.daemon()
        run = self.world.run(self.world.job(30), *FIXED, **as_user(ALICE))
        self.world.wait_until_changed()
        self.assertEqual(self.world.call("reset", "--all").returncode, 0)
        self.assertFalse(self.world.changed())
        code, out, _ = finish(run)
        self.assertEqual(code, 0)
        self.assertGreaterEqual(json.loads(out)["seconds"], 30)
        self.assertFalse(self.world.changed())


def can_use_sudo():
    if os.geteuid() != 0 or not shutil.which("sudo") or not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "--mount", "mount", "--bind", "/etc/hostname", "/etc/hostname"],
                          capture_output=True).returncode == 0 and may_be_run_by(65534)


@unittest.skipUnless(can_use_sudo(), "needs root, sudo and mount namespaces")
class SudoTest(unittest.TestCase):
    """As the user nobody, with sudo rules that only the processes of this test see."""

    def setUp(self):
        self.world = self.enterContext(World())

    def as_nobody(self, rules, command):
        with open(self.world.path("sudoers"), "w", encoding="utf-8") as file:
            file.write(f'Defaults env_keep += "HYPERMILE_*"\nroot ALL=(ALL:ALL) ALL\n{rules}\n')
        os.chmod(self.world.path("sudoers"), 0o440)
        script = 'mount --bind "$0" /etc/sudoers && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"'
        return self.world.start(["unshare", "--mount", "sh", "-c", script, self.world.path("sudoers"), *command])

    def hypermile_run(self, *job):
        return [HYPERMILE, "run", *FIXED, "--", *job]

    def test_the_guardian_is_started_through_sudo_and_the_rest_stays_the_users(self):
        rules = f"nobody ALL=(root) NOPASSWD: {HYPERMILED} --guardian"
        run = self.as_nobody(rules, self.hypermile_run("bash", "-c", "id -u; " + " ".join(self.world.job(12))))
        self.world.wait_until_changed()
        with open(f"/proc/{self.world.guardian_pid()}/status", encoding="utf-8") as file:
            self.assertIn("Uid:\t0", file.read())
        code, out, err = finish(run)
        self.assertEqual(code, 0, err)
        self.assertEqual(out.splitlines()[0], "65534")
        self.assertFalse(self.world.changed())

    def test_a_user_who_may_not_become_root_observes(self):
        run = self.as_nobody("", self.hypermile_run(*self.world.job(3)))
        code, _, err = finish(run)
        self.assertEqual(code, 0)
        self.assertEqual(sum("; observing" in line for line in err.splitlines()), 1, err)
        self.assertFalse(self.world.changed())

    def test_under_sudo_the_job_is_the_users_and_is_controlled(self):
        rules = f"nobody ALL=(root) NOPASSWD: {HYPERMILE}"
        job = ["bash", "-c", "id -u; " + " ".join(self.world.job(12))]
        run = self.as_nobody(rules, ["sudo", "-n", *self.hypermile_run(*job)])
        self.world.wait_until_changed()
        code, out, err = finish(run)
        self.assertEqual(code, 0, err)
        self.assertEqual(out.splitlines()[0], "65534")
        self.assertFalse(self.world.changed())


if __name__ == "__main__":
    parallel.main()

# SPDX-License-Identifier: Apache-2.0
"""The page of a running job: `hypermile run --serve` and `--report` with jobs on the NVML stand-in, under the daemon, whose
leases and counts the page and the metrics show. The job runs whatever happens to the page."""

import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import unittest
import urllib.request

import parallel
from world import HYPERMILE, World, finish, wait_for

FIXED = ("--policy", "fixed:sm=1500")


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


@unittest.skipUnless(os.geteuid() == 0, "only root can be the daemon")
class RunPageTest(unittest.TestCase):
    def setUp(self):
        self.world = self.enterContext(World())

    def url_of(self, run):
        found = wait_for("it says where the page is", lambda: re.search(r"shown at (http://\S+)", run.stderr.readline()))
        return found.group(1)

    def test_shows_the_run_and_its_lease_and_leaves_a_report(self):
        self.world.daemon()
        run = self.world.run(self.world.job(14), *FIXED, "--serve", "127.0.0.1:0", "--report", self.world.path("r.html"))
        url = self.url_of(run)
        self.world.wait_until_changed()

        overview = wait_for("the lease is shown", lambda: (
            lambda seen: seen if seen["daemon"]["leases"] and seen["runs"] else None)(json.loads(get(url + "api/overview"))))
        metrics = wait_for("the write is counted", lambda: (
            lambda text: text if "hypermile_daemon_writes_total{result=\"applied\"} 1" in text else None)(get(url + "metrics")))

        self.assertEqual(overview["daemon"]["leases"][0]["program"], "hypermile run")
        self.assertEqual(overview["daemon"]["leases"][0]["gpus"][0]["setting"]["label"], "sm=1500MHz")
        self.assertFalse(overview["runs"][0]["ended"])
        self.assertRegex(metrics, r'hypermile_lease_active\{gpu="[^"]+"\} 1')
        self.assertIn("hypermile_daemon_leases_granted_total 1", metrics)
        self.assertRegex(metrics, r'hypermile_lease_requested_clock_hertz\{clock="sm",gpu="[^"]+"\} 1500000000')
        code, _, err = finish(run)
        self.assertEqual(code, 0, err)
        self.assertFalse(self.world.changed())
        if "this hypermile was built without its web page" in err:
            self.skipTest("no report without the web page, which could not be built here")
        self.assertIn("report: " + self.world.path("r.html"), err)
        self.assertIn('"policy":"fixed:sm=1500"', self.world.read("r.html"))

    def test_a_port_that_is_taken_costs_the_page_not_the_job(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            code, _, err = finish(self.world.run(self.world.job(1), "--observe", "--serve", address))

        self.assertEqual(code, 0, err)
        self.assertRegex(err, "cannot listen on .*another program has that port.*the job runs without its page")

    def test_no_page_for_others_without_a_token(self):
        code, _, err = finish(self.world.run(self.world.job(1), "--observe", "--serve", "0.0.0.0:0"))

        self.assertEqual(code, 2)
        self.assertIn("needs a token", err)



class EndTest(unittest.TestCase):
    """SIGTERM ends commands that hold nothing at once."""

    def test_a_report_whose_reader_does_not_read_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "run.jsonl")
            with open(log, "w", encoding="utf-8") as file:
                file.write(json.dumps({"v": 1, "t": 0, "type": "run_end", "exit_code": 0, "reason": "", "totals": {},
                                       "summary": ["a line that fills the pipe"] * 20000}) + "\n")
            report = subprocess.Popen([HYPERMILE, "report", log, "--text"], stdout=subprocess.PIPE)
            self.assertEqual(report.stdout.read(6), b"a line", "it writes, and soon the pipe is full")
            report.send_signal(signal.SIGTERM)
            self.assertEqual(report.wait(timeout=5), -signal.SIGTERM)
            report.stdout.close()

    def test_a_log_that_is_a_pipe_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "run.jsonl")
            os.mkfifo(pipe)
            done = subprocess.run([HYPERMILE, "report", pipe], capture_output=True, text=True, timeout=10)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is no regular file", done.stderr)


if __name__ == "__main__":
    parallel.main()

# SPDX-License-Identifier: Apache-2.0
"""What people see of `hypermile run` on a terminal and without one, with a job that writes to the same terminal. The terminal
is a pty; a small emulation of the sequences in use computes its picture."""

import json
import os
import pty
import re
import select
import subprocess
import time
import unittest

import parallel
from world import HYPERMILE, World, finish

TITLE = re.compile(r"\x1b\]2;([^\x07]*)\x07")
COLOUR = re.compile(r"\x1b\[3\dm")
FIXED = ("--policy", "fixed:sm=1500")
SECONDS = 12
COST = r"default: ([\d.]+) ± [\d.]+ ms and ([\d.]+) ± [\d.]+ J an iteration"


def on_a_terminal(world, command, term="xterm-256color", **more):
    """(exit status, everything that was written to the terminal)."""
    master, slave = pty.openpty()
    environment = {**world.environment, "TERM": term, **more}
    environment = {name: value for name, value in environment.items() if value is not None}
    # In a session of its own with the pty as its terminal, so that it runs in the foreground there.
    process = subprocess.Popen(["setsid", "--ctty", "--wait", *command], env=environment, stdin=slave, stdout=slave,
                               stderr=slave)
    world.started.append(process)
    os.close(slave)
    text = b""
    while True:
        select.select([master], [], [], 60)
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end of the pty is closed
            break
        if not part:
            break
        text += part
    os.close(master)
    return process.wait(timeout=60), text.decode()


def screen(text):
    """The lines that a terminal shows: titles and colours take no space, \\r and \\x1b[K have their usual effect."""
    text = COLOUR.sub("", TITLE.sub("", text)).replace("\x1b[0m", "")
    text = re.sub(r"\x1b\[2[23];2t", "", text)
    rows, column = [[]], 0
    for piece in re.findall(r"\x1b\[K|\r|\n|.", text):
        row = rows[-1]
        if piece == "\x1b[K":
            del row[column:]
        elif piece == "\r":
            column = 0
        elif piece == "\n":
            rows.append([])
        else:
            row[column:column + 1] = [piece]
            column += 1
    return ["".join(row) for row in rows]


# A job with everything that a status line could tear: whole lines, a redrawn bar, and half a line
# that stays for a while.
NOISY = ["bash", "-c", r"""
  hypermile=$1; shift
  "$hypermile" "$@" >/dev/null &
  for i in 1 2 3 4 5; do printf 'loss %d\n' $i; printf '\r%3d%%|####|' $((20 * i)) >&2; sleep 2.1; printf '\r\n' >&2; done
  printf 'Continue? '; sleep 2; printf 'yes\n'
  wait""", "noisy", HYPERMILE]


@unittest.skipUnless(os.geteuid() == 0, "only root can be a guardian")
class TerminalTest(unittest.TestCase):
    def setUp(self):
        self.world = self.enterContext(World())

    def command(self, *options, job=None, policy=FIXED):
        return [HYPERMILE, "run", "--summary", self.world.path("summary.json"), "--log", self.world.path("log.jsonl"),
                *policy, *options, "--", *(job or self.world.job(SECONDS))]

    def noisy(self, *options):
        return self.command(*options, job=NOISY + self.world.job(SECONDS)[1:])

    def test_the_jobs_own_output_is_whole_and_the_status_is_in_the_title(self):
        code, text = on_a_terminal(self.world, self.noisy())
        self.assertEqual(code, 0, text)
        rows = screen(text)
        for i in range(1, 6):
            self.assertIn(f"loss {i}", rows)
            self.assertTrue(any(row.startswith(f"{20 * i:3d}%|####|") for row in rows), text)
        self.assertTrue(any(row.startswith("Continue? ") for row in rows), text)
        self.assertNotIn("\x1b[K", text, "nothing is ever erased")
        titles = TITLE.findall(text)
        self.assertTrue(any(re.fullmatch(r"hypermile: hold at sm=1500MHz: [\d.]+ ms, \d+ W; whole job "
                                         r"(saved \d+ J|used \d+ J more) \([\d.]+ %\), [\d.]+ % (slower|faster) "
                                         r"of 5 % allowed", title) for title in titles), titles)
        self.assertLess(text.index("\x1b[22;2t"), text.index("\x1b]2;"), "the title is kept before it is changed")
        self.assertGreater(text.rindex("\x1b[23;2t"), text.rindex("\x1b]2;"), "and given back")

    def test_the_summary_tells_what_the_log_holds(self):
        code, text = on_a_terminal(self.world, self.command(job=self.world.job(26), policy=()), NO_COLOR="1")
        self.assertEqual(code, 0, text)
        self.assertIsNone(COLOUR.search(text), "NO_COLOR")
        rows = "\n".join(screen(text))
        costs = costs_of(self.world.log())
        default = costs.pop("{}")
        told = re.search(COST, rows)
        self.assertIsNotNone(told, rows)
        self.assertAlmostEqual(float(told[1]), 1e3 * default.seconds / default.iterations, delta=0.006)
        self.assertAlmostEqual(float(told[2]), default.joules / default.iterations, delta=0.006)
        self.assertGreater(len(costs), 0, "something was tried")
        # Every iteration at another setting, in a window or between two, against one at the default.
        saved = sum(c.ran * (default.joules / default.iterations - c.joules / c.iterations) for c in costs.values() if c.iterations)
        lost = sum(c.ran * (c.seconds / c.timed - default.seconds / default.iterations) for c in costs.values())
        job = self.world.summary()["job"]
        self.assertAlmostEqual(job["saved_j"], saved, delta=0.1)
        self.assertAlmostEqual(job["saved_wh"], saved / 3600, delta=0.0001)
        self.assertAlmostEqual(job["lost_s"], lost, delta=0.001)
        self.assertAlmostEqual(job["time_change"], job["seconds"] / (job["seconds"] - lost) - 1, delta=1e-6)
        # The first figure is the whole job's.
        self.assertRegex(rows, r"used \d+ J\n  the whole job, search included, against the default: "
                         rf"(used )?{100 * abs(job['energy_change']):.1f} ± [\d.]+ % (energy\s+saved|more\s+energy)")
        # A setting whose power was measured once has no error of its energy.
        self.assertRegex(rows, r"tried (mem|sm)=\d+MHz[^:]*: (used )?[\d.]+( ± [\d.]+)? % (energy\s+saved|more\s+energy), ")
        self.assertRegex(rows, r"stopped because the job has ended, in the state '(baseline|search|hold)'")
        # The same from the log alone; and from a log that was cut off before its end.
        again = self.world.call("report", self.world.path("log.jsonl"), "--text").stdout
        self.assertIn("stopped because", again)
        flat = " ".join(rows.split())  # a terminal breaks long lines at blanks
        for line in again.splitlines():
            self.assertIn(" ".join(line.split()), flat)
        document = json.loads(self.world.call("report", self.world.path("log.jsonl"), "--json").stdout)
        self.assertEqual(document["runs"][-1]["job"], job)
        self.cut_off_the_end()
        part = self.world.call("report", self.world.path("log.jsonl"), "--text").stdout
        self.assertRegex(part, r"^hypermile: the log ends after \d+\.\d s, before its run did")
        for line in part.splitlines():
            if re.search(r"^ +(default|kept |tried|at the kept setting)", line):
                self.assertIn(" ".join(line.split()), flat)

    def test_the_log_begins_at_zero_with_the_wall_time(self):
        before = time.time()
        self.assertEqual(finish(self.world.run(self.world.job(4), "--observe"))[0], 0)
        log = self.world.log()
        self.assertEqual(log[0]["t"], 0)
        self.assertAlmostEqual(log[0]["unix_time"], before, delta=10)
        self.assertLess(log[-1]["t"], 30)
        for event in log:
            if event["type"] == "window":
                self.assertLess(abs(event["t"] - event["begin_s"] - event["duration_s"]), 15)

    def cut_off_the_end(self):
        lines = self.world.read("log.jsonl").splitlines()
        with open(self.world.path("log.jsonl"), "w", encoding="utf-8") as file:
            file.write("\n".join(line for line in lines if '"run_end"' not in line) + "\n")

    def test_with_live_the_line_is_renewed_in_place_and_gone_in_the_end(self):
        code, text = on_a_terminal(self.world, self.command("--live"))
        self.assertEqual(code, 0, text)
        self.assertGreater(text.count("\r\x1b[K"), 5)
        self.assertRegex(text, r"hypermile: hold at sm=1500MHz: [\d.]+ ms, \d+ W")
        self.assertFalse(any("hold at" in row for row in screen(text)), screen(text))
        self.assertEqual(TITLE.findall(text), [])

    def test_attached_from_another_terminal_the_line_is_renewed_in_place(self):
        job = self.world.start([HYPERMILE, "run", "--observe", "--log", self.world.path("log.jsonl"), "--",
                                *self.world.job(SECONDS)])
        code, text = on_a_terminal(self.world, [HYPERMILE, "attach", "--pid", str(self.world.job_pid()), *FIXED])
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"hypermile: hold at sm=1500MHz: [\d.]+ ms, \d+ W")
        self.assertFalse(any("hold at" in row for row in screen(text)), screen(text))
        self.assertEqual(finish(job)[0], 0)

    def test_without_a_terminal_there_are_lines_at_changes_of_state_alone(self):
        code, out, err = finish(self.world.run(self.world.job(SECONDS), *FIXED))
        self.assertEqual(code, 0, err)
        self.assertNotIn("\x1b", err)
        self.assertNotIn("\r", err)
        states = [event["state"] for event in self.world.log() if event["type"] == "state"]
        changes = [now for now, before in zip(states[1:], states) if now != before and now != "released"]
        lines = [line for line in err.splitlines() if re.match(r"hypermile: \d+ s: ", line)]
        told = [line.split(": ")[2].split(" at ")[0].replace(" ", "_") for line in lines]
        self.assertTrue(told)
        remaining = iter(changes)  # a change that does not last, or soon after another, has no line
        self.assertTrue(all(state in remaining for state in told), (told, changes))
        self.assertNotIn("hypermile", out.replace(HYPERMILE, ""))

    def test_quiet_and_json_leave_the_terminal_to_the_job(self):
        code, text = on_a_terminal(self.world, self.command("--quiet", "--json", job=["echo", "mine"]))
        self.assertEqual(code, 0, text)
        mine, document = text.splitlines()
        self.assertEqual(mine, "mine")
        self.assertEqual(json.loads(document)["command"], ["echo", "mine"])
        self.assertNotIn("\x1b", text)


class Cost:
    def __init__(self):
        self.iterations = self.seconds = self.timed = self.joules = self.ran = 0


def costs_of(log):
    """What was measured at each setting, from the log alone: where some windows are on the GPU's own clock, of these."""
    costs, counted = {}, 0
    windows = [event for event in log if event["type"] == "window"]
    timed = {json.dumps(event["setting"]) for event in windows if event["gpu_timed"] and not event.get("unusable")}
    for event in windows:
        setting = json.dumps(event["setting"])
        cost = costs.setdefault(setting, Cost())
        cost.ran += max(event["iterations"], event["job_iterations"] - counted)
        counted = max(event["job_iterations"], counted + event["iterations"])
        if event.get("unusable") or (setting in timed and not event["gpu_timed"]):
            continue
        cost.iterations += event["iterations"]
        cost.timed += event["iterations"]
        cost.seconds += event["iterations"] * event["time_per_iteration_s"]
        cost.joules += event["iterations"] * event["energy_per_iteration_j"]
    # On a busy machine a short look may end before its power is known; its time counts all the same.
    for setting, cost in costs.items():
        powerless = [event for event in windows if json.dumps(event["setting"]) == setting and not cost.iterations
                    and event.get("unusable", "").startswith("power is not known")]
        on_gpu = [event for event in powerless if event["gpu_timed"]]
        for event in on_gpu or powerless:
            cost.timed += event["iterations"]
            cost.seconds += event["iterations"] * event["time_per_iteration_s"]
    return {setting: cost for setting, cost in costs.items() if cost.timed}


if __name__ == "__main__":
    parallel.main()

# SPDX-License-Identifier: Apache-2.0
"""Runs `hypermile run --observe` as a program and reads its output files."""

import json
import os
import subprocess
import tempfile

from stand_in import HYPERMILE

FAKE_TRAINING = os.environ["FAKE_TRAINING"]


class Watched:
    """A finished run: its exit status, output, summary and event log."""

    def __init__(self, command, options=(), environment=None, **more):
        with tempfile.TemporaryDirectory() as folder:
            summary, log = os.path.join(folder, "summary.json"), os.path.join(folder, "log.jsonl")
            done = subprocess.run(
                [HYPERMILE, "run", "--observe", "--summary", summary, "--log", log, *options, "--", *command],
                capture_output=True, text=True, timeout=120, env=environment or os.environ, **more)
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
            self.summary = None
            if os.path.exists(summary):
                with open(summary, encoding="utf-8") as file:
                    self.summary = json.load(file)
            with open(log, encoding="utf-8") as file:
                self.log = [json.loads(line) for line in file]

    def processes(self):
        return self.summary["processes"]

    def phase(self, number=0):
        return self.processes()[0]["phases"][number]


def training(*words):
    """A job on the fake driver, started like a CUDA program."""
    return [FAKE_TRAINING, "init", *map(str, words)]


def training_environment(**more):
    libraries = os.environ["FAKE_CUDA"] + ":" + os.environ.get("LD_LIBRARY_PATH", "")
    return {**os.environ, "LD_LIBRARY_PATH": libraries, **more}

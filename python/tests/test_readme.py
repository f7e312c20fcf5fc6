# SPDX-License-Identifier: Apache-2.0
"""The Python lines of the README, run as they stand: only the reader's loader and train are ours."""

import re

from conftest import ROOT, answer

BEFORE = """
import json
from stand_in import Job

job = Job("dcgan").__enter__()
loader = range(100)
trained = []


def train(batch):
    trained.append(batch)
    job.step()


"""
AFTER = """
job.__exit__(None, None, None)
print(json.dumps({"trained": len(trained), "iterations": run.result.totals.get("iterations"), "text": str(run.result)}))
"""


def test_the_lines_of_the_readme_run(machine):
    lines = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    assert len(lines) == 1

    told = answer(machine.train(BEFORE + lines[0] + AFTER))

    assert told["trained"] == 100
    assert abs(told["iterations"] - 100) <= 3
    assert told["text"]
    assert not machine.changed()

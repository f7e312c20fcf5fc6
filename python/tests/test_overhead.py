# SPDX-License-Identifier: Apache-2.0
"""The cost for the training thread, as benchmarks/python_overhead.py measures it: the thread's own processor time."""

import json
import subprocess
import sys

import pytest
from conftest import ROOT


@pytest.mark.alone
def test_a_step_costs_less_than_a_microsecond_and_a_boundary_less_than_twenty(machine):
    done = subprocess.run([sys.executable, str(ROOT / "benchmarks" / "python_overhead.py"), "--json", "--check"],
                          capture_output=True, text=True, env=machine.environment)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["step()"]["ns"] < 1000
    assert figures["boundary, forward of a module"]["ns"] < 20_000
    assert figures["boundary, backward of a module"]["ns"] < 20_000

# SPDX-License-Identifier: Apache-2.0
"""The examples run unchanged on the NVML stand-in; this also tests the callbacks of trainers."""

import re
import socket

import pytest
from conftest import ROOT

pytest.importorskip("torch")
EXAMPLES = ROOT / "python" / "examples"


def output(process):
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    return out


def windows_and_iterations(text):
    found = re.search(r"(\d+) windows, (\d+) iterations", text)
    return int(found[1]), int(found[2])


def test_a_plain_loop(machine):
    out = output(machine.train(EXAMPLES / "plain_loop.py", 8))
    assert "default: " in out and "J an iteration" in out
    assert not machine.changed()


@pytest.mark.parametrize("example", ["hugging_face.py", "lightning_trainer.py"])
def test_a_trainer_ticks_at_every_optimizer_step(machine, example):
    out = output(machine.train(EXAMPLES / example, 150))
    windows, iterations = windows_and_iterations(out)
    assert windows >= 1
    assert abs(iterations - 150) <= 2
    assert "default: " in out


def test_ranks_of_torch_distributed_are_one_job(two_gpus):
    """Started with torchrun's variables, because torchrun of PyTorch 1.13 does not run under Python 3.11."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [two_gpus.train(EXAMPLES / "ranks.py", 200, RANK=str(i), LOCAL_RANK=str(i), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2",
                            MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)) for i in range(2)]
    first, second = map(output, ranks)
    assert "2 GPUs, 2 processes" in first
    assert second == ""


def test_the_trainers_callback_optimizes_too(machine):
    script = """
        import sys
        source = open(sys.argv[1]).read().replace("observe_only=True", "policy='fixed:sm=1500', iterations=100000")
        sys.argv = ["example", "400"]
        exec(compile(source, "example", "exec"))
    """
    job = machine.train(script, EXAMPLES / "hugging_face.py")
    machine.wait_until_changed()
    out = output(job)
    assert "sm=1500MHz: " in out and "% energy saved" in out
    assert not machine.changed()

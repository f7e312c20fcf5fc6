# SPDX-License-Identifier: Apache-2.0
"""The examples run unchanged on the NVML stand-in; this also tests the callbacks of trainers."""

import csv
import re
import socket

import pytest
from conftest import ROOT

torch = pytest.importorskip("torch")
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


@pytest.mark.parametrize("example, needs", [("hugging_face.py", "transformers"), ("lightning_trainer.py", None), ("jax_loop.py", "jax")])
def test_a_trainer_ticks_at_every_optimizer_step(machine, example, needs):
    if needs:
        pytest.importorskip(needs, reason=f"{needs} is not installed")
    out = output(machine.train(EXAMPLES / example, 150))
    windows, iterations = windows_and_iterations(out)
    assert windows >= 1
    assert abs(iterations - 150) <= 2
    assert "default: " in out


def test_a_loop_of_accelerate_fills_a_table(machine):
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    out = output(machine.train(EXAMPLES / "accelerate_loop.py", 150, machine.path("energy.csv")))
    assert "1 GPUs, 1 processes" in out
    with open(machine.path("energy.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows and all(float(row["joules_per_step"]) > 1 and float(row["watts"]) > 50 for row in rows)


@pytest.mark.parametrize("example", ["ranks.py", "accelerate_loop.py", "fsdp.py"])
def test_ranks_of_torch_distributed_are_one_job(two_gpus, example):
    """Started with torchrun's variables, because torchrun of PyTorch 1.13 does not run under Python 3.11. Debian's PyTorch has no
    libuv."""
    if example == "accelerate_loop.py":
        pytest.importorskip("accelerate", reason="accelerate is not installed")
        if torch.distributed.is_mpi_available():
            pytest.skip("accelerate prefers this PyTorch's MPI, which only mpirun starts")
    if example == "fsdp.py" and tuple(map(int, torch.__version__.split(".")[:2])) < (2, 6):
        pytest.skip("FSDP runs on the CPU since PyTorch 2.6")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    more = [two_gpus.path("energy.csv")] if example == "accelerate_loop.py" else []
    ranks = [two_gpus.train(EXAMPLES / example, 200, *more, RANK=str(i), LOCAL_RANK=str(i), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2",
                            MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), ACCELERATE_USE_CPU="1",
                            USE_LIBUV="0") for i in range(2)]
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
    pytest.importorskip("transformers", reason="transformers is not installed")
    job = machine.train(script, EXAMPLES / "hugging_face.py")
    machine.wait_until_changed()
    out = output(job)
    assert "sm=1500MHz: " in out and "% energy saved" in out
    assert not machine.changed()

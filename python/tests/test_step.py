# SPDX-License-Identifier: Apache-2.0
"""step() as training code calls it."""

import subprocess
import sys

import hypermile
import pytest


def test_takes_a_phase_by_place_or_name_or_none_at_all():
    assert hypermile.step() is None
    assert hypermile.step(None) is None
    assert hypermile.step("train") is None
    assert hypermile.step(phase="eval") is None


@pytest.mark.parametrize("wrong", [(1,), ("train", "eval"), (b"train",)])
def test_a_mistake_is_a_type_error(wrong):
    with pytest.raises(TypeError):
        hypermile.step(*wrong)
    with pytest.raises(TypeError):
        hypermile.step(phases="train")


def test_nobody_listens_here():
    assert not hypermile.listening()


def test_torch_and_pandas_are_imported_only_when_needed():
    code = "import hypermile, sys; hypermile.step(); hypermile.optimize(); assert not {'torch', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ticks_begin_when_somebody_comes_to_listen(tmp_path):
    code = """
import hypermile, os, sys
for _ in range(10): hypermile.step()
os.environ["HYPERMILE_RING_DIR"] = sys.argv[1]
assert not hypermile.listening()
hypermile._core.listen_again()
hypermile.step("train")
assert hypermile.listening()
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    rings = list(tmp_path.iterdir())
    assert len(rings) == 1 and "ticks" in rings[0].name
    assert b"train" in rings[0].read_bytes()

# SPDX-License-Identifier: Apache-2.0
"""`pip wheel .` makes a package that works without the source tree, PyTorch or the programs; and its types are right."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT

pytestmark = pytest.mark.wheel


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_wheel_is_built_installed_and_imported(tmp_path):
    # Not optimised: what is tested is that it holds together.
    settings = ("cmake.build-type=Debug", "cmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0", f"build-dir={tmp_path}/build")
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", tmp_path,
        *(f"--config-settings={setting}" for setting in settings), ROOT)
    run("/usr/bin/python3", "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--no-deps", "--no-index", *tmp_path.glob("*.whl"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HYPERMILE"))}
    code = """
import hypermile
hypermile.step("train")
with hypermile.optimize() as run:
    pass
print(run.result.reason)
try:
    hypermile._core.Gpu()
except RuntimeError as problem:
    print(problem)
"""
    out = run(python, "-c", code, cwd=tmp_path, env={**environment, "PATH": "/usr/bin:/bin"})
    assert "the program hypermile was not found" in out
    assert "management library" in out


def test_types_are_right():
    run(sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", ROOT / "python" / "hypermile", cwd=ROOT,
        env={**os.environ, "MYPY_CACHE_DIR": str(ROOT / "build" / "mypy")})

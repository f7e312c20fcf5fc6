# SPDX-License-Identifier: Apache-2.0
"""The wheel of `make wheel`, `pip install .` and `pip install -e .` in fresh environments: each brings the programs, or fails. Types are
right. Takes a minute, so .ci/run runs it and `make test` does not:

    ctest --test-dir build -C Slow -R Python.Install
"""

import glob
import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

pytestmark = pytest.mark.wheel

# Without PyTorch, and on the stand-in that the package brings.
USE = """
import json, time
import hypermile
from hypermile import _core, program
with hypermile.observe() as run:
    for _ in range(60):
        hypermile.step("train")
        time.sleep(0.02)
print(json.dumps({"file": hypermile.__file__, "program": str(program.find_program()), "gpu": _core.Gpu().name,
                  "injected": program.find_injected_library() is not None, "iterations": run.result.totals.get("iterations"),
                  "reason": run.result.reason}))
"""


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def fresh(tmp_path):
    """A new environment, and a function that runs a program of it. It sees nothing of this source tree and of ctest's variables."""
    run("/usr/bin/python3", "-m", "venv", tmp_path / "venv")
    names = ("PYTHON", "HYPERMILE", "LD_LIBRARY_PATH")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(names)}

    def call(program, *words, **variables):
        environment = {**clean, "PATH": f"{tmp_path}/venv/bin:/usr/bin:/bin", "HYPERMILE_SIM_GPUS": "h200",
                       "HYPERMILE_SIM_STATE": str(tmp_path / "state"), "HYPERMILE_STATE": str(tmp_path / "journal"),
                       "HYPERMILE_SOCKET": str(tmp_path / "socket"), "XDG_CONFIG_HOME": str(tmp_path), **variables}
        return run(tmp_path / "venv" / "bin" / program, *words, cwd=tmp_path, env=environment)

    return call


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """As `make wheel` makes it, but elsewhere."""
    folder = tmp_path_factory.mktemp("wheel")
    return run(ROOT / "scripts" / "make-wheel", folder).strip().splitlines()[-1]


def use(fresh):
    stand_in = fresh("python", "-c", "from hypermile.program import stand_in; print(stand_in())").strip()
    told = json.loads(fresh("python", "-c", USE, HYPERMILE_NVML=stand_in))
    assert told["iterations"] >= 58, told
    assert told["injected"] and "H200" in told["gpu"]
    return told


def test_the_wheel_brings_everything(fresh, wheel, tmp_path):
    assert wheel.endswith("-py3-none-manylinux_2_36_x86_64.whl")
    fresh("pip", "install", "--no-index", wheel)
    told = use(fresh)
    assert told["file"].startswith(f"{tmp_path}/venv/") and told["program"].startswith(f"{tmp_path}/venv/")
    assert fresh("hypermile", "--version") == fresh("hypermiled", "--version").replace("hypermiled", "hypermile")
    assert fresh("hypermile", "simulate", "--gpu", "sim:h200", "--workload", "dcgan", "--iterations", "100", "--repeat", "1", "--json")
    fresh("pip", "uninstall", "-y", "hypermile")
    assert not glob.glob(f"{tmp_path}/venv/lib/python3*/site-packages/hypermile*")


def test_every_python_on_this_machine_loads_it(wheel, tmp_path):
    shutil.unpack_archive(wheel, tmp_path, "zip")
    pythons = ["/usr/bin/python3", *filter(None, (shutil.which(f"python3.{minor}") for minor in range(9, 20)))]
    for python in pythons:
        if subprocess.run([python, "-c", "import ctypes, json"], capture_output=True, check=False).returncode != 0:
            continue  # pyenv's placeholder for a version that is not chosen
        run(python, "-c", "import hypermile; hypermile.step('train'); import hypermile.trackers, hypermile.plan", cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin"})


def test_pip_install_of_the_source_tree_brings_the_programs(fresh, tmp_path):
    fresh("pip", "install", "--no-index", "--no-deps", ROOT)
    assert use(fresh)["program"].startswith(f"{tmp_path}/venv/")


def test_an_editable_install_is_the_source_tree(fresh):
    fresh("pip", "install", "--no-index", "--no-deps", "-e", ROOT)
    told = use(fresh)
    assert told["file"] == str(ROOT / "python" / "hypermile" / "__init__.py")
    assert fresh("hypermile", "--version")


def test_where_the_programs_cannot_be_built_the_installation_fails(fresh, tmp_path):
    with pytest.raises(AssertionError, match="cmake was not found, so the programs cannot be built"):
        fresh("pip", "install", "--no-index", "--no-deps", ROOT, PATH=f"{tmp_path}/venv/bin")


def test_a_package_without_its_library_says_so_at_once(wheel, tmp_path):
    shutil.unpack_archive(wheel, tmp_path, "zip")
    os.remove(tmp_path / "hypermile" / "lib" / "libhypermile_python.so")
    done = subprocess.run([sys.executable, "-c", "import hypermile"], cwd=tmp_path, env={"PATH": "/usr/bin"}, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 1 and "libhypermile_python.so is not in this package" in done.stderr.splitlines()[-1]


def test_types_are_right():
    run(sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", ROOT / "python" / "hypermile",
        ROOT / "python" / "build_backend.py", cwd=ROOT, env={**os.environ, "MYPY_CACHE_DIR": str(ROOT / "build" / "mypy")})

# SPDX-License-Identifier: Apache-2.0
"""`pip install .` and `pip install -e .` into a fresh environment give a package that works without PyTorch and without the
programs, and whose types are correct. Compiles the extension once, so .ci/run runs it and `make test` does not:

    ctest --test-dir build -C Slow -R Python.Install
"""

import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

pytestmark = pytest.mark.wheel

USE = """
import hypermile
hypermile.step("train")
with hypermile.optimize() as run:
    pass
print(run.result.reason)
try:
    hypermile._core.Gpu()
except RuntimeError as problem:
    print(problem)
print(hypermile.__file__)
"""


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def fresh():
    """A new environment with the build requirements of pyproject.toml, and a function that installs the source tree into it.
    Always in the same folder, so that a compiler cache can be used."""
    folder = ROOT / "build" / "install-test"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run("/usr/bin/python3", "-m", "venv", folder / "venv")
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    needed = re.search(r"requires = \[(.*)\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))[1]
    run(*pip, "install", *re.findall(r'"([^"]+)"', needed))
    # Not optimised, and with one build folder for both, because only the installation is tested.
    settings = ("cmake.build-type=Debug", "cmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0", f"build-dir={folder}/build",
                "install.strip=false")

    def install(*how):
        run(*pip, "install", "--no-build-isolation", "--no-deps", "--force-reinstall",
            *(f"--config-settings={setting}" for setting in settings), *how,
            env={**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count())})
        return folder

    return install


def use(folder, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HYPERMILE"))}
    return run(folder / "venv" / "bin" / "python", "-c", USE, cwd=folder,
               env={**environment, "PATH": "/usr/bin:/bin", "HYPERMILE_BIN": "/nowhere", **variables})


def test_it_is_installed_and_works_without_the_source_tree(fresh):
    folder = fresh(ROOT)
    out = use(folder)
    assert "the program hypermile was not found" in out
    assert "management library" in out
    assert f"{folder}/venv/" in out.splitlines()[-1]


def test_an_editable_install_is_the_source_tree(fresh):
    folder = fresh("-e", ROOT)
    out = use(folder)
    assert "management library" in out
    assert out.splitlines()[-1] == str(ROOT / "python" / "hypermile" / "__init__.py")


def test_types_are_right():
    run(sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", ROOT / "python" / "hypermile", cwd=ROOT,
        env={**os.environ, "MYPY_CACHE_DIR": str(ROOT / "build" / "mypy")})

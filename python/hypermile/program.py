# SPDX-License-Identifier: Apache-2.0
"""Finds hypermile's programs and libraries: beside HYPERMILE_BIN, in the package (a wheel), or in the source tree's build folder.
Programs are also found on the PATH. `hypermile` and `hypermiled` on the PATH of a wheel's environment are main() and main_daemon()."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Iterator, NoReturn, Optional

MISSING = ("the program hypermile was not found; install a wheel that has it (make wheel), run 'make build' in the source tree, "
           "or name it in HYPERMILE_BIN")


def _prefixes() -> Iterator[Path]:
    """Folders with bin/ and lib/."""
    told = os.environ.get("HYPERMILE_BIN")
    if told:
        named = Path(told).resolve()
        yield named.parent if named.is_dir() else named.parent.parent
    package = Path(__file__).resolve().parent
    yield package
    yield package.parent.parent / "build"


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def find_program(name: str = "hypermile") -> Optional[Path]:
    """The path of `hypermile` or `hypermiled`, or None. HYPERMILE_BIN names `hypermile`, or the folder of both."""
    told = os.environ.get("HYPERMILE_BIN")
    if told:
        named = Path(told)
        path = named / name if named.is_dir() else named if name == "hypermile" else named.with_name(name)
        return path if _is_program(path) else None
    for prefix in _prefixes():
        if _is_program(prefix / "bin" / name):
            return prefix / "bin" / name
    found = shutil.which(name)
    return Path(found) if found else None


def find_library(name: str) -> Path:
    """The path of one of hypermile's own libraries. ImportError where there is none: then the package is not whole."""
    for prefix in _prefixes():
        for folder in ("lib", "lib/hypermile"):
            library = prefix / folder / name
            if library.is_file():
                return library
    raise ImportError(f"hypermile's library {name} is not in this package; install a wheel (make wheel), or run 'make build' in the "
                      "source tree")


def find_injected_library() -> Optional[Path]:
    """The library that CUDA may load into this process; it is next to the program, where `hypermile run` also looks for it."""
    program = find_program()
    if program is None:
        return None
    folder = program.resolve().parent
    for candidate in (folder, folder.parent / "lib", folder.parent / "lib" / "hypermile"):
        library = candidate / "libhypermile_inject.so"
        if library.is_file():
            return library
    return None


def stand_in() -> Path:
    """The NVML library whose GPUs are simulated, for HYPERMILE_NVML (docs/reference/nvml-stand-in.md)."""
    return find_library("nvmlsim/libnvidia-ml.so.1")


def main(name: str = "hypermile") -> NoReturn:
    """Becomes the package's own program, with this process's arguments; one on the PATH could be the script that calls this."""
    for prefix in _prefixes():
        if _is_program(prefix / "bin" / name):
            os.execv(prefix / "bin" / name, [name, *sys.argv[1:]])
    sys.exit(f"hypermile: {MISSING}")


def main_daemon() -> NoReturn:
    main("hypermiled")

# SPDX-License-Identifier: Apache-2.0
"""Finds hypermile's programs and libraries: in HYPERMILE_BIN, the package, the source tree, or PATH."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Iterator, Optional


def _folders() -> Iterator[Path]:
    package = Path(__file__).resolve().parent
    yield package / "bin"  # a wheel with the programs
    yield package.parent.parent / "build" / "bin"  # an editable install of the source tree


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def find_program(name: str = "hypermile") -> Optional[Path]:
    """The path of `hypermile` or `hypermiled`, or None. HYPERMILE_BIN names `hypermile`, or the folder of both."""
    told = os.environ.get("HYPERMILE_BIN")
    if told:
        named = Path(told)
        path = named / name if named.is_dir() else named if name == "hypermile" else named.with_name(name)
        return path if _is_program(path) else None
    for folder in _folders():
        if _is_program(folder / name):
            return folder / name
    found = shutil.which(name)
    return Path(found) if found else None


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

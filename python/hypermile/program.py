# SPDX-License-Identifier: Apache-2.0
"""Where hypermile's programs and libraries are: HYPERMILE_BIN, in the package, in the source tree, on PATH."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Iterator, Optional


def _folders() -> Iterator[Path]:
    package = Path(__file__).resolve().parent
    yield package / "bin"  # a wheel that brings the programs
    yield package.parent.parent / "build" / "bin"  # an editable install of the source tree


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def find_program(name: str = "hypermile") -> Optional[Path]:
    """`hypermile` or `hypermiled`; None where there is none. HYPERMILE_BIN names the first, or the folder of both."""
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
    """The library that CUDA may load into this process, beside the program as `hypermile run` looks for it."""
    program = find_program()
    if program is None:
        return None
    folder = program.resolve().parent
    for candidate in (folder, folder.parent / "lib", folder.parent / "lib" / "hypermile"):
        library = candidate / "libhypermile_inject.so"
        if library.is_file():
            return library
    return None

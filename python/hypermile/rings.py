# SPDX-License-Identifier: Apache-2.0
"""The folder for the ticks of a job's processes, where `hypermile run` has not made one.

It is named after the process that owns the job: this process, or the launcher of several ranks (torchrun), so that all ranks
of a node find the same folder without communicating. The first rank removes it when it ends; a folder that a killed process
left is removed by the next job.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from . import _core

VARIABLE = "HYPERMILE_RING_DIR"
_PREFIX = "hypermile-job-"
_ours: Optional[Path] = None
_listener = 0  # the process that began to listen; a forked child differs


@dataclass(frozen=True)
class Rank:
    """This process among the ranks of its node; rank 0 of 1 without a launcher."""

    local: int = 0
    count: int = 1

    @staticmethod
    def here(local: Optional[int] = None) -> "Rank":
        """From the variables of torchrun and similar launchers, or from the caller."""
        if local is not None:
            return Rank(local, max(2, _number("LOCAL_WORLD_SIZE", 2)))
        return Rank(_number("LOCAL_RANK", 0), _number("LOCAL_WORLD_SIZE", 1))

    @property
    def shared(self) -> bool:
        return self.count > 1 or self.local > 0


def _number(name: str, otherwise: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else otherwise


def _started(pid: int) -> Optional[str]:
    """The start time of a process in kernel ticks; None where there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rsplit(")", 1)[1].split()[19]


def _base() -> Path:
    for folder in (os.environ.get("XDG_RUNTIME_DIR"), "/dev/shm", "/tmp"):
        if folder and os.path.isdir(folder) and os.access(folder, os.W_OK):
            return Path(folder)
    raise OSError("neither $XDG_RUNTIME_DIR nor /dev/shm nor /tmp can be written to")


def _remove_abandoned(base: Path) -> None:
    for folder in base.glob(_PREFIX + "*"):
        pid, _, started = folder.name[len(_PREFIX):].partition("-")
        with contextlib.suppress(OSError):  # another rank was faster
            if pid.isdigit() and _started(int(pid)) != started and folder.stat().st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)


def folder_of(rank: Rank) -> Path:
    """Makes the folder if it does not exist. Raises OSError where that fails or the folder belongs to somebody else."""
    owner = os.getppid() if rank.shared else os.getpid()
    base = _base()
    _remove_abandoned(base)
    folder = base / f"{_PREFIX}{owner}-{_started(owner)}"
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise OSError(f"{folder} belongs to another user") from None
    return folder


def listen(rank: Rank) -> Path:
    """Sends the ticks of this process, and of those it starts, to the job's folder from now on."""
    global _ours, _listener
    if _ours is None:
        _ours = folder_of(rank)
        _listener = os.getpid()
        os.environ[VARIABLE] = str(_ours)
        if rank.local == 0:
            atexit.register(_forget)
    _core.listen_again()
    return _ours


def told_by_launcher() -> Optional[str]:
    """The folder of a `hypermile run` or of a watched parent around this process, which already watches this process too."""
    folder = os.environ.get(VARIABLE)
    return folder if folder and (folder != str(_ours) or os.getpid() != _listener) else None


def _forget() -> None:
    if _ours is not None and os.getpid() == _listener:
        shutil.rmtree(_ours, ignore_errors=True)

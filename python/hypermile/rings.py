# SPDX-License-Identifier: Apache-2.0
"""The folder for the ticks of a job's processes, where `hypermile run` has not made one.

A process without ranks has a folder of its own, named after it. The ranks of one node share a folder, named after what their
launcher told all of them: the rendezvous and run of torchrun, accelerate or Lightning, or the step of Slurm. So they find it
without communicating, and two jobs never share one, even if the same shell started both. The first rank removes the folder when it ends;
what killed processes left is removed by the next job.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Optional

from . import _core

VARIABLE = "HYPERMILE_RING_DIR"
_PREFIX = "hypermile-job-"
_RANKS = "ranks-"  # begins the rest of the name of a folder that ranks share
_MEMBER = "member-"  # begins the names of files in it, one for each rank
_ours: Optional[Path] = None
_listener = 0  # the process that began to listen; a forked child differs


@dataclass(frozen=True)
class Rank:
    """This process among the ranks of its node. `job` names the job for all its ranks; "" for a process without ranks."""

    local: int = 0
    job: str = ""

    @staticmethod
    def here(local: Optional[int] = None, told: Mapping[str, str] = os.environ) -> "Rank":
        """From the variables of a launcher. A trainer that knows that there are several ranks passes its `local` rank, but which job
        they belong to only the launcher's variables say; a common parent process says nothing."""
        if told.get("LOCAL_WORLD_SIZE") == "1":  # the only rank of this node
            return Rank()
        step = _slurm_step(told)
        if step and "LOCAL_RANK" not in told:
            return Rank(_number(told, "SLURM_LOCALID", 0) if local is None else local, step)
        if local is None and _number(told, "WORLD_SIZE", 1) > 1 and "RANK" in told:
            local = _number(told, "LOCAL_RANK", _number(told, "RANK", 0))
        job = _rendezvous(told)
        return Rank(local, job) if job and local is not None else Rank()

    @property
    def shared(self) -> bool:
        return self.job != ""


def _rendezvous(told: Mapping[str, str]) -> str:
    """What torchrun and all that sets its variables tell every rank. The run's id alone is "none" where nobody chose one."""
    run, address, port = (told.get(name, "") for name in ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT"))
    if address and port:
        return f"rendezvous {run} {address} {port}"
    return f"run {run}" if run not in ("", "none") else ""


def _slurm_step(told: Mapping[str, str]) -> str:
    """The step of which this process is a task, if it has several tasks on this node; "" otherwise."""
    several = re.fullmatch(r"1(\(x\d+\))?", told.get("SLURM_STEP_TASKS_PER_NODE", "1")) is None
    return f"slurm {told.get('SLURM_JOB_ID')} {told.get('SLURM_STEP_ID')}" if several and "SLURM_LOCALID" in told else ""


def _number(told: Mapping[str, str], name: str, otherwise: int) -> int:
    text = told.get(name, "")
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


def _lives(name: str) -> bool:
    """Whether the process of a name that begins with PID-START still runs."""
    pid, _, rest = name.partition("-")
    return pid.isdigit() and _started(int(pid)) == rest.partition("-")[0]


def _all_ended(folder: Path) -> bool:
    """A folder of ranks without members belongs to a rank that is about to become one."""
    name = folder.name[len(_PREFIX):]
    if not name.startswith(_RANKS):
        return not _lives(name)
    members = [each.name[len(_MEMBER):] for each in folder.glob(_MEMBER + "*")]
    return bool(members) and not any(map(_lives, members))


def _remove_abandoned(base: Path, mine: Path) -> None:
    """Removes other jobs' folders in which nobody is left, and what the dead left in mine. Mine is never removed as a whole, because
    another rank may be joining it."""
    for folder in base.glob(_PREFIX + "*"):
        with contextlib.suppress(OSError):  # another rank was faster
            if folder.stat().st_uid != os.geteuid():
                continue
            if folder == mine:
                _remove_files_of_the_dead(folder)
            elif _all_ended(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _remove_files_of_the_dead(folder: Path) -> None:
    for file in folder.iterdir():
        is_member = file.name.startswith(_MEMBER)
        pid = file.name.partition("-")[0]  # a ring's name begins with its process
        if not _lives(file.name[len(_MEMBER):]) if is_member else pid.isdigit() and _started(int(pid)) is None:
            file.unlink()


def folder_of(rank: Rank) -> Path:
    """Makes the folder if it does not exist. Raises OSError where that fails or the folder belongs to somebody else."""
    me = f"{os.getpid()}-{_started(os.getpid())}"
    base = _base()
    job = hashlib.sha256(f"{os.geteuid()} {rank.job}".encode()).hexdigest()[:16]
    folder = base / (_PREFIX + (_RANKS + job if rank.shared else me))
    _remove_abandoned(base, folder)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise OSError(f"{folder} belongs to another user") from None
    if rank.shared:
        (folder / (_MEMBER + me)).touch()
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

# SPDX-License-Identifier: Apache-2.0
"""Where measurements go while a job trains: a CSV file, TensorBoard, Weights & Biases, or any function that takes a Row.

    from hypermile.trackers import Csv, TensorBoard, Wandb

    with hypermile.optimize(track=[Csv("energy.csv"), TensorBoard("runs/energy")]):

Callbacks take `track=` too. A thread beside the training thread calls trackers (following.py), one row for every window that was
measured. A tracker that fails gets no more rows and is named on stderr once; training goes on."""

from __future__ import annotations

import csv
import importlib
import os
from dataclasses import asdict, dataclass, fields
from typing import IO, Any, Callable, Dict, Optional, Union


@dataclass(frozen=True)
class Row:
    """One window of one GPU. `saved_percent` is the whole job's so far, search included, as `hypermile report` has it; the last row of a
    run has nothing else. What is not known is None."""

    step: int  # of the phase, when the window was told
    seconds: float  # since the run began
    gpu: int = 0  # in the order in which the job's GPUs appeared
    phase: int = 0  # 0 is what the job did first, usually training
    joules_per_step: Optional[float] = None
    seconds_per_step: Optional[float] = None
    watts: Optional[float] = None
    sm_mhz: Optional[float] = None
    mem_mhz: Optional[float] = None
    saved_percent: Optional[float] = None

    def scalars(self) -> Dict[str, float]:
        """The known figures by name; those of further GPUs and phases have these in their names."""
        place = "hypermile/" + (f"gpu{self.gpu}/" if self.gpu else "") + (f"phase{self.phase}/" if self.phase else "")
        own = {place + name: getattr(self, name)
               for name in ("joules_per_step", "seconds_per_step", "watts", "sm_mhz", "mem_mhz")}
        return {name: value for name, value in {**own, "hypermile/saved_percent": self.saved_percent}.items() if value is not None}


Tracker = Callable[[Row], None]


class Csv:
    """A file with one line for every row, written at once. An existing file is continued."""

    def __init__(self, path: "Union[str, os.PathLike[str]]") -> None:
        self._path = path
        self._file: Optional[IO[str]] = None

    def __call__(self, row: Row) -> None:
        if self._file is None:
            self._file = open(self._path, "a", newline="", encoding="utf-8")  # close() closes it
            if self._file.tell() == 0:
                csv.writer(self._file, lineterminator="\n").writerow(field.name for field in fields(Row))
        csv.writer(self._file, lineterminator="\n").writerow(asdict(row).values())
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class TensorBoard:
    """A folder, or a SummaryWriter of yours, which stays open."""

    def __init__(self, where: Any) -> None:
        self._where = where
        self._writer: Any = where if hasattr(where, "add_scalar") else None

    def __call__(self, row: Row) -> None:
        if self._writer is None:
            self._writer = importlib.import_module("torch.utils.tensorboard").SummaryWriter(os.fspath(self._where))
        for name, value in row.scalars().items():
            self._writer.add_scalar(name, value, row.step)

    def close(self) -> None:
        if self._writer is not None and self._writer is not self._where:
            self._writer.close()
            self._writer = None


class Wandb:
    """A run of Weights & Biases: `run`, or the one that is active when the first row comes. Its charts are over hypermile/step.

    A row joins what you log next, so that it never moves W&B's own step and none of your data are dropped. With `commit=True` every
    row stands alone: choose that where run.log() is called without step=, as Hugging Face's and Lightning's loggers do."""

    def __init__(self, run: Any = None, commit: bool = False) -> None:
        self._run = run
        self._commit = commit
        self._defined = False
        self._lost = False

    def __call__(self, row: Row) -> None:
        import wandb

        run = self._run if self._run is not None else wandb.run
        if run is None:
            self._lost = True
            return
        if not self._defined:
            run.define_metric("hypermile/step")
            run.define_metric("hypermile/*", step_metric="hypermile/step")
            self._defined = True
        run.log({"hypermile/step": row.step, **row.scalars()}, commit=self._commit)

    def close(self) -> None:
        if self._lost and not self._defined:
            raise RuntimeError("no run of W&B was active; call wandb.init(), or pass Wandb(run)")

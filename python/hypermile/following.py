# SPDX-License-Identifier: Apache-2.0
"""Reads the event log of a run while it grows and hands its windows to trackers, in a thread of its own. Used by Watch; nothing
here raises into training."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .trackers import Row, Tracker

_LOOK_SECONDS = 2.0  # between two looks at the log; windows last longer
_SAVED_SECONDS = 60.0  # least time between two questions what was saved so far, each of which reads the whole log
_SAVED_SHARE = 0.01  # most of one core's time for these questions


class Following:
    """`saved` says what the job has saved so far, in percent, or None; it is asked rarely. Steps count from `first_step`."""

    def __init__(self, log: Path, begin: int, trackers: Sequence[Tracker], first_step: int,
                 saved: Callable[[], Optional[float]]) -> None:
        self._log = log
        self._at = begin
        self._trackers = list(trackers)
        self._first_step = first_step
        self._saved = saved
        self._saved_percent: Optional[float] = None
        self._ask_at = time.monotonic() + _SAVED_SECONDS
        self._half = b""
        self._gpus: Dict[str, int] = {}
        self._last = Row(first_step, 0.0)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="hypermile-trackers", daemon=True)
        self._thread.start()

    def stop(self, saved_percent: Optional[float]) -> None:
        """Hands over what is left, then what the whole job saved, and closes the trackers."""
        self._over.set()
        self._thread.join()
        self._look()
        if saved_percent is not None:
            self._hand_over(Row(self._last.step, self._last.seconds, saved_percent=saved_percent))
        for tracker in list(self._trackers):
            self._call(tracker, getattr(tracker, "close", lambda: None))

    def _follow(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            self._look()
            if time.monotonic() >= self._ask_at:
                begin = time.monotonic()
                self._saved_percent = self._saved()
                took = time.monotonic() - begin
                self._ask_at = begin + max(_SAVED_SECONDS, took / _SAVED_SHARE)

    def _look(self) -> None:
        for event in self._new_events():
            if event.get("type") == "window" and event.get("gpu") and event.get("unusable") is None:
                self._last = self._row(event)
                self._hand_over(self._last)

    def _new_events(self) -> List[Mapping[str, Any]]:
        try:
            with open(self._log, "rb") as file:
                file.seek(self._at)
                new = file.read()
        except OSError:  # the controller has not made it yet
            return []
        self._at += len(new)
        *lines, self._half = (self._half + new).split(b"\n")
        events: List[Mapping[str, Any]] = []
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                events.append(event)
        return events

    def _row(self, event: Mapping[str, Any]) -> Row:
        gpu = self._gpus.setdefault(event["gpu"], len(self._gpus))
        done = event.get("job_iterations", event.get("first_iteration", 0.0) + event.get("iterations", 0.0))
        return Row(step=self._first_step + int(done), seconds=event.get("t", 0.0), gpu=gpu, phase=event.get("phase", 0),
                   joules_per_step=event.get("energy_per_iteration_j"), seconds_per_step=event.get("time_per_iteration_s"),
                   watts=event.get("power_w"), sm_mhz=event.get("sm_mhz"), mem_mhz=event.get("mem_mhz"),
                   saved_percent=self._saved_percent)

    def _hand_over(self, row: Row) -> None:
        for tracker in list(self._trackers):
            self._call(tracker, tracker, row)

    def _call(self, tracker: Tracker, function: Callable[..., Any], *arguments: Any) -> None:
        try:
            function(*arguments)
        except Exception as problem:  # training must go on, whatever a tracker does
            self._trackers.remove(tracker)
            name = getattr(tracker, "__name__", type(tracker).__name__)
            print(f"hypermile: the tracker {name} failed and gets no more rows: {problem}", file=sys.stderr)

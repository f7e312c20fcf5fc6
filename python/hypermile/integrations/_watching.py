# SPDX-License-Identifier: Apache-2.0
"""The part that the callbacks of all trainers share: one Watch from the start of training to its end. Each callback inherits
this class and its trainer's own class. Nothing here raises into training; `result.reason` says what could not be done."""

from __future__ import annotations

import inspect
from typing import Any, Optional

from ..results import Result
from ..watch import Watch, observe, optimize


class Watching:
    """`options` are those of hypermile.optimize(), or of hypermile.observe() where `observe_only` is true. Prints one line when training
    ends, unless `quiet`."""

    def __init__(self, observe_only: bool = False, quiet: bool = False, **options: Any) -> None:
        self._observe_only = observe_only
        self._options = {"quiet": quiet, **options}
        # A name that is no option fails here, where it was typed, and not when training begins.
        inspect.signature(observe if observe_only else optimize).bind_partial(**self._options)
        self._watch: Optional[Watch] = None
        self.result = Result(reason="training has not ended yet")

    def _start(self, done: int = 0, steps: Optional[int] = None, **known: Any) -> None:
        """`done` of `steps` iterations were done in an earlier run. All of this comes from the trainer; the user's own options
        take precedence. A trainer that begins again (because memory was short) has not ended before."""
        self._stop()
        if steps is not None and steps > done and not self._observe_only:
            known["iterations"] = steps - done
        options = {"first_step": done, **known, **self._options}
        self._watch = (observe(**options) if self._observe_only else optimize(**options)).start()

    def _stop(self) -> None:
        if self._watch is not None:
            self.result = self._watch.stop()
            self._watch = None

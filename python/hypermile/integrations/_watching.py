# SPDX-License-Identifier: Apache-2.0
"""What the callbacks of every trainer share: one Watch from the start of training to its end. Each callback inherits it beside
its trainer's own class. Nothing here throws into training; what could not be done stands in `result.reason`."""

from __future__ import annotations

from typing import Any, Optional

from ..results import Result
from ..watch import Watch, observe, optimize


class Watching:
    """`options` are those of hypermile.optimize(), or of hypermile.observe() where `observe_only`."""

    def __init__(self, observe_only: bool = False, **options: Any) -> None:
        self._observe_only = observe_only
        self._options = options
        self._watch: Optional[Watch] = None
        self.result = Result(reason="training has not ended yet")

    def _start(self, **known: Any) -> None:
        """`known` is what the trainer tells; what the user said outranks it."""
        options = {**known, **self._options}
        self._watch = (observe(**options) if self._observe_only else optimize(**options)).start()

    def _stop(self) -> None:
        if self._watch is not None:
            self.result = self._watch.stop()
            self._watch = None

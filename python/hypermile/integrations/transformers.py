# SPDX-License-Identifier: Apache-2.0
"""Hugging Face Trainer:

    from hypermile.integrations.transformers import HypermileCallback

    callback = HypermileCallback(max_slowdown=0.05)
    Trainer(model, args, train_dataset=data, callbacks=[callback]).train()
    print(callback.result)

An iteration is an optimizer step, whatever the gradient accumulation; evaluation is a phase of its own. Ranks of one node
are one job. Tested with transformers 4.28."""

from __future__ import annotations

from typing import Any, Optional

from transformers import TrainerCallback

from .. import _core
from ..results import Result
from ..watch import Watch, observe, optimize


class HypermileCallback(TrainerCallback):  # type: ignore[misc]
    """`options` are those of hypermile.optimize(), or of hypermile.observe() where `observe_only`."""

    def __init__(self, observe_only: bool = False, **options: Any) -> None:
        self._observe_only = observe_only
        self._options = options
        self._watch: Optional[Watch] = None
        self.result = Result(reason="training has not ended yet")

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        options = dict(self._options)
        local = getattr(args, "local_rank", -1)
        if isinstance(local, int) and local >= 0:
            options.setdefault("local_rank", local)
        if not self._observe_only and getattr(state, "max_steps", 0) > 0:
            options.setdefault("iterations", state.max_steps)
        self._watch = (observe(**options) if self._observe_only else optimize(**options)).start()

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        _core.step("train")

    def on_prediction_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        _core.step("eval")

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._watch is not None:
            self.result = self._watch.stop()
            self._watch = None

# SPDX-License-Identifier: Apache-2.0
"""Hugging Face Trainer:

    from hypermile.integrations.transformers import HypermileCallback

    callback = HypermileCallback(max_slowdown=0.05)
    Trainer(model, args, train_dataset=data, callbacks=[callback]).train()
    print(callback.result)

An iteration is one optimizer step, whatever the gradient accumulation; evaluation is a separate phase. The ranks of one node
are one job. Tested with transformers 4.28."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from .. import _core
from ._watching import Watching


class HypermileCallback(Watching, TrainerCallback):  # type: ignore[misc]
    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        known: dict[str, Any] = {}
        local = getattr(args, "local_rank", -1)
        if isinstance(local, int) and local >= 0:
            known["local_rank"] = local
        if not self._observe_only and getattr(state, "max_steps", 0) > 0:
            known["iterations"] = state.max_steps
        self._start(**known)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        _core.step("train")

    def on_prediction_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        _core.step("eval")

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._stop()

# SPDX-License-Identifier: Apache-2.0
"""Hugging Face Trainer:

    from hypermile.integrations.transformers import HypermileCallback

    callback = HypermileCallback(max_slowdown=0.05)
    Trainer(model, args, train_dataset=data, callbacks=[callback]).train()
    print(callback.result)

An iteration is one optimizer step, whatever the gradient accumulation; evaluation is a separate phase. The ranks of one node
are one job where torchrun, accelerate or Slurm started them. Works with transformers 4.28 to 5.

Callbacks are not told of exceptions, so importing this file wraps Trainer.train(): when it ends in any way, the GPUs are
restored."""

from __future__ import annotations

import functools
from typing import Any

from transformers import Trainer, TrainerCallback

from .. import _core
from ._watching import Watching


class HypermileCallback(Watching, TrainerCallback):  # type: ignore[misc]
    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._start(done=state.global_step, steps=state.max_steps if state.max_steps > 0 else None)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        _core.step("train")

    def on_prediction_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        _core.step("eval")

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._stop()


_train = Trainer.train


@functools.wraps(_train)
def _train_and_stop(self: Any, *arguments: Any, **named: Any) -> Any:
    try:
        return _train(self, *arguments, **named)
    finally:
        for callback in self.callback_handler.callbacks:
            if isinstance(callback, HypermileCallback):
                callback._stop()


Trainer.train = _train_and_stop

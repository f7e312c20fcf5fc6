# SPDX-License-Identifier: Apache-2.0
"""PyTorch Lightning:

    from hypermile.integrations.lightning import HypermileCallback

    callback = HypermileCallback(max_slowdown=0.05)
    Trainer(callbacks=[callback]).fit(model, data)
    print(callback.result)

An iteration is one optimizer step, whatever the gradient accumulation; validation is a separate phase. The ranks of one node
are one job. Works with pytorch-lightning 2.0 and with `lightning` up to 2.6."""

from __future__ import annotations

from typing import Any, Optional

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback

from .. import _core
from ._watching import Watching


def _steps(trainer: Any) -> Optional[int]:
    """Of the whole training; None where only a time limit or an endless dataset decides."""
    try:
        steps = trainer.estimated_stepping_batches
    except Exception:  # it loads data in some versions, which is not our business
        return None
    return int(steps) if 0 < steps < float("inf") else None


class HypermileCallback(Watching, Callback):  # type: ignore[misc]
    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        ranks = {"local_rank": trainer.local_rank} if getattr(trainer, "world_size", 1) > 1 else {}
        self._start(done=trainer.global_step, steps=_steps(trainer), **ranks)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        # The other batches only accumulate gradients.
        if batch_idx % max(1, trainer.accumulate_grad_batches) == 0:
            _core.step("train")

    def on_validation_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int,
                                  dataloader_idx: int = 0) -> None:
        _core.step("validate")

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._stop()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._stop()

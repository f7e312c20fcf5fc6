# SPDX-License-Identifier: Apache-2.0
"""PyTorch Lightning:

    from hypermile.integrations.lightning import HypermileCallback

    callback = HypermileCallback(max_slowdown=0.05)
    Trainer(callbacks=[callback]).fit(model, data)
    print(callback.result)

An iteration is an optimizer step, whatever the gradient accumulation; validation is a phase of its own. Ranks of one node
are one job. Tested with pytorch-lightning 2.0; `lightning` 2 has the same callbacks."""

from __future__ import annotations

from typing import Any, Optional

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback

from .. import _core
from ..results import Result
from ..watch import Watch, observe, optimize


class HypermileCallback(Callback):  # type: ignore[misc]
    """`options` are those of hypermile.optimize(), or of hypermile.observe() where `observe_only`."""

    def __init__(self, observe_only: bool = False, **options: Any) -> None:
        self._observe_only = observe_only
        self._options = options
        self._watch: Optional[Watch] = None
        self.result = Result(reason="training has not ended yet")

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        options = dict(self._options)
        if getattr(trainer, "world_size", 1) > 1:
            options.setdefault("local_rank", trainer.local_rank)
        self._watch = (observe(**options) if self._observe_only else optimize(**options)).start()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        # Batches between two steps only add to the gradients.
        if batch_idx % max(1, trainer.accumulate_grad_batches) == 0:
            _core.step("train")

    def on_validation_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int,
                                  dataloader_idx: int = 0) -> None:
        _core.step("validate")

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._stop()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._watch is not None:
            self.result = self._watch.stop()
            self._watch = None

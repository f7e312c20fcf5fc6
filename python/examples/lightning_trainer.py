# SPDX-License-Identifier: Apache-2.0
"""PyTorch Lightning's Trainer with a callback. It only observes; remove observe_only to save energy.

    python lightning_trainer.py [STEPS]"""

import logging
import sys
import warnings

import torch

if sys.version_info >= (3, 11) and torch.__version__.startswith("1."):
    # Lightning imports PyTorch's sharding wherever it is available, but that of PyTorch 1.13 fails
    # under Python 3.11.
    torch.distributed.is_available = lambda: False
try:
    import lightning.pytorch as pytorch_lightning  # noqa: E402
except ImportError:
    import pytorch_lightning  # noqa: E402
from hypermile.integrations.lightning import HypermileCallback  # noqa: E402
from simulated_gpu import SimulatedGpu  # noqa: E402

warnings.filterwarnings("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
torch.set_num_threads(1)
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200


class Model(pytorch_lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 1)

    def training_step(self, batch, index):
        gpu.work()
        return self.layer(batch[0]).square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-2)


data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(400, 16)), batch_size=4)
with SimulatedGpu() as gpu:
    callback = HypermileCallback(observe_only=True)
    trainer = pytorch_lightning.Trainer(max_steps=steps, logger=False, enable_checkpointing=False, accelerator="cpu",
                                        enable_progress_bar=False, enable_model_summary=False, callbacks=[callback])
    trainer.fit(Model(), data)

print(callback.result)
print(f"{len(callback.result.windows)} windows, {callback.result.totals.get('iterations', 0):.0f} iterations")

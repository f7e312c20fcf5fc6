# SPDX-License-Identifier: Apache-2.0
"""A loop of Hugging Face accelerate, on one GPU or several. It writes what every window cost into a CSV file.

    python accelerate_loop.py [STEPS] [CSV]
    accelerate launch --num_processes 2 accelerate_loop.py      (with HYPERMILE_SIM_GPUS=rtx3080ti,rtx3080ti)"""

import itertools
import os
import sys

import hypermile
import torch
from accelerate import Accelerator
from hypermile.trackers import Csv
from simulated_gpu import SimulatedGpu

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
table = sys.argv[2] if len(sys.argv) > 2 else "energy.csv"
torch.set_num_threads(1)
accelerator = Accelerator()
if accelerator.num_processes > 1:  # the simulated GPUs also wait for each other
    os.environ["HYPERMILE_SIM_GROUP"] = f"{os.environ['MASTER_PORT']}:{accelerator.num_processes}"
model = torch.nn.Linear(64, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(256, 64)), batch_size=8)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
batches = itertools.islice(itertools.chain.from_iterable(itertools.repeat(loader)), steps)

with SimulatedGpu(gpu=accelerator.local_process_index) as gpu, hypermile.observe(track=[Csv(table)]) as run:
    for (inputs,) in batches:
        hypermile.step()
        gpu.work()
        optimizer.zero_grad()
        accelerator.backward(model(inputs).square().mean())
        optimizer.step()

accelerator.wait_for_everyone()
if accelerator.is_main_process:
    print(run.result)
    print(f"{len({window.gpu for window in run.result.windows})} GPUs, "
          f"{len({window.process for window in run.result.windows})} processes")

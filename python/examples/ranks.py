# SPDX-License-Identifier: Apache-2.0
"""Several ranks of one node as one job: torch.distributed with gloo, each rank on its own GPU.

    torchrun --nproc_per_node 2 ranks.py [STEPS]      (with HYPERMILE_SIM_GPUS=rtx3080ti,rtx3080ti)

The first rank starts the controller, which receives the ticks of all ranks."""

import os
import sys

import hypermile
import torch
import torch.distributed
from simulated_gpu import SimulatedGpu

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300
torch.set_num_threads(1)
torch.distributed.init_process_group("gloo")
rank, count = int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"])
os.environ["HYPERMILE_SIM_GROUP"] = f"{os.environ['MASTER_PORT']}:{count}"  # the simulated GPUs also wait for each other
model = torch.nn.Linear(64, 1)

with SimulatedGpu(gpu=rank) as gpu, hypermile.observe() as run:
    for _ in range(steps):
        hypermile.step()
        loss = model(torch.randn(8, 64)).square().mean()
        loss.backward()
        for parameter in model.parameters():
            torch.distributed.all_reduce(parameter.grad)
        gpu.work()

torch.distributed.barrier()
if rank == 0:
    print(run.result)
    print(f"{len({window.gpu for window in run.result.windows})} GPUs, "
          f"{len({window.process for window in run.result.windows})} processes")

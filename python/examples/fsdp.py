# SPDX-License-Identifier: Apache-2.0
"""A model whose parameters are sharded over ranks (FSDP), each rank on its own GPU. On the CPU it needs PyTorch 2.6.

    torchrun --nproc_per_node 2 fsdp.py [STEPS]      (with HYPERMILE_SIM_GPUS=rtx3080ti,rtx3080ti)"""

import os
import sys

import hypermile
import torch
import torch.distributed
from simulated_gpu import SimulatedGpu
from torch.distributed.fsdp import FullyShardedDataParallel

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300
torch.set_num_threads(1)
torch.manual_seed(1)
rank, count = int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"])
device = torch.device(f"cuda:{rank}" if torch.cuda.is_available() else "cpu")
torch.distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
os.environ["HYPERMILE_SIM_GROUP"] = f"{os.environ['MASTER_PORT']}:{count}"  # the simulated GPUs also wait for each other
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1))
model = FullyShardedDataParallel(model.to(device), device_id=device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

with SimulatedGpu(gpu=rank) as gpu, hypermile.observe() as run:
    for _ in range(steps):
        hypermile.step()
        gpu.work()
        optimizer.zero_grad()
        model(torch.randn(8, 64, device=device)).square().mean().backward()
        optimizer.step()

torch.distributed.barrier()
if rank == 0:
    print(run.result)
    print(f"{len({window.gpu for window in run.result.windows})} GPUs, "
          f"{len({window.process for window in run.result.windows})} processes")
torch.distributed.destroy_process_group()

# SPDX-License-Identifier: Apache-2.0
"""A rank of PyTorch DDP over gloo on simulated GPUs: each step runs on the rank's GPU of the NVML stand-in, then DDP's
gradients wait for all ranks of all nodes.

    ddp_rank.py HYPERMILE WORKLOAD STEPS"""

import datetime
import os
import subprocess
import sys
import time

import torch
import torch.distributed

hypermile, workload, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
# torchrun's variables, or Slurm's.
rank = int(os.environ.get("RANK", os.environ.get("SLURM_PROCID")))
ranks = int(os.environ.get("WORLD_SIZE", os.environ.get("SLURM_NTASKS")))
local = os.environ.get("LOCAL_RANK", os.environ.get("SLURM_LOCALID"))
torch.set_num_threads(1)
torch.distributed.init_process_group("gloo", rank=rank, world_size=ranks,
                                     timeout=datetime.timedelta(seconds=120))
gpu = subprocess.Popen([hypermile, "simulate", "--realtime", "--paced", "--seconds", "24h", "--workload", workload, "--gpu",
                        local], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
begin = time.monotonic()
for _ in range(steps):
    gpu.stdin.write("\n")
    if not gpu.stdout.readline():
        sys.exit("the simulated GPU is gone")
    optimizer.zero_grad()
    model(torch.randn(4, 16)).square().mean().backward()  # waits for the gradients of all ranks
    optimizer.step()
if rank == 0:
    print(f'{{"iterations": {steps}, "seconds": {time.monotonic() - begin:.3f}}}', flush=True)
torch.distributed.barrier()
gpu.stdin.close()
gpu.wait()

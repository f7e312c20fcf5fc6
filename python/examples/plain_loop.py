# SPDX-License-Identifier: Apache-2.0
"""Your own training loop with two lines of hypermile.

    python plain_loop.py [SECONDS]"""

import sys
import time

import hypermile
import torch
from simulated_gpu import SimulatedGpu

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 90
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

with SimulatedGpu() as gpu, hypermile.optimize(max_slowdown=0.05) as run:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        hypermile.step()
        inputs = torch.randn(32, 64)
        loss = (model(inputs) - inputs.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        gpu.work()

print(run.result)

# SPDX-License-Identifier: Apache-2.0
"""Clocks for the layers of a network in three steps: export the network, plan it, carry the plan out.

    python layer_plan.py [FOLDER]

The plan is for a large batch on an RTX 3080 Ti. The example itself runs a small batch of the same model on the CPU, so that
it needs only a simulated GPU. Prints one JSON document."""

import json
import subprocess
import sys
import time
from pathlib import Path

import hypermile
import torch
from hypermile.program import find_program

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
torch.manual_seed(1)
torch.set_num_threads(1)


def block(channels_in, channels_out):
    return [torch.nn.Conv2d(channels_in, channels_out, 3, padding=1), torch.nn.BatchNorm2d(channels_out),
            torch.nn.ReLU(inplace=True)]


model = torch.nn.Sequential(*block(3, 64), *block(64, 64), torch.nn.MaxPool2d(2), *block(64, 128), *block(128, 128),
                            torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

# Only shapes are needed here: computing this batch would take minutes.
hypermile.export_layers(model, torch.empty(512, 3, 224, 224), folder / "network.json", name="small", shapes_only=True)
planned = subprocess.run([str(find_program()), "plan", str(folder / "network.json"), "--gpu", "rtx3080ti", "--switch-latency",
                          "20ms", "--json"], check=True, capture_output=True, text=True)
(folder / "plan.json").write_text(planned.stdout, encoding="utf-8")
plan = hypermile.read_plan(folder / "plan.json")

images, labels = torch.randn(8, 3, 32, 32), torch.randint(0, 10, (8,))
end = time.monotonic() + 4
with hypermile.PlanExecutor(plan, model, optimizer) as executor:
    while time.monotonic() < end:
        hypermile.step()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    report = executor.report

print(json.dumps({"segments": len(plan.segments), "loss": loss.item(),
                  "report": {name: value for name, value in vars(report).items() if name != "verdict"}}))

# SPDX-License-Identifier: Apache-2.0
"""Exports the networks of python/tests/networks.py for docs/evidence/layerwise.md, without computing anything.

    python3 benchmarks/export_networks.py FOLDER
"""
import os
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python", "tests"))
# The package itself needs its extension, which exporting does not.
sys.modules["hypermile"] = types.ModuleType("hypermile")
sys.modules["hypermile"].__path__ = [os.path.join(HERE, "..", "python", "hypermile")]

try:
    import torch
except ImportError:
    sys.exit(1)
from hypermile.layers import export_layers  # noqa: E402
from networks import NETWORKS  # noqa: E402

for name in ("kaiming_uniform_", "uniform_", "normal_", "xavier_uniform_"):  # no value matters
    setattr(torch.nn.init, name, lambda tensor, *_, **__: tensor)
for name, make in NETWORKS.items():
    if not name.endswith("_fused"):  # PyTorch 1.13 has no fused attention
        model, inputs = make()
        export_layers(model, inputs, os.path.join(sys.argv[1], name + ".json"), name=name, shapes_only=True)

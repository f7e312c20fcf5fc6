# SPDX-License-Identifier: Apache-2.0
"""Writes the layers of a PyTorch module in the format that `hypermile plan` reads (docs/reference/network-file.md)."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

if TYPE_CHECKING:
    import torch

FORMAT = "hypermile-network-1"
_NAMED = 3  # parameters that a warning names


def export_layers(model: "torch.nn.Module", inputs: Any, path: "Optional[Union[str, os.PathLike[str]]]" = None, *,
                  name: Optional[str] = None, optimizer: str = "sgd", shapes_only: bool = False) -> Dict[str, Any]:
    """Runs one forward pass of `model` on `inputs` (a tensor, or a tuple of arguments, batch first) and returns the document,
    which is also written to `path`. `shapes_only` runs a copy without data, so that nothing is computed, however large the batch.

    Every operator that PyTorch runs is seen, inside and outside of modules. Parameters that no operator used are named in a
    warning."""
    from .trace import record, without_data

    arguments = inputs if isinstance(inputs, tuple) else (inputs,)
    if shapes_only:
        model, arguments = without_data(model, arguments)
    recording = record(model, arguments)
    batch = next((argument.shape[0] for argument in arguments if hasattr(argument, "shape") and len(argument.shape) > 0), 1)
    document = {"format": FORMAT, "name": name or type(model).__name__, "batch": int(batch), "optimizer": optimizer,
                "matrix_flops": recording.flops, "layers": [recorded.layer for recorded in recording.layers]}
    if not recording.layers:
        raise ValueError(f"{document['name']} has no layers: its forward pass ran no operator")
    if recording.unused:
        more = f" and {len(recording.unused) - _NAMED} more" if len(recording.unused) > _NAMED else ""
        warnings.warn(f"no exported layer uses the parameters {', '.join(recording.unused[:_NAMED])}{more}; a plan cannot include "
                      "what the forward pass did not run", stacklevel=2)
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
    return document


def record_layers(model: "torch.nn.Module",
                  arguments: Sequence[Any]) -> "List[Tuple[torch.nn.Module, Dict[str, Any]]]":
    """Modules that can run alone, in the order in which the forward pass calls them, one entry per call."""
    from .trace import record

    return [(recorded.module, recorded.layer) for recorded in record(model, arguments).layers if recorded.module is not None]

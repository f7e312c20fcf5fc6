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
    """Runs one forward pass of `model` on `inputs` (a tensor, a tuple of arguments, or a mapping of named ones, batch first) and
    returns the document, which is also written to `path`. `shapes_only` runs a copy without data, so that nothing is computed,
    however large the batch.

    Every operator that PyTorch runs is seen, inside and outside of modules. Parameters that no operator used, and operators of
    other packages whose operations nothing tells, are named in a warning."""
    from .tensors import arguments_of, batch_of, without_data
    from .trace import record

    arguments, named = arguments_of(inputs)
    if shapes_only:
        model, (arguments, named) = without_data(model, (arguments, named))
    try:
        recording = record(model, arguments, named)
    except RuntimeError as problem:
        if not shapes_only:
            raise
        first = (str(problem).splitlines() or [""])[0]
        raise ValueError(f"{name or type(model).__name__} does not run without data ({first}); leave shapes_only out") from problem
    document = {"format": FORMAT, "name": name or type(model).__name__, "batch": batch_of((arguments, named)), "optimizer": optimizer,
                "matrix_flops": recording.flops, "layers": [recorded.layer for recorded in recording.layers]}
    if not recording.layers:
        raise ValueError(f"{document['name']} has no layers: its forward pass ran no operator")
    if recording.unused:
        more = f" and {len(recording.unused) - _NAMED} more" if len(recording.unused) > _NAMED else ""
        warnings.warn(f"no exported layer uses the parameters {', '.join(recording.unused[:_NAMED])}{more}; a plan cannot include "
                      "what the forward pass did not run", stacklevel=2)
    if recording.foreign:
        warnings.warn(f"counted as element-wise: {', '.join(recording.foreign)}; register_flop_formula() of torch.utils.flop_counter "
                      "can say what they compute", stacklevel=2)
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
    return document


def record_layers(model: "torch.nn.Module", arguments: Sequence[Any],
                  named: Optional[Dict[str, Any]] = None) -> "List[Tuple[torch.nn.Module, Dict[str, Any]]]":
    """Modules that can run alone, in the order in which the forward pass calls them, one entry per call."""
    from .trace import record

    return [(recorded.module, recorded.layer) for recorded in record(model, arguments, named).layers if recorded.module is not None]

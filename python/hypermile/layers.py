# SPDX-License-Identifier: Apache-2.0
"""Writes the layers of a PyTorch module in the format that `hypermile plan` reads (docs/reference/network-file.md)."""

from __future__ import annotations

import copy
import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

if TYPE_CHECKING:
    import torch

FORMAT = "hypermile-network-1"


def export_layers(model: "torch.nn.Module", inputs: Any, path: "Optional[Union[str, os.PathLike[str]]]" = None, *,
                  name: Optional[str] = None, optimizer: str = "sgd", shapes_only: bool = False) -> Dict[str, Any]:
    """Runs one forward pass of `model` on `inputs` (a tensor, or a tuple of arguments, batch first) and returns the document,
    which is also written to `path`. `shapes_only` runs a copy without data, so that nothing is computed, however large the batch.

    Operations outside of modules (functions, operators) are not seen."""
    arguments = inputs if isinstance(inputs, tuple) else (inputs,)
    if shapes_only:
        model = copy.deepcopy(model).to("meta")
        arguments = tuple(_without_data(argument) for argument in arguments)
    layers = [layer for _, layer in record_layers(model, arguments)]
    batch = next((argument.shape[0] for argument in arguments if hasattr(argument, "shape") and len(argument.shape) > 0), 1)
    document = {"format": FORMAT, "name": name or type(model).__name__, "batch": int(batch), "optimizer": optimizer,
                "layers": layers}
    if not layers:
        raise ValueError(f"{document['name']} has no layers: its forward pass called no module without children")
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
    return document


def record_layers(model: "torch.nn.Module",
                  arguments: Sequence[Any]) -> "List[Tuple[torch.nn.Module, Dict[str, Any]]]":
    """Leaf modules in the order in which the forward pass calls them, one entry per call."""
    import torch

    calls: List[Tuple[torch.nn.Module, Dict[str, Any]]] = []
    handles = []

    def hook_for(path: str) -> Any:
        def hook(module: torch.nn.Module, inputs: Any, output: Any) -> None:
            layer = _describe(path, module, inputs, output)
            if layer is not None:
                calls.append((module, layer))

        return hook

    for path, module in model.named_modules():
        if not any(True for _ in module.children()):
            handles.append(module.register_forward_hook(hook_for(path)))
    try:
        with torch.no_grad():
            model(*arguments)
    finally:
        for handle in handles:
            handle.remove()
    return calls


def _describe(path: str, module: Any, inputs: Any, output: Any) -> Optional[Dict[str, Any]]:
    """None for a module without tensors as input or output."""
    shapes = [list(tensor.shape) for tensor in _tensors(inputs)]
    outputs = [list(tensor.shape) for tensor in _tensors(output)]
    if not shapes or not outputs:
        return None
    layer: Dict[str, Any] = {
        "name": path,
        "type": type(module).__name__,
        "in_shape": shapes[0],
        "out_shape": outputs[0],
        "params": sum(parameter.numel() for parameter in module.parameters(recurse=False)),
    }
    if len(shapes) > 1:
        layer["input_shapes"] = shapes
    for key in ("kernel_size", "stride"):
        extent = getattr(module, key, None)
        if extent is not None:
            layer[key] = [extent, extent] if isinstance(extent, int) else list(extent)
    for key in ("groups", "num_embeddings"):
        if isinstance(getattr(module, key, None), int):
            layer[key] = getattr(module, key)
    if hasattr(module, "bias") and not isinstance(module.bias, str):
        layer["bias"] = module.bias is not None and module.bias is not False
    return layer


def _tensors(value: Any) -> List[Any]:
    if hasattr(value, "shape") and hasattr(value, "numel"):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _tensors(item)]
    return []


def _without_data(argument: Any) -> Any:
    return argument.to("meta") if hasattr(argument, "to") else argument

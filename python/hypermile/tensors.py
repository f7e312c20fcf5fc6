# SPDX-License-Identifier: Apache-2.0
"""Tensors inside of arguments and results, and what of them lies in memory. trace.py, layers.py and profile.py use it."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any, Callable, Dict, List, Tuple

import torch


def arguments_of(inputs: Any) -> "Tuple[Tuple[Any, ...], Dict[str, Any]]":
    """Positional and named arguments of a call: `inputs` is a tensor, a tuple of arguments, or a mapping of named ones."""
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    return (inputs if isinstance(inputs, tuple) else (inputs,)), {}


def tensors_of(value: Any) -> List[Any]:
    if torch.is_tensor(value):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    elif _is_record(value):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_of(item)]
    return []


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of nested lists, tuples, dictionaries and data classes in which `change` made every leaf anew."""
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [mapped(item, change) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if _is_record(value):
        made = copy.copy(value)
        for field in dataclasses.fields(value):
            object.__setattr__(made, field.name, mapped(getattr(value, field.name), change))
        return made
    return change(value)


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def batch_of(value: Any) -> int:
    """The first extent of the first tensor that has one."""
    return next((int(tensor.shape[0]) for tensor in tensors_of(value) if tensor.dim() > 0), 1)


def shape_of(tensor: Any) -> List[int]:
    """A scalar counts as one value."""
    return list(tensor.shape) or [1]


def storage_of(tensor: Any) -> Any:
    """The same for all views of a tensor."""
    try:
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()  # before PyTorch 2
    except (NotImplementedError, RuntimeError):  # a sparse tensor has no storage
        return id(tensor)
    return storage._cdata


def offset_of(tensor: Any) -> int:
    return int(tensor.storage_offset()) if tensor.layout == torch.strided else 0


def elements_of(tensor: Any) -> int:
    """Values in memory: an expanded tensor has fewer than its shape says."""
    count = 1
    if tensor.layout != torch.strided:
        return int(tensor._nnz()) if hasattr(tensor, "_nnz") else int(tensor.numel())
    for extent, stride in zip(tensor.shape, tensor.stride()):
        if stride != 0:
            count *= extent
    return count


def without_nesting(value: Any) -> Any:
    """Nested tensors as what they hold: one tensor with the rows of all."""
    return mapped(value, lambda leaf: leaf.values() if torch.is_tensor(leaf) and leaf.is_nested else leaf)


def without_data(model: torch.nn.Module, arguments: Any) -> "Tuple[torch.nn.Module, Any]":
    """Copies of a model and its arguments on the meta device, where nothing is computed."""
    # Weights that two modules share stay one: a copy takes them from here.
    made: Dict[int, Any] = {id(p): torch.nn.Parameter(p.detach().to("meta"), p.requires_grad) for p in model.parameters()}
    made.update((id(b), b.detach().to("meta")) for b in model.buffers())
    moved = mapped(arguments, lambda leaf: leaf.to("meta") if hasattr(leaf, "to") else leaf)
    return copy.deepcopy(model, made).to("meta"), moved

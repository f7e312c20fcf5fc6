# SPDX-License-Identifier: Apache-2.0
"""Records what a forward pass runs: a call of a module that the planner knows is one layer, and every operator outside of
such modules is one, so that functional calls, attention, recurrent layers and custom modules are not lost.

Operators are seen below autograd (TorchDispatchMode), where PyTorch has resolved loops, branches and composite functions. Called
by export_layers() and profile_layers(). What cannot be seen is a kernel that is launched without PyTorch's dispatcher.
"""

from __future__ import annotations

import copy
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .operators import Rule, is_free, rule_of

# Modules whose cost the planner derives from shapes (src/plan/torch_layer.cpp). Others are recorded operator by operator.
KNOWN = frozenset((
    "Conv1d", "Conv2d", "Conv3d", "Linear", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm", "ReLU", "ReLU6", "LeakyReLU",
    "GELU", "SiLU", "Tanh", "Sigmoid", "Dropout", "Softmax", "LogSoftmax", "MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d", "Embedding",
    "Identity", "Flatten"))
# Operators whose cost the planner derives from their shape.
_BY_SHAPE = ("BatchNorm2d", "LayerNorm", "Softmax", "LogSoftmax", "ReLU", "ReLU6", "LeakyReLU", "GELU", "SiLU", "Sigmoid", "Tanh",
             "Dropout", "MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d")
_MERGE_FROM = 32  # operators of one call of a module from which equal ones become one layer with a count


class Operator(torch.nn.Module):
    """One operator with the arguments that it had, which runs alone on other tensors of the same shapes. Integers, such as
    indices, decide what an operator reads, so an operator with such an input does not run alone."""

    def __init__(self, function: Any, arguments: Sequence[Any], named: Dict[str, Any]) -> None:
        super().__init__()
        namespace, name = function._schema.name.split("::", 1)
        if name.endswith("_"):  # an in-place operator cannot change a leaf
            operators: Any = getattr(torch, "ops")
            function = getattr(getattr(getattr(operators, namespace), name.rstrip("_")), function._overloadname)
        self.function = function
        self.specs: List[Tuple[Tuple[int, ...], Any]] = []
        self.arguments = [self._placed(argument) for argument in arguments]
        self.named = {key: self._placed(argument) for key, argument in named.items()}

    def _placed(self, argument: Any) -> Any:
        if torch.is_tensor(argument):
            self.specs.append((tuple(argument.shape), argument.dtype))
            return _Place(len(self.specs) - 1)
        if isinstance(argument, (list, tuple)):
            return type(argument)(self._placed(item) for item in argument)
        return argument

    def forward(self, *tensors: Any) -> Any:
        def filled(argument: Any) -> Any:
            if isinstance(argument, _Place):
                return tensors[argument.index]
            if isinstance(argument, (list, tuple)):
                return type(argument)(filled(item) for item in argument)
            return argument

        return self.function(*map(filled, self.arguments), **{key: filled(value) for key, value in self.named.items()})

    def __deepcopy__(self, _memo: Any) -> "Operator":
        return self


@dataclass(frozen=True)
class _Place:
    index: int


@dataclass
class Recorded:
    """One layer. `module` runs it alone; None where nothing can."""

    layer: Dict[str, Any]
    module: Optional[torch.nn.Module]


@dataclass
class Recording:
    layers: List[Recorded] = field(default_factory=list)
    flops: float = 0  # of matrix products, convolutions and attention, as operators ran them
    unused: List[str] = field(default_factory=list)  # parameters that no layer used


@dataclass
class _Call:
    """A call of a module that is under way."""

    path: str
    module: torch.nn.Module
    known: bool
    first: int  # number of layers recorded before it
    trains: bool  # whether it has a parameter that no earlier layer used


class _Trace(TorchDispatchMode):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.recording = Recording()
        self.calls: List[_Call] = []
        self.parameters = {_storage(p): name for name, p in model.named_parameters()}
        self.sizes = {_storage(p): p.numel() for p in model.parameters()}
        self.trains = any(p.requires_grad for p in model.parameters())
        self.updated: set[Any] = set()  # storages whose update an earlier layer includes

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
        result = function(*arguments, **(named or {}))
        namespace, name = function._schema.name.split("::", 1)
        if self._see(namespace, name, list(arguments) + list((named or {}).values()), result):
            self.recording.layers[-1].module = _alone(function, arguments, named or {})
        return result

    def _see(self, namespace: str, name: str, arguments: Sequence[Any], result: Any) -> bool:
        """Whether the operator became a layer."""
        inputs, outputs = tensors_of(arguments), tensors_of(result)
        if not outputs or is_free(name):
            return False
        bare = name.rstrip("_")
        rule = rule_of(bare, arguments, outputs) if namespace == "aten" else Rule("elementwise", f"{namespace}::{name}")
        if rule.product is not None:
            self.recording.flops += rule.product.flops
        used = [key for key in map(_storage, inputs) if key in self.parameters]
        views = {_storage(t) for t in inputs}
        if not name.endswith("_") and all(_storage(t) in views for t in outputs) and rule.product is None:
            return False
        path = self.calls[-1].path if self.calls else ""
        self.recording.layers.append(Recorded(self._operator(path, bare, rule, inputs, outputs, used), None))
        return True

    def _operator(self, path: str, name: str, rule: Rule, inputs: List[Any], outputs: List[Any],
                  used: List[Any]) -> Dict[str, Any]:
        shapes = [list(t.shape) for t in inputs if t.is_floating_point()]
        layer: Dict[str, Any] = {"name": f"{path}:{name}", "type": rule.type, "in_shape": shape_of(inputs[0] if inputs else outputs[0]),
                                 "out_shape": shape_of(outputs[0])}
        fresh = [key for key in dict.fromkeys(used) if key not in self.updated]
        self.updated.update(fresh)
        params = sum(self.sizes[key] for key in dict.fromkeys(used))
        if params:
            layer["params"] = params
            if not fresh:
                layer["trains"] = False
        if self.trains and not any(t.requires_grad for t in inputs if _storage(t) not in self.parameters):
            layer["input_gradient"] = False
        same = len(shapes) < 2 or all(shape == layer["out_shape"] for shape in shapes)
        if rule.type in _BY_SHAPE or (rule.type == "Add" and len(shapes) == 2 and same and not used):
            return layer
        if rule.type == "Embedding":
            layer.update(in_shape=shape_of(inputs[1]), num_embeddings=int(inputs[0].shape[0]))
            return layer
        layer["op"] = rule.op
        if rule.product is not None:
            p = rule.product
            layer["product"] = [p.positions, p.inner, p.out, p.taps, p.count]
        if rule.flops is not None:
            layer["flops"] = rule.flops
        if rule.recompute:
            layer["recompute"] = rule.recompute
        read = {(_storage(t), _offset(t)): t for t in inputs if _storage(t) not in self.parameters}.values()
        layer["values_in"] = sum(_elements(t) for t in read if t.is_floating_point())
        layer["values_out"] = sum(_elements(t) for t in outputs if t.is_floating_point())
        layer["bytes"] = sum(_elements(t) * t.element_size() for t in [*read, *outputs] if not t.is_floating_point())
        return layer

    def enter(self, path: str, module: torch.nn.Module) -> None:
        leaf = not any(True for _ in module.children())
        trains = any(_storage(p) not in self.updated for p in module.parameters(recurse=False))
        self.calls.append(_Call(path, module, leaf and type(module).__name__ in KNOWN, len(self.recording.layers), trains))

    def leave(self, inputs: Any, output: Any) -> None:
        call = self.calls.pop()
        operators = self.recording.layers[call.first:]
        if not operators:
            return  # nothing ran, as in a Flatten, or a Dropout that is off
        layer = describe(call.path, call.module, inputs, output) if call.known else None
        if layer is None:
            if not any(True for _ in call.module.children()):
                self.recording.layers[call.first:] = _merged(operators)
            return
        if layer["params"] and not call.trains:
            layer["trains"] = False
        if self.trains and not any(t.requires_grad for t in tensors_of(inputs)):
            layer["input_gradient"] = False
        self.recording.layers[call.first:] = [Recorded(layer, call.module)]


def _alone(function: Any, arguments: Sequence[Any], named: Dict[str, Any]) -> Optional[Operator]:
    try:
        made = Operator(function, arguments, named)
    except (AttributeError, TypeError):  # no form of the operator leaves its input unchanged
        return None
    numbers = all(dtype.is_floating_point or dtype == torch.bool for _, dtype in made.specs)
    return made if made.specs and numbers else None


def record(model: torch.nn.Module, arguments: Sequence[Any]) -> Recording:
    """Runs the forward pass once. Buffers, such as running means, are afterwards what they were before."""
    trace = _Trace(model)
    with unchanged_buffers(model), _hooks(model, trace), torch.enable_grad(), trace:
        model(*arguments)
    used = trace.updated
    trace.recording.unused = [name for name, p in model.named_parameters() if _storage(p) not in used]
    return trace.recording


@contextmanager
def _hooks(model: torch.nn.Module, trace: _Trace) -> Iterator[None]:
    handles = []
    for path, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(lambda m, _inputs, path=path: trace.enter(path, m)))
        handles.append(module.register_forward_hook(lambda _m, inputs, output: trace.leave(inputs, output)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def unchanged_buffers(model: torch.nn.Module) -> Iterator[None]:
    before = [(b, b.detach().clone()) for b in model.buffers() if b.device.type != "meta"]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, value in before:
                buffer.copy_(value)


def describe(path: str, module: Any, inputs: Any, output: Any) -> Optional[Dict[str, Any]]:
    """A module as one layer; None for one without tensors as input or output."""
    shapes = [list(tensor.shape) for tensor in tensors_of(inputs)]
    outputs = [list(tensor.shape) for tensor in tensors_of(output)]
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


def _merged(layers: List[Recorded]) -> List[Recorded]:
    """Equal operators of one call of a module, such as the steps of a recurrent layer, as one layer with a count."""
    if len(layers) < _MERGE_FROM:
        return layers
    first: Dict[str, Recorded] = {}
    counts: Dict[str, int] = {}
    for recorded in layers:
        key = repr({k: v for k, v in recorded.layer.items() if k != "input_gradient"})
        if recorded.layer.get("params") and recorded.layer.get("trains", True):
            key += f" {len(first)}"  # each weight is updated once
        first.setdefault(key, recorded)
        counts[key] = counts.get(key, 0) + 1
        if recorded.layer.get("input_gradient", True):
            first[key].layer.pop("input_gradient", None)
    for key, recorded in first.items():
        if counts[key] > 1:
            recorded.layer["repeat"] = counts[key]
    return list(first.values())


def tensors_of(value: Any) -> List[Any]:
    if torch.is_tensor(value):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_of(item)]
    return []


def shape_of(tensor: Any) -> List[int]:
    """A scalar counts as one value."""
    return list(tensor.shape) or [1]


def _storage(tensor: Any) -> Any:
    """The same for all views of a tensor."""
    try:
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()  # before PyTorch 2
    except (NotImplementedError, RuntimeError):  # a sparse tensor has no storage
        return id(tensor)
    return storage._cdata


def _offset(tensor: Any) -> int:
    return int(tensor.storage_offset()) if tensor.layout == torch.strided else 0


def _elements(tensor: Any) -> int:
    """Values in memory: an expanded tensor has fewer than its shape says."""
    count = 1
    if tensor.layout != torch.strided:
        return int(tensor._nnz()) if hasattr(tensor, "_nnz") else int(tensor.numel())
    for extent, stride in zip(tensor.shape, tensor.stride()):
        if stride != 0:
            count *= extent
    return count


def without_data(model: torch.nn.Module, arguments: Tuple[Any, ...]) -> "Tuple[torch.nn.Module, Tuple[Any, ...]]":
    """Copies on the meta device, where nothing is computed."""
    return (copy.deepcopy(model).to("meta"),
            tuple(argument.to("meta") if hasattr(argument, "to") else argument for argument in arguments))

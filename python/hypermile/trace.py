# SPDX-License-Identifier: Apache-2.0
"""Records what a forward pass runs: a call of a module that the planner knows is one layer, and every operator outside of
such modules is one, so that functional calls, attention, recurrent layers and custom modules are not lost.

Operators are seen below autograd (TorchDispatchMode), where PyTorch has resolved loops, branches and composite functions. Called
by export_layers() and profile_layers(). What cannot be seen is a kernel that is launched without PyTorch's dispatcher.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import itertools
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import torch
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import TorchDispatchMode

from .operators import is_free, rule_of

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
    foreign: Dict[str, None] = field(default_factory=dict)  # operators of other packages whose operations nothing tells


@dataclass
class _Call:
    """A call of a module that is under way."""

    path: str
    module: torch.nn.Module
    known: bool
    first: int  # number of layers recorded before it
    parameters: Dict[str, bool]  # as _Trace.parameter_flags() says


class _Trace(TorchDispatchMode):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.recording = Recording()
        self.calls: List[_Call] = []
        self.spans: Dict[Any, List[Tuple[int, int]]] = {}  # of parameters in each storage: offset and size
        for p in model.parameters():
            self.spans.setdefault(_storage(p), []).append((_offset(p), p.numel()))
        self.learnt = {self.parameter(p) for p in model.parameters() if p.requires_grad}
        self.updated: set[Any] = set()  # parameters whose update an earlier layer includes
        self.functions: List[bool] = []  # of each torch.autograd.Function under way, whether its inputs have a gradient

    def parameter(self, tensor: Any) -> "Optional[Tuple[Any, int, int]]":
        """The parameter that a tensor is, or is a view of: storage, offset and size."""
        storage = _storage(tensor)
        for offset, size in self.spans.get(storage, ()):
            if offset <= _offset(tensor) < offset + size:
                return storage, offset, size
        return None

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
        result = function(*arguments, **(named or {}))
        if self._see(function, arguments, named or {}, result):
            self.recording.layers[-1].module = _alone(function, arguments, named or {})
        return result

    def _see(self, function: Any, arguments: Sequence[Any], named: Dict[str, Any], result: Any) -> bool:
        """Whether the operator became a layer."""
        namespace, name = function._schema.name.split("::", 1)
        inputs, outputs = tensors_of([arguments, named]), tensors_of(result)
        if is_free(name) or not any(t.numel() for t in outputs):
            return False
        bare = name.rstrip("_")
        rule = rule_of(function, arguments, named, result, outputs)
        if rule.foreign:
            self.recording.foreign[rule.type] = None
        if rule.product is not None:
            if not rule.product.flops:
                return False
            self.recording.flops += rule.product.flops
        used = [key for key in map(self.parameter, inputs) if key is not None]
        views = {_storage(t) for t in inputs}
        if not name.endswith("_") and all(_storage(t) in views for t in outputs) and rule.product is None:
            return False
        path = self.calls[-1].path if self.calls else ""
        self.recording.layers.append(Recorded(self._operator(path, bare, rule, inputs, outputs, used), None))
        return True

    def parameter_flags(self, keys: Sequence[Any]) -> Dict[str, bool]:
        """What is unusual about parameters that a layer uses: an earlier layer shares them, or they do not learn."""
        if keys and self.learnt and self.learnt.isdisjoint(keys):
            return {"trains": False, "weight_gradient": False}
        return {"trains": False} if keys and self.updated.issuperset(keys) else {}

    def has_gradient(self, inputs: Sequence[Any]) -> bool:
        """Whether a backward pass computes gradients of inputs. Inside of a torch.autograd.Function PyTorch does not say so."""
        return not self.learnt or any(self.functions[-1:]) or any(t.requires_grad and self.parameter(t) is None for t in inputs)

    def _operator(self, path: str, name: str, rule: Any, inputs: List[Any], outputs: List[Any],
                  used: List[Any]) -> Dict[str, Any]:
        inputs, outputs = ([t for t in tensors if t.numel()] for tensors in (inputs, outputs))
        shapes = [list(t.shape) for t in inputs if t.is_floating_point()]
        layer: Dict[str, Any] = {"name": f"{path}:{name}", "type": rule.type, "in_shape": shape_of(inputs[0] if inputs else outputs[0]),
                                 "out_shape": shape_of(outputs[0])}
        used = list(dict.fromkeys(used))
        params = sum(size for _, _, size in used)
        if params:
            layer.update(params=params, **self.parameter_flags(used))
            self.updated.update(used)
        if not self.has_gradient(inputs):
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
        read = {(_storage(t), _offset(t)): t for t in inputs if self.parameter(t) is None}.values()
        layer["values_in"] = sum(_elements(t) for t in read if t.is_floating_point())
        layer["values_out"] = sum(_elements(t) for t in outputs if t.is_floating_point())
        layer["bytes"] = sum(_elements(t) * t.element_size() for t in [*read, *outputs] if not t.is_floating_point())
        return layer

    def enter(self, path: str, module: torch.nn.Module) -> None:
        flags = self.parameter_flags([self.parameter(p) for p in module.parameters(recurse=False)]) if _is_known(module) else {}
        self.calls.append(_Call(path, module, _is_known(module), len(self.recording.layers), flags))

    def leave(self, inputs: Any, output: Any) -> None:
        call = self.calls.pop()
        operators = self.recording.layers[call.first:]
        if not operators:
            return  # nothing ran, as in a Flatten, or a Dropout that is off
        alone = call.known and not any(self.parameter(t) is not None for t in tensors_of(inputs))
        layer = describe(call.path, call.module, inputs, output) if alone else None
        if layer is None:
            if not any(True for _ in call.module.children()):
                self.recording.layers[call.first:] = _merged(operators)
            return
        layer.update(call.parameters)
        if not self.has_gradient(tensors_of(inputs)):
            layer["input_gradient"] = False
        self.recording.layers[call.first:] = [Recorded(layer, call.module)]


def _is_known(module: torch.nn.Module) -> bool:
    """Whether the module itself is PyTorch's and computes with its own weights, which a weight norm for example replaces."""
    name = type(module).__name__
    return (name in KNOWN and type(module) is getattr(torch.nn, name, None) and not any(True for _ in module.children())
            and set(dict(module.named_parameters(recurse=False))) <= {"weight", "bias"})


def _alone(function: Any, arguments: Sequence[Any], named: Dict[str, Any]) -> Optional[Operator]:
    try:
        made = Operator(function, arguments, named)
    except (AttributeError, TypeError):  # no form of the operator leaves its input unchanged
        return None
    numbers = all(dtype.is_floating_point or dtype == torch.bool for _, dtype in made.specs)
    return made if made.specs and numbers else None


def arguments_of(inputs: Any) -> "Tuple[Tuple[Any, ...], Dict[str, Any]]":
    """Positional and named arguments of a call: `inputs` is a tensor, a tuple of arguments, or a mapping of named ones."""
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    return (inputs if isinstance(inputs, tuple) else (inputs,)), {}


def record(model: torch.nn.Module, arguments: Sequence[Any], named: Optional[Dict[str, Any]] = None) -> Recording:
    """Runs the forward pass once. Buffers, such as running means, are afterwards what they were before."""
    named = named or {}
    if any(is_lazy(p) for p in itertools.chain(model.parameters(), model.buffers())):
        with torch.no_grad():
            model(*arguments, **named)  # a lazy module gets its shapes from its first call
    if "torch.utils.checkpoint" in sys.modules and hasattr(torch, "_disable_dynamo"):
        importlib.import_module("torch._dynamo")  # the first checkpoint imports it, which runs operators
    trace = _Trace(model)
    with unchanged_buffers(model), _hooks(model, trace), _functions(trace), _no_fast_path(), torch.enable_grad(), trace:
        model(*arguments, **named)
    trace.recording.unused = [name for name, p in model.named_parameters() if trace.parameter(p) not in trace.updated]
    return trace.recording


@contextmanager
def _hooks(model: torch.nn.Module, trace: _Trace) -> Iterator[None]:
    handles = []
    for path, module in model.named_modules():
        if isinstance(module, getattr(torch.jit, "ScriptModule")):
            continue  # takes no hooks; its operators are seen
        handles.append(module.register_forward_pre_hook(lambda m, _inputs, path=path: trace.enter(path, m)))
        handles.append(module.register_forward_hook(lambda _m, inputs, output: trace.leave(inputs, output)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _functions(trace: _Trace) -> Iterator[None]:
    """Tells the trace of calls of torch.autograd.Function, such as a checkpoint: inside of one, gradients are switched off."""
    kind = torch.autograd.Function
    own = kind.__dict__.get("apply")  # PyTorch 1.13 inherits it
    apply: Any = own or inspect.getattr_static(kind, "apply")

    def told(cls: "type[Any]", /, *arguments: Any, **named: Any) -> Any:
        trace.functions.append(bool(trace.learnt) and trace.has_gradient(tensors_of([arguments, named])))
        try:
            return apply.__get__(None, cls)(*arguments, **named)
        finally:
            trace.functions.pop()

    setattr(kind, "apply", classmethod(told))
    try:
        yield
    finally:
        if own is None:
            delattr(kind, "apply")
        else:
            setattr(kind, "apply", own)


@contextmanager
def _no_fast_path() -> Iterator[None]:
    """Makes frozen transformers run operator by operator, where PyTorch would run a whole layer as one (PyTorch 2.3 or later)."""
    switches: Any = getattr(torch.backends, "mha", None)
    if switches is None:
        yield
        return
    before = switches.get_fastpath_enabled()
    switches.set_fastpath_enabled(False)
    try:
        yield
    finally:
        switches.set_fastpath_enabled(before)


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


def batch_of(value: Any) -> int:
    """The first extent of the first tensor that has one."""
    return next((int(tensor.shape[0]) for tensor in tensors_of(value) if tensor.dim() > 0), 1)


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


def without_data(model: torch.nn.Module, arguments: Any) -> "Tuple[torch.nn.Module, Any]":
    """Copies of a model and its arguments on the meta device, where nothing is computed."""
    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: moved(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(moved(item) for item in value)
        return value.to("meta") if hasattr(value, "to") else value

    # Weights that two modules share stay one: a copy takes them from here.
    made: Dict[int, Any] = {id(p): torch.nn.Parameter(p.detach().to("meta"), p.requires_grad) for p in model.parameters()}
    made.update((id(b), b.detach().to("meta")) for b in model.buffers())
    return copy.deepcopy(model, made).to("meta"), moved(arguments)

# SPDX-License-Identifier: Apache-2.0
"""Records what a forward pass runs: a call of a module that the planner knows is one layer, and every operator outside of
such modules is one, so that functional calls, attention, recurrent layers and custom modules are not lost.

Operators are seen below autograd (TorchDispatchMode), where PyTorch has resolved loops, branches and composite functions. Called
by export_layers() and profile_layers(). What cannot be seen is a kernel that is launched without PyTorch's dispatcher.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import torch
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import TorchDispatchMode

from .operators import Rule, attention_rule, is_composite, is_free, rule_of
from .tensors import elements_of, mapped, offset_of, shape_of, storage_of, tensors_of, without_nesting

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
        self.written: List[int] = []  # of these, which it changes, as a batch norm its running mean; they cannot be leaves
        self.arguments: List[Any] = []
        for argument, told in zip(arguments, function._schema.arguments):
            first = len(self.specs)
            self.arguments.append(mapped(argument, self._placed))
            written = told.alias_info is not None and told.alias_info.is_write
            if written or told.name.startswith("running_"):  # PyTorch does not say it of every batch norm
                self.written.extend(range(first, len(self.specs)))
        self.named: Dict[str, Any] = mapped(named, self._placed)

    def _placed(self, argument: Any) -> Any:
        if torch.is_tensor(argument):
            self.specs.append((tuple(argument.shape), argument.dtype))
            return _Place(len(self.specs) - 1)
        return argument

    def forward(self, *tensors: Any) -> Any:
        def filled(argument: Any) -> Any:
            return tensors[argument.index] if isinstance(argument, _Place) else argument

        return self.function(*mapped(self.arguments, filled), **mapped(self.named, filled))

    def __deepcopy__(self, _memo: Any) -> "Operator":
        return self


class _Place:
    def __init__(self, index: int) -> None:
        self.index = index


@dataclass
class Recorded:
    """One layer. `module` runs it alone; None where nothing can."""

    layer: Dict[str, Any]
    module: Optional[torch.nn.Module]
    uses: List[Any] = field(default_factory=list)  # parameters, as _Trace.parameter() names them
    nodes: List[Any] = field(default_factory=list)  # of autograd, at its outputs
    judged: bool = True  # False where autograd does not tell: in a torch.autograd.Function, and for a change in place


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


class _Trace(TorchDispatchMode):
    supports_higher_order_operators = True  # PyTorch 2.7 or later asks; before, _tell_higher_order() says so

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.recording = Recording()
        self.calls: List[_Call] = []
        self.spans: Dict[Any, List[Tuple[int, int]]] = {}  # of parameters in each storage: offset and size
        for p in model.parameters():
            self.spans.setdefault(storage_of(p), []).append((offset_of(p), p.numel()))
        self.wide = {self.parameter(p) for p in model.parameters() if p.dim() > 1}  # whose gradients are matrix products
        self.learnt = {self.parameter(p) for p in model.parameters() if p.requires_grad}
        self.used: set[Any] = set()
        self.functions: List[bool] = []  # of each torch.autograd.Function under way, whether its inputs have a gradient
        self.latest: Optional[Tuple[Recorded, List[Any], bool]] = None  # a layer whose outputs autograd is about to see
        self.leaves: List[Tuple[int, int]] = []  # layers of calls of modules without children

    def parameter(self, tensor: Any) -> "Optional[Tuple[Any, int, int]]":
        """The parameter that a tensor is, or is a view of: storage, offset and size."""
        storage = storage_of(tensor)
        for offset, size in self.spans.get(storage, ()):
            if offset <= offset_of(tensor) < offset + size:
                return storage, offset, size
        return None

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
        named = named or {}
        self._settle()
        if not hasattr(function, "_schema"):
            return self.higher(function, arguments, named)
        if is_composite(function):  # in inference mode autograd has not resolved it
            with self:
                return function.decompose(*arguments, **named)
        result = function(*arguments, **named)
        if self._see(function, arguments, named, result):
            self.recording.layers[-1].module = _alone(function, arguments, named)
        return result

    def higher(self, function: Any, arguments: Sequence[Any], named: Dict[str, Any]) -> Any:
        """An operator that takes functions, as flex_attention() does."""
        name = getattr(function, "__name__", str(function))
        if name == "cond":
            taken, yes, no, operands = arguments[:4]
            with self:
                return (yes if taken else no)(*operands)
        result = function(*arguments, **named)
        attention = name == "flex_attention"
        rule = attention_rule(*arguments[:3]) if attention else Rule("elementwise", f"higher_order::{name}", foreign=True)
        self._add(name, rule, tensors_of(arguments[:3] if attention else [arguments, named]), tensors_of(result))
        return result

    def _settle(self) -> None:
        """Notes where autograd continues from the latest layer, which it says after the operator has run."""
        if self.latest is not None:
            self._judge(*self.latest)
        self.latest = None

    def _judge(self, recorded: Recorded, outputs: List[Any], gradients: bool) -> None:
        """`gradients` says whether they were switched on. Where weights that learn then have none, autograd does not show them: in a
        function that vmap() or PyTorch's compilers transformed."""
        recorded.nodes = [t.grad_fn for t in outputs if t.grad_fn is not None]
        hidden = gradients and not recorded.nodes and not self.learnt.isdisjoint(recorded.uses)
        recorded.judged = recorded.judged and not hidden

    def _see(self, function: Any, arguments: Sequence[Any], named: Dict[str, Any], result: Any) -> bool:
        """Whether the operator became a layer."""
        namespace, name = function._schema.name.split("::", 1)
        inputs, outputs = tensors_of([arguments, named]), tensors_of(result)
        if is_free(namespace, name) or not any(t.numel() for t in outputs):
            return False
        nested = any(t.is_nested for t in [*inputs, *outputs])
        if nested:
            arguments, named, result = without_nesting([list(arguments), named, result])
            inputs, outputs = tensors_of([arguments, named]), tensors_of(result)
        rule = rule_of(function, arguments, named, result, outputs, nested)
        views = {storage_of(t) for t in inputs}
        if not name.endswith("_") and all(storage_of(t) in views for t in outputs) and rule.product is None:
            return False
        return self._add(name, rule, inputs, outputs) and not nested

    def _add(self, name: str, rule: Rule, inputs: List[Any], outputs: List[Any]) -> bool:
        if rule.foreign:
            self.recording.foreign[rule.type] = None
        if rule.product is not None:
            if not rule.product.flops:
                return False
            self.recording.flops += rule.product.flops
        uses = list(dict.fromkeys(key for key in map(self.parameter, inputs) if key is not None))
        self.used.update(uses)
        path = self.calls[-1].path if self.calls else ""
        layer = self._operator(path, name.rstrip("_"), rule, inputs, outputs)
        recorded = Recorded(layer, None, uses, judged=not self.functions and not name.endswith("_"))
        self.recording.layers.append(recorded)
        self.latest = recorded, outputs, torch.is_grad_enabled()
        return True

    def has_gradient(self, inputs: Sequence[Any]) -> bool:
        """Whether a backward pass computes gradients of inputs. Inside of a torch.autograd.Function PyTorch does not say so."""
        return not self.learnt or any(self.functions[-1:]) or any(t.requires_grad and self.parameter(t) is None for t in inputs)

    def _operator(self, path: str, name: str, rule: Rule, inputs: List[Any], outputs: List[Any]) -> Dict[str, Any]:
        main = inputs[rule.main] if rule.main < len(inputs) and inputs[rule.main].numel() else None
        inputs, outputs = ([t for t in tensors if t.numel()] for tensors in (inputs, outputs))
        shapes = [list(t.shape) for t in inputs if t.is_floating_point()]
        main = main if main is not None else next(iter([*inputs, *outputs]))
        layer: Dict[str, Any] = {"name": f"{path}:{name}", "type": rule.type, "in_shape": shape_of(main), "out_shape": shape_of(outputs[0])}
        weights = {(self.parameter(t), offset_of(t)): t for t in inputs if self.parameter(t) is not None}
        params = sum(min(elements_of(t), key[2]) for (key, _), t in weights.items() if key is not None)
        if params:
            layer["params"] = params
        if not self.has_gradient(inputs):
            layer["input_gradient"] = False
        same = len(shapes) < 2 or all(shape == layer["out_shape"] for shape in shapes)
        if rule.type in _BY_SHAPE or (rule.type == "Add" and len(shapes) == 2 and same and not weights):
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
        read = {(storage_of(t), offset_of(t)): t for t in inputs if self.parameter(t) is None}.values()
        layer["values_in"] = sum(elements_of(t) for t in read if t.is_floating_point())
        layer["values_out"] = sum(elements_of(t) for t in outputs if t.is_floating_point())
        layer["bytes"] = sum(elements_of(t) * t.element_size() for t in [*read, *outputs] if not t.is_floating_point())
        return layer

    def enter(self, path: str, module: torch.nn.Module) -> None:
        self._settle()
        self.calls.append(_Call(path, module, _is_known(module), len(self.recording.layers)))

    def leave(self, inputs: Any, output: Any) -> None:
        self._settle()
        call = self.calls.pop()
        if len(self.recording.layers) == call.first:
            return  # nothing ran, as in a Flatten, or a Dropout that is off
        alone = call.known and not any(self.parameter(t) is not None for t in tensors_of(inputs))
        layer = describe(call.path, call.module, inputs, output) if alone else None
        if layer is None:
            if not any(True for _ in call.module.children()):
                self.leaves.append((call.first, len(self.recording.layers)))
            return
        if not self.has_gradient(tensors_of(inputs)):
            layer["input_gradient"] = False
        uses = [self.parameter(p) for p in call.module.parameters(recurse=False) if p.numel()]
        self.used.update(uses)
        recorded = Recorded(layer, call.module, uses, judged=not self.functions)
        self._judge(recorded, tensors_of(output), torch.is_grad_enabled())
        self.recording.layers[call.first:] = [recorded]

    def finish(self, output: Any) -> Recording:
        """Says of each layer whether it learns, and joins equal operators."""
        self._settle()
        alive = _reached([t.grad_fn for t in tensors_of(output) if t.grad_fn is not None]) if self.learnt else None
        updated: set[Any] = set()
        for recorded in self.recording.layers:
            dead = alive is not None and recorded.judged and alive.isdisjoint(recorded.nodes)
            recorded.layer.update(self._learning(recorded, dead, updated))
            recorded.nodes = []
        for first, end in reversed(self.leaves):
            self.recording.layers[first:end] = _merged(self.recording.layers[first:end])
        return self.recording

    def _learning(self, recorded: Recorded, dead: bool, updated: "set[Any]") -> Dict[str, Any]:
        """What is unusual about how a layer learns. `updated` are parameters whose update an earlier layer includes."""
        flags: Dict[str, Any] = {"input_gradient": False} if dead else {}
        if not recorded.uses:
            return flags
        learning = [] if dead else [key for key in recorded.uses if not self.learnt or key in self.learnt]
        weights = self.wide.intersection(recorded.uses) or set(recorded.uses)
        if weights.isdisjoint(learning):
            flags["weight_gradient"] = False
        fresh = sum(size for key in learning if key not in updated for size in key[2:])
        updated.update(learning)
        if fresh == 0:
            flags["trains"] = False
        elif fresh != recorded.layer["params"]:
            flags["updated"] = fresh
        return flags


def _reached(nodes: List[Any]) -> "Optional[set[Any]]":
    """The nodes that a backward pass from `nodes` runs; None without any, where nothing says what a loss will use."""
    found = set(nodes)
    while nodes:
        nodes = [after for node in nodes for after, _ in node.next_functions if after is not None and after not in found]
        found.update(nodes)
    return found or None


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


def record(model: torch.nn.Module, arguments: Sequence[Any], named: Optional[Dict[str, Any]] = None) -> Recording:
    """Runs the forward pass once. Buffers, such as running means, are afterwards what they were before."""
    named = named or {}
    if any(t.is_nested and t.layout == torch.strided for t in tensors_of([list(arguments), named])):
        raise ValueError("nested tensors in strided layout are not supported; give them layout=torch.jagged, or pad them")
    if any(is_lazy(p) for p in itertools.chain(model.parameters(), model.buffers())):
        with torch.no_grad():
            model(*arguments, **named)  # a lazy module gets its shapes from its first call
    if "torch.utils.checkpoint" in sys.modules and hasattr(torch, "_disable_dynamo"):
        importlib.import_module("torch._dynamo")  # the first checkpoint imports it, which runs operators
    with torch.inference_mode(False):
        plain, plain_named = mapped((tuple(arguments), named), _outside_of_inference)
        trace = _Trace(model)
        _tell_higher_order()
        with unchanged_buffers(model), _hooks(model, trace), _functions(trace), _no_fast_path(model), torch.enable_grad(), trace:
            output = model(*plain, **plain_named)
        trace.recording.unused = [name for name, p in model.named_parameters() if trace.parameter(p) not in trace.used]
        return trace.finish(output)


def _outside_of_inference(leaf: Any) -> Any:
    return leaf.clone() if torch.is_tensor(leaf) and leaf.is_inference() else leaf


def _tell_higher_order() -> None:
    """PyTorch 2.5 and 2.6 want to know of each operator that takes functions what a mode does with it."""
    operators: Dict[str, Any] = getattr(getattr(torch, "_ops"), "_higher_order_ops", {})
    for operator in operators.values():
        if _Trace not in getattr(operator, "python_key_table", (_Trace,)):
            operator.py_impl(_Trace)(lambda mode, *arguments, operator=operator, **named: mode.higher(operator, arguments, named))


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
def _no_fast_path(model: torch.nn.Module) -> Iterator[None]:
    """Makes frozen transformers run operator by operator, where PyTorch would run a whole layer as one, or on nested tensors."""
    switches: Any = getattr(torch.backends, "mha", None)  # PyTorch 2.3 or later
    encoders: List[Any] = [m for m in model.modules() if getattr(m, "enable_nested_tensor", False)]
    before = switches is not None and switches.get_fastpath_enabled()
    try:
        if before:
            switches.set_fastpath_enabled(False)
        for encoder in encoders:
            encoder.enable_nested_tensor = False
        yield
    finally:
        if before:
            switches.set_fastpath_enabled(True)
        for encoder in encoders:
            encoder.enable_nested_tensor = True


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
    kind = type(module).__name__
    shapes, outputs = ([list(tensor.shape) for tensor in tensors_of(without_nesting(value))] for value in (inputs, output))
    if not shapes or not outputs:
        return None
    if kind.startswith("Conv") or "Pool" in kind:  # a single image, without a batch
        shapes, outputs = ([[1, *shape] if len(shape) == 1 + int(kind[-2]) else shape for shape in all] for all in (shapes, outputs))
    layer: Dict[str, Any] = {
        "name": path,
        "type": kind,
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

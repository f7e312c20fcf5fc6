# SPDX-License-Identifier: Apache-2.0
"""What one ATen operator computes: its class, its matrix product if it is one, and the values that it moves.

The rules for products are those of torch.utils.flop_counter, which PyTorch 1.13 does not have. trace.py calls this for every
operator that a forward pass runs. An operator without a rule here counts as element-wise.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, List, Optional, Sequence

import torch

_FACTORIES = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_memory_format")


@dataclass(frozen=True)
class Product:
    """`count` products out[positions × out] += in[positions × in·taps] · weights, as in the planner."""

    positions: float
    inner: float
    out: float
    taps: float = 1
    count: float = 1

    @property
    def flops(self) -> float:
        return 2 * self.count * self.positions * self.inner * self.out * self.taps


@dataclass(frozen=True)
class Rule:
    """`op` is the planner's class. `type` is the PyTorch module that does the same, or the operator's name. `recompute` is the share
    of the forward operations that the backward pass repeats."""

    op: str
    type: str
    product: Optional[Product] = None
    recompute: float = 0
    flops: Optional[float] = None  # where there is no product; without it, one operation for each value of the output
    foreign: bool = False  # without a formula for what it computes: it counts as element-wise
    main: int = 0  # which of its tensors is its input; before it come those that are added to the result


def is_free(namespace: str, name: str) -> bool:
    """Whether an operator only reserves memory, or only marks a place for a profiler."""
    return name in _FACTORIES or namespace == "profiler"


@functools.lru_cache(maxsize=None)
def is_composite(function: Any) -> bool:
    """Whether an operator without a rule is made of others, which the dispatcher shows instead."""
    namespace, name = function._schema.name.split("::", 1)
    if namespace == "aten" and (name in _MATRIX or name in _NAMED):
        return False
    known: Any = getattr(getattr(torch, "_C"), "_dispatch_has_kernel_for_dispatch_key")
    try:
        return bool(known(function.name(), "CompositeImplicitAutograd"))
    except RuntimeError:  # of PyTorch's compilers, and unknown to the dispatcher
        return False


def rule_of(function: Any, arguments: Sequence[Any], named: Dict[str, Any], result: Any, outputs: Sequence[Any],
            nested: bool = False) -> Rule:
    """`function` is an operator of torch.ops, and `outputs` are the tensors in its result. `nested` says that tensors are what
    nested ones hold, whose products are known only with a weight."""
    namespace, name = function._schema.name.split("::", 1)
    name = name.rstrip("_")  # of an in-place operator
    own = namespace == "aten"
    maker = _MATRIX.get(name) if own else None
    if nested and name in ("matmul", "bmm"):
        return Rule("elementwise", f"nested {name}", foreign=True)
    if maker is not None:
        return maker([*arguments, *named.values()], outputs)
    if own and name in _NAMED:
        op, kind = _NAMED[name]
        return Rule(op, kind)
    kind = name if own else f"{namespace}::{name}"
    flops = _registered_flops(function, arguments, named, result)
    if flops:
        side = (flops / 2) ** (1 / 3)  # the product's shape is not known
        return Rule("matmul", kind, Product(side, side, side))
    return Rule("elementwise", kind, foreign=not own and flops is None)


def _registered_flops(function: Any, arguments: Sequence[Any], named: Dict[str, Any], result: Any) -> Optional[float]:
    """Operations by the formulas of PyTorch 2, to which packages add their own kernels (register_flop_formula)."""
    try:
        from torch.utils.flop_counter import flop_registry
    except ImportError:
        return None
    formula = flop_registry.get(function._overloadpacket)
    return None if formula is None else float(formula(*arguments, **named, out_val=result))


def _shape(tensor: Any) -> List[int]:
    return list(tensor.shape)


def _mm(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    if not arguments[0].layout == torch.strided:
        return Rule("gather", "SparseMatMul", flops=2 * arguments[0]._nnz() * arguments[1].shape[-1])
    (rows, inner), columns = _shape(arguments[0]), arguments[1].shape[-1]
    return Rule("linear", "Linear", Product(rows, inner, columns))


def _linear(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    data, (out, inner) = arguments[0], _shape(arguments[1])
    return Rule("linear", "Linear", Product(data.numel() / inner, inner, out))


def _bmm(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    (count, rows, inner), columns = _shape(arguments[0]), arguments[1].shape[-1]
    return Rule("matmul", "MatMul", Product(rows, inner, columns, 1, count))


def _vector(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    matrix = arguments[0]
    return Rule("matmul", "MatMul", Product(max(1, matrix.numel() // matrix.shape[-1]), matrix.shape[-1], 1))


def _after_first(maker: "Callable[[Sequence[Any], Sequence[Any]], Rule]") -> "Callable[[Sequence[Any], Sequence[Any]], Rule]":
    """For operators whose first argument is added to the product."""
    return lambda arguments, outputs: replace(maker(arguments[1:], outputs), main=1)


def _convolution(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    data, weight = arguments[0], arguments[1]
    transposed = bool(arguments[6]) if len(arguments) > 6 and isinstance(arguments[6], bool) else False
    taps = math.prod(weight.shape[2:])
    positions = math.prod((data if transposed else outputs[0]).shape[2:]) * data.shape[0]
    # The weights are [out, in / groups, taps…], and [in, out / groups, taps…] where transposed.
    inner, out = (weight.shape[0], weight.shape[1]) if transposed else (weight.shape[1], weight.shape[0])
    groups = max(1, data.shape[1] // inner) if not transposed else max(1, outputs[0].shape[1] // out)
    name = f"ConvTranspose{len(weight.shape) - 2}d" if transposed else f"Conv{len(weight.shape) - 2}d"
    if transposed:
        return Rule("conv", name, Product(positions, inner / groups, out, taps, groups))
    return Rule("conv", name, Product(positions, inner, out / groups, taps, groups))


def _convolution_backward(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    """In a forward pass that takes gradients itself: as many operations for the input's and the weights' as forward."""
    gradient, data, weight, _bias, *window = arguments[:8]
    forward = _convolution([data, weight, None, *window], [gradient])
    wanted = sum(arguments[10][:2])
    assert forward.product is not None
    return replace(forward, type="ConvBackward", product=replace(forward.product, count=forward.product.count * wanted))


def attention_rule(query: Any, key: Any, value: Any) -> Rule:
    """Scores and weighted sum in one kernel, whose backward pass computes the scores again. Keys name its shape, because the
    result has that of the queries."""
    count = math.prod(query.shape[:-2])
    width = (query.shape[-1] + value.shape[-1]) / 2
    return Rule("matmul", "Attention", Product(query.shape[-2], width, key.shape[-2], 1, 2 * count), recompute=0.5, main=1)


def _attention(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    return attention_rule(*arguments[:3])


def _distances(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    """Euclidean distances by a product, of rows that have their norms and a one appended."""
    (*batch, rows, inner), columns = _shape(arguments[0]), arguments[1].shape[-2]
    return Rule("matmul", "EuclideanDist", Product(rows, inner + 2, columns, 1, math.prod(batch)))


def _differences(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    """Distances pair by pair: a difference, a power and an addition for each value."""
    return Rule("elementwise", "PairwiseDist", flops=3 * outputs[0].numel() * arguments[0].shape[-1])


def _trilinear(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    """torch.nn.Bilinear: a row of the first input, a matrix for each output, a row of the second input."""
    rows, inner = arguments[0].shape[0], arguments[0].shape[-2]
    return Rule("linear", "Bilinear", Product(rows, inner, arguments[1].numel() / inner))


def _whole_layer(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    """A frozen attention or transformer layer in one call, as PyTorch 1.13 runs it: all weights, and the attention."""
    batch, tokens, width = arguments[0].shape
    weights = sum(t.numel() for t in arguments[1:] if torch.is_tensor(t) and t.dim() == 2 and t.is_floating_point())
    return Rule("linear", "TransformerLayer", Product(batch * tokens, 1, weights + 2 * tokens * width))


def _layer_of_mkldnn(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    steps = math.prod(arguments[0].shape[:-1])
    weights = sum(t.numel() for t in arguments[1:3])
    return Rule("linear", "RNN", Product(steps, 1, weights))


def _rnn_of_cudnn(arguments: Sequence[Any], outputs: Sequence[Any]) -> Rule:
    steps = math.prod(arguments[0].shape[:-1])
    weights = sum(t.numel() for t in arguments[1] if t.dim() == 2)
    return Rule("linear", "RNN", Product(steps, 1, weights))


_MATRIX: "Dict[str, Callable[[Sequence[Any], Sequence[Any]], Rule]]" = {
    "linear": _linear, "mm": _mm, "addmm": _after_first(_mm), "_addmm_activation": _after_first(_mm), "_int_mm": _mm,
    "_scaled_mm": _mm, "bmm": _bmm,
    "baddbmm": _after_first(_bmm), "addbmm": _after_first(_bmm), "_trilinear": _trilinear, "mv": _vector,
    "addmv": _after_first(_vector), "dot": _vector, "convolution": _convolution, "_convolution": _convolution,
    "convolution_overrideable": _convolution, "cudnn_convolution": _convolution, "mkldnn_convolution": _convolution,
    "conv2d": _convolution, "convolution_backward": _convolution_backward, "_euclidean_dist": _distances,
    "_cdist_forward": _differences, "_scaled_dot_product_flash_attention": _attention,
    "_scaled_dot_product_flash_attention_for_cpu": _attention, "_scaled_dot_product_efficient_attention": _attention,
    "_scaled_dot_product_cudnn_attention": _attention, "_scaled_dot_product_fused_attention_overrideable": _attention,
    "_transformer_encoder_layer_fwd": _whole_layer, "mkldnn_rnn_layer": _layer_of_mkldnn,
    "_cudnn_rnn": _rnn_of_cudnn, "_sparse_mm": _mm, "_sparse_addmm": _after_first(_mm),
}

# The planner's class and the type by which it knows the cost.
_NAMED = {
    **{name: ("norm", "BatchNorm2d") for name in (
        "native_batch_norm", "cudnn_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training",
        "_batch_norm_with_update", "_batch_norm_no_update")},
    "native_layer_norm": ("norm", "LayerNorm"),
    "native_group_norm": ("norm", "GroupNorm"),
    "_fused_rms_norm": ("norm", "RMSNorm"),
    "_softmax": ("softmax", "Softmax"), "_log_softmax": ("softmax", "LogSoftmax"), "_safe_softmax": ("softmax", "Softmax"),
    "relu": ("elementwise", "ReLU"), "hardtanh": ("elementwise", "ReLU6"), "leaky_relu": ("elementwise", "LeakyReLU"),
    "gelu": ("elementwise", "GELU"), "silu": ("elementwise", "SiLU"), "sigmoid": ("elementwise", "Sigmoid"),
    "tanh": ("elementwise", "Tanh"), "native_dropout": ("elementwise", "Dropout"), "add": ("elementwise", "Add"),
    "max_pool2d_with_indices": ("pool", "MaxPool2d"), "avg_pool2d": ("pool", "AvgPool2d"),
    "_adaptive_avg_pool2d": ("pool", "AdaptiveAvgPool2d"),
    **{name: ("gather", name) for name in (
        "index", "index_select", "gather", "scatter_add", "scatter", "index_add", "index_put", "_embedding_bag",
        "scatter_reduce", "segment_reduce", "upsample_nearest2d", "upsample_bilinear2d")},
    "embedding": ("gather", "Embedding"),
}

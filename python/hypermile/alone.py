# SPDX-License-Identifier: Apache-2.0
"""Prepares a single layer, with its own data, to be repeated. On CUDA the repetition is a graph of many calls, because
launching from Python takes longer than most layers. There are more copies of the data than the GPU's cache can hold:
inside a network a layer finds its input in the cache, but `hypermile plan` accounts for that by itself.

Used by profile_layers(). This file imports nothing of the package, so that a benchmark can load it alone.
"""

from __future__ import annotations

import copy
import itertools
import math
import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, ContextManager, Dict, List, Optional, Sequence

if TYPE_CHECKING:
    import torch

_WARM_UP_CALLS = 3
_GRAPH_SECONDS = 1e-3  # shortest duration of a graph, so that its start does not matter
_MOST_CALLS = 200  # most calls in a graph, even if it is shorter
_CACHE_TIMES = 4  # size of all copies of the data, relative to the cache
_MOST_COPIES = 64
_CACHE_BYTES = 64 << 20  # used where PyTorch does not report the size of the cache


@dataclass(frozen=True)
class Alone:
    """A layer with its data. Each call of `forward` or `backward` takes the next copy of the data."""

    forward: Callable[[], Any]
    backward: Callable[[], Any]
    device: Any
    stream: Any  # of the forward pass, on which gradients also run; None on the CPU
    copies: int


@dataclass(frozen=True)
class Repeated:
    """`run` makes `calls` calls; where it is `captured` it does not wait for them, but `wait` does."""

    run: Callable[[], Any]
    wait: Callable[[], Any]
    calls: int
    captured: bool


def prepare(module: "torch.nn.Module", layer: Dict[str, Any], precision: str, device: Any, *,
            channels_last: bool = False) -> Optional[Alone]:
    """`layer` is an entry of record_layers(). Returns None where it has no gradient or does not run alone."""
    import torch

    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision, torch.float32)
    stream = None
    if getattr(device, "type", "cpu") == "cuda":
        stream = torch.cuda.Stream(device)
        stream.wait_stream(torch.cuda.current_stream(device))
    with on_stream(stream):
        alone = copy.deepcopy(module).to(device=device, dtype=dtype).train()
        if hasattr(alone, "inplace"):
            setattr(alone, "inplace", False)  # the input is a leaf here, which must not change
        inputs: List[List[Any]] = []
        results: List[Any] = []
        copies = 1
        while len(results) < copies:
            inputs.append(_data(alone, layer, dtype, device, channels_last))
            result = _result(alone, inputs[-1])
            if result is None:
                return None
            results.append(result)
            if stream is not None and copies == 1:
                copies = _copies(inputs[0], result, device)
        gradients = [torch.ones_like(result) for result in results]
        for leaf in [*alone.parameters(), *itertools.chain(*inputs)]:
            if leaf.requires_grad:
                leaf.grad = torch.zeros_like(leaf)
    forward_at, backward_at = itertools.cycle(range(copies)), itertools.cycle(range(copies))

    def forward() -> Any:
        return alone(*inputs[next(forward_at)])

    def backward() -> None:
        at = next(backward_at)
        results[at].backward(gradients[at], retain_graph=True)

    return Alone(forward, backward, device, stream, copies)


def repeated(call: Callable[[], Any], alone: Alone) -> Repeated:
    """Repeats `call`, the `forward` or `backward` of `alone`: on CUDA as a graph, where it can be captured."""
    if alone.stream is None:
        return Repeated(call, lambda: None, 1, False)
    import torch

    def wait() -> None:
        torch.cuda.synchronize(alone.device)

    try:
        with on_stream(alone.stream):
            for _ in range(_WARM_UP_CALLS):
                call()
        once = _capture(call, 1, alone)
        once.replay()
        wait()
        begin = time.perf_counter()
        for _ in range(10):
            once.replay()
        wait()
        each = (time.perf_counter() - begin) / 10
        calls = max(alone.copies, min(_MOST_CALLS, math.ceil(_GRAPH_SECONDS / each)))
        return Repeated(_capture(call, calls, alone).replay, wait, calls, True)
    except RuntimeError:  # some operations cannot be captured
        wait()
        return Repeated(call, wait, 1, False)


def on_stream(stream: Any) -> "ContextManager[Any]":
    import torch

    return nullcontext() if stream is None else torch.cuda.stream(stream)


def _capture(call: Callable[[], Any], calls: int, alone: Alone) -> Any:
    import torch

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=alone.stream):
        for _ in range(calls):
            call()
    return graph


def _data(module: Any, layer: Dict[str, Any], dtype: Any, device: Any, channels_last: bool) -> List[Any]:
    import torch

    made = []
    if hasattr(module, "specs"):  # an operator
        return [torch.randn(shape, device=device, dtype=dtype).requires_grad_(at not in module.written) if kind.is_floating_point else
                torch.zeros(shape, device=device, dtype=kind) for at, (shape, kind) in enumerate(module.specs)]
    entries = getattr(module, "num_embeddings", None)
    for shape in layer.get("input_shapes", [layer["in_shape"]]):
        if entries is not None:
            made.append(torch.randint(0, entries, tuple(shape), device=device))
            continue
        data = torch.randn(tuple(shape), device=device, dtype=dtype)
        if channels_last and len(shape) == 4:
            data = data.to(memory_format=torch.channels_last)
        made.append(data.requires_grad_())
    return made


def _result(module: Any, inputs: Sequence[Any]) -> Any:
    """The first tensor of the output; None where that has no gradient or the call fails."""
    import torch

    try:
        output = module(*inputs)
    except (RuntimeError, TypeError, IndexError):  # inputs by name, or of types that shapes do not show
        return None
    found = next((t for t in (output if isinstance(output, (list, tuple)) else [output]) if torch.is_tensor(t)), None)
    return found if found is not None and found.requires_grad else None


def _copies(inputs: Sequence[Any], result: Any, device: Any) -> int:
    import torch

    cache: int = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", _CACHE_BYTES)
    size: int = sum(t.numel() * t.element_size() for t in [*inputs, result])
    return max(1, min(_MOST_COPIES, math.ceil(_CACHE_TIMES * cache / max(size, 1))))

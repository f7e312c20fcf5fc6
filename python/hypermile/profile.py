# SPDX-License-Identifier: Apache-2.0
"""Time and energy of single layers on the user's own GPU, at any Settings, as `hypermile plan --calibrate` takes them.

Each layer is repeated for seconds, because sensors move every 100 ms or so; on CUDA it is replayed from a graph, because
launching from Python takes longer than most layers do.
"""

from __future__ import annotations

import copy
import csv
import os
import statistics
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import _core, program
from .layers import record_layers

if TYPE_CHECKING:
    import torch

_BATCH_SECONDS = 0.02  # calls between two looks at the clock
_WARM_UP_CALLS = 3
_CHANGES = 4  # of the energy counter, at least,
_PATIENCE = 5  # within so many times the seconds asked for
_SETTLE_SECONDS = 1.0  # after a change of Setting


@dataclass(frozen=True)
class LayerCost:
    """One row: a distinct layer at one Setting. Energies are None where no GPU's counter was read."""

    model: str
    batch: int
    precision: str
    layer: str
    type: str
    in_shape: str
    out_shape: str
    params: int
    fwd_us: float
    bwd_us: float
    groups: Optional[int]
    setting: str
    sm_mhz: Optional[float]
    mem_mhz: Optional[float]
    fwd_j: Optional[float]
    bwd_j: Optional[float]


def profile_layers(model: "torch.nn.Module", inputs: Any, path: "Optional[Union[str, os.PathLike[str]]]" = None, *,
                   name: Optional[str] = None, precision: str = "fp32", settings: Sequence[str] = ("default",),
                   seconds: float = 1.0, gpu: Optional[str] = None) -> List[LayerCost]:
    """Every distinct layer (type, shapes, parameters) that one forward pass on `inputs` calls, forward and backward, for
    `seconds` each, at each of `settings` ("default", "sm=1200MHz mem=5001MHz", …); also written to `path` as CSV.

    `precision` is fp32, tf32, bf16 or fp16. `gpu` names the card to read and set, as --gpu does; on CUDA it is the current
    device if it is not given, on the CPU there is none and time alone is measured. Settings other than the default need a
    lease of the daemon or a guardian; RuntimeError says why there is none. Layers without a gradient are left out.
    """
    import torch

    settings = [_core.check_setting(setting) for setting in settings]
    arguments = inputs if isinstance(inputs, tuple) else (inputs,)
    layers = _distinct(record_layers(model, arguments))
    on_cuda = any(getattr(argument, "is_cuda", False) for argument in arguments)
    card = _open_card(gpu, on_cuda, needed=any(setting != "default" for setting in settings))
    batch = next((int(a.shape[0]) for a in arguments if hasattr(a, "shape") and len(a.shape) > 0), 1)
    device = next((a.device for a in arguments if hasattr(a, "device")), torch.device("cpu"))
    costs = []
    with _settings(card, settings) as each_setting, _numbers(precision):
        for setting in each_setting:
            for module, layer in layers:
                prepared = _prepare(module, layer, precision, device)
                if prepared is None:
                    continue
                costs.append(_measure(prepared, layer, seconds, card, model=name or type(model).__name__, batch=batch,
                                      precision=precision, setting=setting))
    if path is not None:
        write_costs(costs, path)
    return costs


def write_costs(costs: Sequence[LayerCost], path: "Union[str, os.PathLike[str]]") -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(LayerCost)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(cost) for cost in costs)


def _distinct(calls: "List[Tuple[torch.nn.Module, Dict[str, Any]]]") -> "List[Tuple[torch.nn.Module, Dict[str, Any]]]":
    seen: Dict[Any, Tuple[Any, Dict[str, Any]]] = {}
    for module, layer in calls:
        key = (layer["type"], str(layer["in_shape"]), str(layer["out_shape"]), layer["params"], layer.get("groups"))
        seen.setdefault(key, (module, layer))
    return list(seen.values())


def _open_card(gpu: Optional[str], on_cuda: bool, needed: bool) -> Optional[_core.Gpu]:
    if gpu is None and not on_cuda and not needed:
        return None
    return _core.Gpu(gpu)


@contextmanager
def _settings(card: Optional[_core.Gpu], settings: Sequence[str]) -> Iterator[Iterator[str]]:
    """Each Setting in turn, in force; the GPU is given back whatever happens."""
    if card is None or all(setting == "default" for setting in settings):
        yield iter(settings)
        return
    guardian = program.find_program("hypermiled")
    lease = _core.Lease(card, "hypermile.profile_layers", "" if guardian is None else str(guardian))

    def in_turn() -> Iterator[str]:
        for setting in settings:
            told = lease.set(setting)
            if told != setting:
                raise RuntimeError(f"{setting} was asked for and the GPU was told {told}; choose what is allowed")
            time.sleep(_SETTLE_SECONDS)
            yield setting

    try:
        yield in_turn()
    finally:
        lease.release()


@contextmanager
def _numbers(precision: str) -> Iterator[None]:
    """Matrix products as `precision` says, and as they were afterwards."""
    import torch

    if precision not in ("fp32", "tf32", "bf16", "fp16"):
        raise ValueError(f"precision '{precision}' is none of fp32, tf32, bf16, fp16")
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


@dataclass(frozen=True)
class _Prepared:
    forward: Callable[[], Any]
    backward: Callable[[], Any]
    device: Any


def _prepare(module: "torch.nn.Module", layer: Dict[str, Any], precision: str, device: Any) -> Optional[_Prepared]:
    """The layer alone, on data of its own; None where it has no gradient, or does not run alone."""
    import torch

    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision, torch.float32)
    alone = copy.deepcopy(module).to(device=device, dtype=dtype).train()
    if hasattr(alone, "inplace"):
        setattr(alone, "inplace", False)  # its input is a leaf here
    shapes = layer.get("input_shapes", [layer["in_shape"]])
    inputs = [_data(alone, shape, dtype, device) for shape in shapes]
    try:
        output = alone(*inputs)
    except (RuntimeError, TypeError, IndexError):  # inputs by name, or of kinds that shapes do not tell
        return None
    result = next((t for t in (output if isinstance(output, (list, tuple)) else [output]) if torch.is_tensor(t)), None)
    if result is None or not result.requires_grad:
        return None
    gradient = torch.ones_like(result)
    leaves = [t for t in [*inputs, *alone.parameters()] if t.requires_grad]
    for leaf in leaves:
        leaf.grad = torch.zeros_like(leaf)
    return _Prepared(lambda: alone(*inputs), lambda: result.backward(gradient, retain_graph=True), device)


def _data(module: Any, shape: Sequence[int], dtype: Any, device: Any) -> Any:
    import torch

    entries = getattr(module, "num_embeddings", None)
    if entries is not None:
        return torch.randint(0, entries, tuple(shape), device=device)
    return torch.randn(tuple(shape), device=device, dtype=dtype, requires_grad=True)


def _measure(prepared: _Prepared, layer: Dict[str, Any], seconds: float, card: Optional[_core.Gpu], *, model: str, batch: int,
             precision: str, setting: str) -> LayerCost:
    forward_s, forward_j = _repeat(prepared.forward, prepared.device, seconds, card)
    backward_s, backward_j = _repeat(prepared.backward, prepared.device, seconds, card)
    seen = {} if card is None else card.read()
    return LayerCost(
        model=model, batch=batch, precision=precision, layer=layer["name"], type=layer["type"],
        in_shape="x".join(map(str, layer["in_shape"])), out_shape="x".join(map(str, layer["out_shape"])),
        params=layer["params"], fwd_us=1e6 * forward_s, bwd_us=1e6 * backward_s, groups=layer.get("groups"),
        setting=setting, sm_mhz=seen.get("sm_mhz"), mem_mhz=seen.get("mem_mhz"), fwd_j=forward_j, bwd_j=backward_j)


def _repeat(call: Callable[[], Any], device: Any, seconds: float,
            card: Optional[_core.Gpu]) -> Tuple[float, Optional[float]]:
    """Seconds (the median of many short batches) and joules of one call."""
    run, wait = _runner(call, device)
    for _ in range(_WARM_UP_CALLS):
        run()
    wait()
    begin = time.perf_counter()
    run()
    wait()
    calls = max(1, round(_BATCH_SECONDS / max(time.perf_counter() - begin, 1e-7)))
    times: List[float] = []
    energies: List[Tuple[Optional[float], Optional[float]]] = []
    end = time.perf_counter() + seconds
    latest = time.perf_counter() + _PATIENCE * seconds
    # A counter that has not moved often enough is waited for.
    while (not times or time.perf_counter() < end or
           (card is not None and len(_changes(energies)) < _CHANGES and time.perf_counter() < latest)):
        begin = time.perf_counter()
        for _ in range(calls):
            run()
        wait()
        times.append((time.perf_counter() - begin) / calls)
        if card is not None:
            sample = card.read()
            energies.append((sample["time_s"], sample["energy_j"]))
    each = statistics.median(times)
    power = _power(energies)
    return each, None if power is None else power * each


def _runner(call: Callable[[], Any], device: Any) -> Tuple[Callable[[], Any], Callable[[], Any]]:
    """What repeats the call, and what waits for it: on CUDA a graph of it, where it can be captured."""
    import torch

    if getattr(device, "type", "cpu") != "cuda":
        return call, lambda: None

    def wait() -> None:
        torch.cuda.synchronize(device)

    try:
        stream = torch.cuda.Stream(device)
        stream.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP_CALLS):
                call()
        torch.cuda.current_stream(device).wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        return graph.replay, wait
    except RuntimeError:  # something in it may not be captured
        wait()
        return call, wait


def _changes(readings: "List[Tuple[Optional[float], Optional[float]]]") -> List[Tuple[float, float]]:
    """When the counter was first seen at each of its values but the first: in between, what it shows is old."""
    changes: List[Tuple[float, float]] = []
    last: Optional[float] = None
    for at, energy in readings:
        if at is None or energy is None:
            continue
        if last is not None and energy != last:
            changes.append((at, energy))
        last = energy
    return changes


def _power(readings: "List[Tuple[Optional[float], Optional[float]]]") -> Optional[float]:
    """Watts from the first change of the counter to the last; None with fewer than two."""
    changes = _changes(readings)
    if len(changes) < 2 or changes[-1][0] <= changes[0][0]:
        return None
    return (changes[-1][1] - changes[0][1]) / (changes[-1][0] - changes[0][0])

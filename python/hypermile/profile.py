# SPDX-License-Identifier: Apache-2.0
"""Time and energy of single layers on the user's own GPU, at any settings, in the format of `hypermile plan --calibrate`.

Each layer is repeated for seconds, because sensors update only every 100 ms or so, on data that no cache holds (alone.py).
"""

from __future__ import annotations

import csv
import os
import statistics
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import _core, program
from .alone import Alone, prepare, repeated
from .layers import record_layers

if TYPE_CHECKING:
    import torch

_BATCH_SECONDS = 0.02  # of calls between two readings of clock and sensors
_WARM_UP_RUNS = 3
_CHANGES = 4  # fewest changes of the energy counter
_PATIENCE = 5  # longest wait for these changes, as a multiple of the requested seconds
_SETTLE_SECONDS = 1.0  # after a change of setting


@dataclass(frozen=True)
class LayerCost:
    """One row: a distinct layer at one setting. Energies are None where no energy counter was read."""

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
    """Measures every distinct layer (type, shapes, parameters) that one forward pass on `inputs` calls: forward and backward, for
    `seconds` each, at each of `settings` ("default", "sm=1200MHz mem=5001MHz", …). Also writes the rows to `path` as CSV.

    `precision` is fp32, tf32, bf16 or fp16. `gpu` names the card to read and set, as --gpu does. Without it, CUDA's current
    device is used; on the CPU there is no card and only time is measured. Settings other than the default need a lease of the
    daemon or a guardian; where there is none, RuntimeError says why. Layers without a gradient are left out. Images in
    channels-last format are measured in that format.
    """
    import torch

    settings = [_core.check_setting(setting) for setting in settings]
    arguments = inputs if isinstance(inputs, tuple) else (inputs,)
    layers = _distinct(record_layers(model, arguments))
    on_cuda = any(getattr(argument, "is_cuda", False) for argument in arguments)
    card = _open_card(gpu, on_cuda, needed=any(setting != "default" for setting in settings))
    batch = next((int(a.shape[0]) for a in arguments if hasattr(a, "shape") and len(a.shape) > 0), 1)
    device = next((a.device for a in arguments if hasattr(a, "device")), torch.device("cpu"))
    channels_last = any(_is_channels_last(argument) for argument in arguments)
    costs = []
    with _settings(card, settings) as each_setting, _numbers(precision):
        for setting in each_setting:
            for module, layer in layers:
                prepared = prepare(module, layer, precision, device, channels_last=channels_last)
                if prepared is None:
                    continue
                costs.append(_measure(prepared, layer, seconds, card, model=name or type(model).__name__, batch=batch,
                                      precision=precision, setting=setting))
    if path is not None:
        write_costs(costs, path)
    return costs


def _is_channels_last(argument: Any) -> bool:
    import torch

    return (torch.is_tensor(argument) and argument.dim() == 4 and not argument.is_contiguous()
            and argument.is_contiguous(memory_format=torch.channels_last))


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
    """Applies each setting in turn. The GPU is restored whatever happens."""
    if card is None or all(setting == "default" for setting in settings):
        yield iter(settings)
        return
    guardian = program.find_program("hypermiled")
    lease = _core.Lease(card, "hypermile.profile_layers", "" if guardian is None else str(guardian))

    def in_turn() -> Iterator[str]:
        for setting in settings:
            told = lease.set(setting)
            if told != setting:
                raise RuntimeError(f"{setting} was requested, but only {told} is allowed; choose another setting")
            time.sleep(_SETTLE_SECONDS)
            yield setting

    try:
        yield in_turn()
    finally:
        lease.release()


@contextmanager
def _numbers(precision: str) -> Iterator[None]:
    """Sets how PyTorch computes matrix products for `precision`, and restores that afterwards."""
    import torch

    if precision not in ("fp32", "tf32", "bf16", "fp16"):
        raise ValueError(f"precision '{precision}' is not one of fp32, tf32, bf16, fp16")
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


@dataclass(frozen=True)
class _Cost:
    """The cost of one call; `samples` are the GPU's sensor readings during the measurement."""

    seconds: float
    joules: Optional[float]
    samples: List[Dict[str, Any]]


def _measure(prepared: Alone, layer: Dict[str, Any], seconds: float, card: Optional[_core.Gpu], *, model: str, batch: int,
             precision: str, setting: str) -> LayerCost:
    forward = _repeat(prepared.forward, prepared, seconds, card)
    backward = _repeat(prepared.backward, prepared, seconds, card)
    samples = forward.samples + backward.samples
    return LayerCost(
        model=model, batch=batch, precision=precision, layer=layer["name"], type=layer["type"],
        in_shape="x".join(map(str, layer["in_shape"])), out_shape="x".join(map(str, layer["out_shape"])),
        params=layer["params"], fwd_us=1e6 * forward.seconds, bwd_us=1e6 * backward.seconds, groups=layer.get("groups"),
        setting=setting, sm_mhz=_median(samples, "sm_mhz"), mem_mhz=_median(samples, "mem_mhz"), fwd_j=forward.joules,
        bwd_j=backward.joules)


def _median(samples: List[Dict[str, Any]], name: str) -> Optional[float]:
    known = [sample[name] for sample in samples if sample.get(name) is not None]
    return statistics.median(known) if known else None


def _repeat(call: Callable[[], Any], prepared: Alone, seconds: float, card: Optional[_core.Gpu]) -> _Cost:
    """Measures one call: seconds (the median of many short batches) and joules."""
    repeat = repeated(call, prepared)
    for _ in range(_WARM_UP_RUNS):
        repeat.run()
    repeat.wait()
    begin = time.perf_counter()
    repeat.run()
    repeat.wait()
    runs = max(1, round(_BATCH_SECONDS / max(time.perf_counter() - begin, 1e-7)))
    times: List[float] = []
    samples: List[Dict[str, Any]] = []
    end = time.perf_counter() + seconds
    latest = time.perf_counter() + _PATIENCE * seconds
    # Waits until the energy counter has changed often enough.
    while (not times or time.perf_counter() < end or
           (card is not None and len(_changes(samples)) < _CHANGES and time.perf_counter() < latest)):
        begin = time.perf_counter()
        for _ in range(runs):
            repeat.run()
        if card is not None and repeat.captured:
            samples.append(card.read())  # while the GPU works, because a pause of a few ms would show in its power
        repeat.wait()
        times.append((time.perf_counter() - begin) / (runs * repeat.calls))
        if card is not None and not repeat.captured:
            samples.append(card.read())
    each = statistics.median(times)
    power = _power(samples)
    return _Cost(each, None if power is None else power * each, samples)


def _changes(samples: List[Dict[str, Any]]) -> List[Tuple[float, float]]:
    """When each new value of the counter was first seen, without the first value. Between changes the value is stale."""
    changes: List[Tuple[float, float]] = []
    last: Optional[float] = None
    for sample in samples:
        at, energy = sample["time_s"], sample["energy_j"]
        if at is None or energy is None:
            continue
        if last is not None and energy != last:
            changes.append((at, energy))
        last = energy
    return changes


def _power(samples: List[Dict[str, Any]]) -> Optional[float]:
    """Watts between the first and the last change of the counter; None with fewer than two changes."""
    changes = _changes(samples)
    if len(changes) < 2 or changes[-1][0] <= changes[0][0]:
        return None
    return (changes[-1][1] - changes[0][1]) / (changes[-1][0] - changes[0][0])

# SPDX-License-Identifier: Apache-2.0
"""Time and energy of single layers on the user's own GPU, at any settings, in the format of `hypermile plan --measured` and
`--calibrate` (docs/reference/network-file.md).

Each layer is repeated for seconds, because sensors update only every 100 ms or so, on data that no cache holds (alone.py). Every
row is written when it is known, so that a profile that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import csv
import math
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
_CHANGES = 6  # fewest changes of the energy counter, because their scatter is the error of the power
_FEWEST = 5  # batches from which their scatter is known
_PATIENCE = 5  # longest wait for these changes, as a multiple of the requested seconds
_SETTLE_SECONDS = 1.0  # after a change of setting


@dataclass(frozen=True)
class LayerCost:
    """One row: a distinct layer at one setting. Energies are None where no energy counter was read. An `…_error` is a standard
    error. `drift` is how much longer, and `drift_j` how much more energy, the first layer took at the default when it was last
    measured than at the beginning, as a ratio. `step_sm_mhz` is the SM clock at the default while the whole network ran."""

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
    fwd_us_error: Optional[float] = None
    bwd_us_error: Optional[float] = None
    fwd_j_error: Optional[float] = None
    bwd_j_error: Optional[float] = None
    drift: float = 1.0
    drift_j: float = 1.0
    gpu: str = ""
    step_sm_mhz: Optional[float] = None


def profile_layers(model: "torch.nn.Module", inputs: Any, path: "Optional[Union[str, os.PathLike[str]]]" = None, *,
                   name: Optional[str] = None, precision: str = "fp32", settings: Optional[Sequence[str]] = None,
                   seconds: float = 1.0, gpu: Optional[str] = None) -> List[LayerCost]:
    """Measures every distinct layer (type, shapes, parameters) that one forward pass on `inputs` runs: forward and backward, for
    `seconds` each, at each of `settings` ("default", "sm=1200MHz mem=5001MHz", …; without it, at those of `hypermile sweep --layers`
    or at the default). Also writes the rows to `path` as CSV, each as
    soon as it is known; rows that `path` already has are not measured again. The first layer is measured again at the default
    before each further setting, which shows drift.

    `precision` is fp32, tf32, bf16 or fp16. `gpu` names the card to read and set, as --gpu does. Without it, CUDA's current
    device is used; on the CPU there is no card and only time is measured. Settings other than the default need a lease of the
    daemon or a guardian; where there is none, RuntimeError says why. Layers without a gradient, and operators that read indices,
    are left out. Images in channels-last format are measured in that format.
    """
    import torch

    from .tensors import arguments_of, batch_of, tensors_of

    if settings is None:  # `hypermile sweep --layers` says what to measure, and where to write it
        settings = os.environ.get("HYPERMILE_LAYERS_SETTINGS", "default").split(";")
        path = path or os.environ.get("HYPERMILE_LAYERS_OUT")
        gpu = gpu or os.environ.get("HYPERMILE_LAYERS_GPU")
    settings = [_core.check_setting(setting) for setting in ([settings] if isinstance(settings, str) else settings)]
    if not settings:
        raise ValueError("settings is empty; give at least \"default\"")
    if not 0 < seconds < math.inf:
        raise ValueError(f"seconds is {seconds}; give a number above 0")
    arguments, named = arguments_of(inputs)
    tensors = tensors_of([arguments, named])
    on_cuda = any(tensor.is_cuda for tensor in tensors)
    card = _open_card(gpu, on_cuda, needed=any(setting != "default" for setting in settings))
    known = {"model": name or type(model).__name__, "precision": precision, "gpu": "" if card is None else card.name,
             "batch": batch_of(tensors)}
    device = next((tensor.device for tensor in tensors), torch.device("cpu"))
    channels_last = any(_is_channels_last(tensor) for tensor in tensors)
    costs = [] if path is None else _earlier(path, known)
    done = {(cost.setting, *_key(cost)) for cost in costs}
    layers = _distinct(record_layers(model, arguments, named))

    def measured(module: Any, layer: Dict[str, Any], setting: str, drift: Tuple[float, float]) -> Optional[LayerCost]:
        prepared = prepare(module, layer, precision, device, channels_last=channels_last)
        return None if prepared is None else _measure(prepared, layer, seconds, card,
                                                         {**known, "setting": setting, "step_sm_mhz": step_clock}, drift)

    first: Optional[LayerCost] = None
    drift = (1.0, 1.0)
    step_clock = next((cost.step_sm_mhz for cost in costs), None)
    with _settings(card, settings) as each_setting, _numbers(precision):
        for setting, again in each_setting:
            if setting == "default" and card is not None and step_clock is None:
                step_clock = _step_clock(lambda: model(*arguments, **named), model, seconds, card)
            if again and first is not None:
                reference = next((m, layer) for m, layer in layers if layer["name"] == first.layer)
                drift = _drift(first, measured(*reference, "default", drift))
                continue
            for module, layer in layers:
                if (setting, *_shape_key(layer)) in done:
                    continue
                cost = measured(module, layer, setting, drift)
                if cost is None:
                    continue
                costs.append(cost)
                if path is not None:
                    _append(cost, path)
            first = first or next((cost for cost in costs if cost.setting == "default"), None)
    if not costs:
        raise ValueError(f"{known['model']} has no layer that runs alone with a gradient on {device.type} in {precision}")
    return costs


def _step_clock(call: Callable[[], Any], model: "torch.nn.Module", seconds: float, card: _core.Gpu) -> Optional[float]:
    """The SM clock while forward and backward of the whole network repeat. A power limit holds it lower or higher than for single
    layers. None where the network's first output has no gradient."""
    import torch

    from .tensors import tensors_of
    from .trace import unchanged_buffers

    parameters = [p for p in model.parameters() if p.requires_grad]
    samples: List[Dict[str, Any]] = []
    end = time.perf_counter() + max(seconds, _SETTLE_SECONDS)
    with unchanged_buffers(model), torch.enable_grad():
        while not samples or time.perf_counter() < end:
            output = next((t for t in tensors_of(call()) if t.requires_grad), None)
            if output is None:
                return None
            torch.autograd.grad(output.float().sum(), parameters, allow_unused=True)
            samples.append(card.read())  # while the GPU still works
    return _median(samples[len(samples) // 2:], "sm_mhz")


def _shape_key(layer: Dict[str, Any]) -> Tuple[Any, ...]:
    return (layer["type"], "x".join(map(str, layer["in_shape"])), "x".join(map(str, layer["out_shape"])), layer.get("params", 0),
            layer.get("groups"))


def _key(cost: LayerCost) -> Tuple[Any, ...]:
    return cost.type, cost.in_shape, cost.out_shape, cost.params, cost.groups


def _drift(first: LayerCost, again: Optional[LayerCost]) -> Tuple[float, float]:
    """Ratios of time and energy at the default, now to then."""
    if again is None:
        return 1.0, 1.0
    energy = 1.0
    if None not in (first.fwd_j, first.bwd_j, again.fwd_j, again.bwd_j):
        energy = (again.fwd_j + again.bwd_j) / (first.fwd_j + first.bwd_j)  # type: ignore[operator]
    return (again.fwd_us + again.bwd_us) / (first.fwd_us + first.bwd_us), energy


def _is_channels_last(argument: Any) -> bool:
    import torch

    return (argument.dim() == 4 and not argument.is_contiguous()
            and argument.is_contiguous(memory_format=torch.channels_last))


def _append(cost: LayerCost, path: "Union[str, os.PathLike[str]]") -> None:
    """Adds a row, after a header where the file is new."""
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(LayerCost)], lineterminator="\n")
        if file.tell() == 0:
            writer.writeheader()
        writer.writerow(asdict(cost))


def _earlier(path: "Union[str, os.PathLike[str]]", known: Dict[str, Any]) -> List[LayerCost]:
    """The rows of a profile that was interrupted. Raises ValueError with one line where the file is about something else."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return []
    _drop_half_a_row(path)
    costs = []
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != [field.name for field in fields(LayerCost)]:
            raise ValueError(f"{path} is not a profile of layers of this version; give another path")
        for number, row in enumerate(reader, 2):
            try:
                costs.append(_cost_of(row))
            except (TypeError, ValueError):
                raise ValueError(f"{path}, line {number}: not a row of a profile; remove it, or give another path") from None
    for key, value in known.items():
        if any(getattr(cost, key) != value for cost in costs):
            raise ValueError(f"{path} was measured with another {key} than {value}; give another path")
    return costs


def _drop_half_a_row(path: "Union[str, os.PathLike[str]]") -> None:
    """Cuts off what a killed profile left of its last row."""
    with open(path, "rb+") as file:
        text = file.read()
        if not text.endswith(b"\n"):
            file.truncate(text.rfind(b"\n") + 1)


def _cost_of(row: Dict[str, Any]) -> LayerCost:
    texts = ("model", "precision", "layer", "type", "in_shape", "out_shape", "setting", "gpu")
    whole = ("batch", "params", "groups")
    values: Dict[str, Any] = {}
    for key, text in row.items():
        if key in texts:
            values[key] = text
        elif text == "" and key not in ("fwd_us", "bwd_us"):
            values[key] = None
        else:
            values[key] = int(text) if key in whole else float(text)
            if not math.isfinite(values[key]):
                raise ValueError(key)
    return LayerCost(**values)


def _distinct(calls: "List[Tuple[torch.nn.Module, Dict[str, Any]]]") -> "List[Tuple[torch.nn.Module, Dict[str, Any]]]":
    seen: Dict[Any, Tuple[Any, Dict[str, Any]]] = {}
    for module, layer in calls:
        seen.setdefault(_shape_key(layer), (module, layer))
    return list(seen.values())


def _open_card(gpu: Optional[str], on_cuda: bool, needed: bool) -> Optional[_core.Gpu]:
    if gpu is None and not on_cuda and not needed:
        return None
    return _core.Gpu(gpu)


@contextmanager
def _settings(card: Optional[_core.Gpu], settings: Sequence[str]) -> "Iterator[Iterator[Tuple[str, bool]]]":
    """Applies each setting in turn, and the default before each but the first (True: only to measure drift). The GPU is restored
    whatever happens."""
    if card is None or all(setting == "default" for setting in settings):
        yield iter([(setting, False) for setting in settings])
        return
    guardian = program.find_program("hypermiled")
    lease = _core.Lease(card, "hypermile.profile_layers", "" if guardian is None else str(guardian))

    def applied(setting: str) -> str:
        told = lease.set(setting)
        if told != setting:
            raise RuntimeError(f"{setting} was requested, but only {told} is allowed; choose another setting")
        time.sleep(_SETTLE_SECONDS)
        return setting

    def in_turn() -> "Iterator[Tuple[str, bool]]":
        for number, setting in enumerate(settings):
            if number > 0 and setting != "default":
                yield applied("default"), True
            yield applied(setting), False

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
    """The cost of one call with standard errors; `samples` are the GPU's sensor readings during the measurement."""

    seconds: float
    seconds_error: Optional[float]
    joules: Optional[float]
    joules_error: Optional[float]
    samples: List[Dict[str, Any]]


def _measure(prepared: Alone, layer: Dict[str, Any], seconds: float, card: Optional[_core.Gpu], known: Dict[str, Any],
             drift: Tuple[float, float]) -> LayerCost:
    forward = _repeat(prepared.forward, prepared, seconds, card)
    backward = _repeat(prepared.backward, prepared, seconds, card)
    samples = forward.samples + backward.samples
    kind, in_shape, out_shape, params, groups = _shape_key(layer)
    return LayerCost(
        **known, layer=layer["name"], type=kind, in_shape=in_shape, out_shape=out_shape, params=params, groups=groups,
        fwd_us=1e6 * forward.seconds, bwd_us=1e6 * backward.seconds, sm_mhz=_median(samples, "sm_mhz"),
        mem_mhz=_median(samples, "mem_mhz"), fwd_j=forward.joules, bwd_j=backward.joules,
        fwd_us_error=_micro(forward.seconds_error), bwd_us_error=_micro(backward.seconds_error), fwd_j_error=forward.joules_error,
        bwd_j_error=backward.joules_error, drift=drift[0], drift_j=drift[1])


def _micro(seconds: Optional[float]) -> Optional[float]:
    return None if seconds is None else 1e6 * seconds


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
    each, each_error = statistics.median(times), _scatter(times)
    power, power_error = _power(samples)
    if power is None or power_error is None:
        return _Cost(each, each_error, None, None, samples)
    return _Cost(each, each_error, power * each, math.hypot(power_error * each, power * (each_error or 0)), samples)


def _scatter(values: Sequence[float]) -> Optional[float]:
    """The standard error of the median, from the median deviation, which single outliers do not move. None with too few values."""
    if len(values) < _FEWEST:
        return None
    middle = statistics.median(values)
    deviation = statistics.median(abs(value - middle) for value in values)
    return 1.2533 * 1.4826 * deviation / math.sqrt(len(values))


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


def _power(samples: List[Dict[str, Any]]) -> Tuple[Optional[float], Optional[float]]:
    """Watts between the first and the last change of the counter, with the standard error from the changes in between; None with
    fewer than three changes."""
    changes = _changes(samples)
    if len(changes) < 3 or changes[-1][0] <= changes[0][0]:
        return None, None
    mean = (changes[-1][1] - changes[0][1]) / (changes[-1][0] - changes[0][0])
    each = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(changes, changes[1:]) if b[0] > a[0]]
    error = statistics.stdev(each) / math.sqrt(len(each)) if len(each) > 1 else mean
    return mean, error

# SPDX-License-Identifier: Apache-2.0
"""Carries out a plan on a PyTorch model. Hooks where segments begin only post to a queue; a C++ thread requests settings ahead
of time, under a lease of the daemon or of a guardian (docs/reference/python.md).

    with hypermile.PlanExecutor("plan.json", model, optimizer) as executor:
        train()
    print(executor.report)

First the plan is tried against the default and the best single setting, in turns, and it is kept only if it pays.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple, Type, Union

from . import _core, program
from .plan import Place, Plan, Segment, read_plan

if TYPE_CHECKING:
    import torch

_IN_MODULE = ("forward", "recompute")  # phases in which the module itself runs
Source = Union[Plan, str, "os.PathLike[str]", Mapping[str, Any]]


@dataclass(frozen=True)
class Trial:
    """After `after_iterations` at the default come `rounds` of the order d u p p u d (default, uniform, plan). Each block lasts
    at least `block_s` seconds; the first `settle_s` after a change are not measured."""

    after_iterations: int = 20
    rounds: int = 3
    block_s: float = 5.0
    settle_s: float = 0.5


@dataclass(frozen=True)
class Verdict:
    """The outcome of the trial. Ratios are (mean, half width of the 95 % interval); `time_s` and `energy_j` are per iteration,
    for default, uniform and plan."""

    kept: str  # "default", "uniform" or "plan"
    time_s: Tuple[float, float, float]
    energy_j: Tuple[float, float, float]
    plan_energy: Tuple[float, float]
    uniform_energy: Tuple[float, float]
    plan_to_uniform: Tuple[float, float]
    plan_time: Tuple[float, float]
    uniform_time: Tuple[float, float]


@dataclass(frozen=True)
class PlanReport:
    """`state`: "claiming", "learning", "trial", "keeping", "refused" or "over"; `reason` says why, for people."""

    state: str
    reason: str = ""
    arm: str = "default"
    boundaries: int = 0
    dropped: int = 0
    iterations: int = 0
    requests: int = 0
    failed: int = 0
    blocks: int = 0
    verdict: Optional[Verdict] = None


class PlanExecutor:
    """Never raises into training: where the plan does not fit the model, or the GPU may not be changed, `report` says so and the
    model runs as without it."""

    def __init__(self, plan: Source, model: "torch.nn.Module", optimizer: "Optional[torch.optim.Optimizer]" = None, *,
                 gpu: Optional[str] = None, latency_s: Optional[float] = None, max_switches_per_s: float = 20.0,
                 max_slowdown: Optional[float] = None, trial: Optional[Trial] = Trial(),
                 dry_run: bool = False) -> None:
        """`dry_run` does everything except changing the GPU, and needs no lease."""
        self._execution: Optional[_core.Execution] = None
        self._removers: List[Callable[[], None]] = []
        self._report = PlanReport("refused", "the executor has not been started")
        self._start_with = (plan, model, optimizer, gpu, latency_s, max_switches_per_s, max_slowdown, trial, dry_run)

    def start(self) -> "PlanExecutor":
        """Does what entering the block does."""
        try:
            self._start(*self._start_with)
        except Exception as problem:
            self._remove_hooks()
            self._execution = None
            self._report = PlanReport("refused", str(problem))
        return self

    def stop(self) -> PlanReport:
        """Does what leaving the block does: removes the hooks and restores the GPU."""
        self._remove_hooks()
        if self._execution is not None:
            self._execution.stop()
            self._report = self.report
            self._execution = None
        return self._report

    @property
    def report(self) -> PlanReport:
        if self._execution is None:
            return self._report
        told: Dict[str, Any] = dict(self._execution.report())
        verdict = told.pop("verdict")
        return PlanReport(verdict=None if verdict is None else Verdict(**verdict), **told)

    def __enter__(self) -> "PlanExecutor":
        return self.start()

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.stop()

    def _start(self, source: Source, model: "torch.nn.Module", optimizer: "Optional[torch.optim.Optimizer]",
               gpu: Optional[str], latency_s: Optional[float], most: float, max_slowdown: Optional[float],
               trial: Optional[Trial], dry_run: bool) -> None:
        plan = source if isinstance(source, Plan) else read_plan(source)
        modules = dict(model.named_modules())
        places = [_place_of(segment, modules, optimizer, plan.network) for segment in plan.segments]
        guardian = program.find_program("hypermiled")
        slowdown = plan.max_slowdown if max_slowdown is None else max_slowdown
        execution = _core.Execution(
            _core.Gpu(gpu),
            [(segment.setting, segment.seconds) for segment in plan.segments],
            plan.uniform,
            plan.latency_s if latency_s is None else latency_s,
            most,
            None if trial is None else {**vars(trial), "max_slowdown": slowdown},
            None if dry_run else "" if guardian is None else str(guardian),
        )
        self._execution = execution
        for number, place in enumerate(places):
            boundary = execution.boundary(number, of_module=place.phase in _IN_MODULE)
            if place.calls > 1:
                boundary = _at_call(boundary, place.call, place.calls)
            self._removers.append(_hook(boundary, place, modules, optimizer))

    def _remove_hooks(self) -> None:
        while self._removers:
            self._removers.pop()()


def _place_of(segment: Segment, modules: Mapping[str, Any], optimizer: Any, network: str) -> Place:
    """The first place of a segment where a hook can be. Raises ValueError where there is none."""
    for place in segment.places:
        if place.phase == "optimizer":
            if optimizer is None:
                raise ValueError("the plan changes clocks at the optimizer's step; pass the optimizer as optimizer=")
            return place
        if place.layer in modules and place.phase != "communication":
            return place
    raise ValueError(f"the model has no module '{segment.layer}', where the plan for {network} changes clocks; "
                     "make the plan from hypermile.export_layers() of this model")


def _at_call(boundary: Callable[..., None], call: int, calls: int) -> Callable[..., None]:
    """A hook for one call of a module that is called several times per iteration."""
    count = -1

    def hook(*arguments: Any) -> None:
        nonlocal count
        count = (count + 1) % calls
        if count == call:
            boundary(*arguments)

    return hook


def _hook(boundary: Callable[..., None], place: Place, modules: Mapping[str, Any], optimizer: Any) -> Callable[[], None]:
    """Installs the hook; returns a function that removes it."""
    if place.phase in _IN_MODULE:
        remover: Callable[[], None] = modules[place.layer].register_forward_pre_hook(boundary).remove
        return remover
    if place.phase == "backward":
        return _before_backward(modules[place.layer], boundary)
    return _before_step(optimizer, boundary)


def _before_backward(module: Any, boundary: Callable[..., None]) -> Callable[[], None]:
    """Calls `boundary` when the gradient of the module's output is computed. A backward hook of the module would wrap its
    tensors and break layers that change them in place, so the hook is on the output tensor."""

    def watch_output(_module: Any, _inputs: Any, output: Any) -> None:
        tensor = _first_tensor(output)
        if tensor is not None and tensor.requires_grad:
            tensor.register_hook(boundary)

    remover: Callable[[], None] = module.register_forward_hook(watch_output).remove
    return remover


def _first_tensor(output: Any) -> Any:
    if hasattr(output, "register_hook"):
        return output
    if isinstance(output, Mapping):
        output = list(output.values())
    if isinstance(output, (list, tuple)):
        return next((found for found in map(_first_tensor, output) if found is not None), None)
    return None


def _before_step(optimizer: Any, boundary: Callable[..., None]) -> Callable[[], None]:
    if hasattr(optimizer, "register_step_pre_hook"):  # PyTorch 2
        remover: Callable[[], None] = optimizer.register_step_pre_hook(lambda *_: boundary()).remove
        return remover
    step = optimizer.step

    def step_with_boundary(*arguments: Any, **named: Any) -> Any:
        boundary()
        return step(*arguments, **named)

    step_with_boundary._with_counter = True  # type: ignore[attr-defined]  # learning rate schedules look for it
    optimizer.step = step_with_boundary

    def remove() -> None:
        if optimizer.step is step_with_boundary:
            optimizer.step = step

    return remove

# SPDX-License-Identifier: Apache-2.0
"""What a run has shown, as objects and as pandas frames, from its event log alone (docs/reference/event-log.md)."""

from __future__ import annotations

import json
import math
import os
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

if TYPE_CHECKING:
    import pandas

Setting = Mapping[str, float]  # any of sm_mhz, mem_mhz, power_limit_w; empty is the driver's default


@dataclass(frozen=True)
class Window:
    """An interval at one Setting."""

    t: float
    gpu: str
    setting: Setting
    duration_s: float
    iterations: float
    time_per_iteration_s: Optional[float]
    energy_per_iteration_j: Optional[float]
    power_w: Optional[float]
    process: Optional[int]
    phase: Optional[int]
    unusable: Optional[str]


@dataclass(frozen=True)
class Decision:
    """What the policy wanted, and why."""

    t: float
    gpu: str
    policy: str
    setting: Setting
    reason: str
    confidence: Optional[float]


@dataclass(frozen=True)
class Measured:
    """Means of the usable Windows at one Setting, of all GPUs together; errors are standard errors of the mean."""

    setting: Setting
    windows: int
    iterations: float
    time_per_iteration_s: float
    time_error_s: Optional[float]
    energy_per_iteration_j: float
    energy_error_j: Optional[float]


@dataclass(frozen=True)
class Saving:
    """The final Setting against the baseline, as shares of the baseline; errors are standard errors."""

    energy: float
    energy_error: Optional[float]
    slowdown: float
    slowdown_error: Optional[float]


@dataclass(frozen=True)
class Result:
    """`baseline` is the driver's default, `final` the Setting that was kept. `reason` says why something is None."""

    baseline: Optional[Measured] = None
    final: Optional[Measured] = None
    saving: Optional[Saving] = None
    reason: str = ""
    settings: List[Measured] = field(default_factory=list)
    windows: List[Window] = field(default_factory=list)
    decisions: List[Decision] = field(default_factory=list)
    events: List[Dict[str, Any]] = field(default_factory=list, repr=False)
    totals: Dict[str, float] = field(default_factory=dict)

    def frame(self, kind: str = "windows") -> "pandas.DataFrame":
        """"windows", "decisions", "settings", or the type of an event ("sample", "state", …). Needs pandas."""
        import pandas

        rows: Iterable[Any]
        if kind in ("windows", "decisions", "settings"):
            rows = [_flat(asdict(row)) for row in getattr(self, kind)]
        else:
            rows = [_flat(event) for event in self.events if event.get("type") == kind]
        return pandas.DataFrame(list(rows))

    def __str__(self) -> str:
        if self.baseline is None:
            return f"nothing measured: {self.reason}"
        lines = [f"default: {_text(self.baseline)}"]
        if self.saving is not None and self.final is not None:
            lines.append(f"{_setting_text(self.final.setting)}: {_text(self.final)}; "
                         f"{100 * self.saving.energy:.1f} % energy saved, {100 * self.saving.slowdown:.1f} % slower")
        if self.reason:
            lines.append(self.reason)
        return "\n".join(lines)


def read_log(path: Union[str, "os.PathLike[str]"], begin: int = 0, said: str = "") -> Result:
    """The last run in an event log, from byte `begin` on. Half lines and other programs' lines are passed over.

    `said` is what the controller told people; its last line is the reason where the log has none."""
    with open(path, "rb") as file:
        file.seek(begin)
        events = [event for event in map(_parse, file) if event is not None]
    starts = [i for i, event in enumerate(events) if event["type"] == "run_start"]
    return _result(events[starts[-1]:] if starts else events, said)


def _parse(line: bytes) -> Optional[Dict[str, Any]]:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    known = isinstance(event, dict) and event.get("v") == 1 and isinstance(event.get("type"), str)
    return event if known else None


def _result(events: List[Dict[str, Any]], said: str) -> Result:
    windows = [_window(event) for event in events if event["type"] == "window"]
    decisions = [_decision(event) for event in events if event["type"] == "decision"]
    settings = _measured(_main_phase(windows))
    baseline = settings.get(())
    kept = _kept(events)
    final = None if kept is None else settings.get(_key(kept))
    return Result(
        baseline=baseline,
        final=final,
        saving=_saving(baseline, final),
        reason=_reason(events, baseline, final, said),
        settings=list(settings.values()),
        windows=windows,
        decisions=decisions,
        events=events,
        totals=next((event.get("totals", {}) for event in reversed(events) if event["type"] == "run_end"), {}),
    )


def _window(event: Mapping[str, Any]) -> Window:
    return Window(
        t=event["t"],
        gpu=event.get("gpu", ""),
        setting=event.get("setting", {}),
        duration_s=event.get("duration_s", 0.0),
        iterations=event.get("iterations", 0.0),
        time_per_iteration_s=event.get("time_per_iteration_s"),
        energy_per_iteration_j=event.get("energy_per_iteration_j"),
        power_w=event.get("power_w"),
        process=event.get("process"),
        phase=event.get("phase"),
        unusable=event.get("unusable"),
    )


def _decision(event: Mapping[str, Any]) -> Decision:
    return Decision(event["t"], event.get("gpu", ""), event.get("policy", ""), event.get("setting", {}),
                    event.get("reason", ""), event.get("confidence"))


def _key(setting: Setting) -> Tuple[Tuple[str, float], ...]:
    return tuple(sorted(setting.items()))


def _main_phase(windows: List[Window]) -> List[Window]:
    """Usable Windows of the phase in which most iterations were run: only those may be compared."""
    usable = [w for w in windows if w.unusable is None and w.time_per_iteration_s and w.energy_per_iteration_j]
    iterations: Dict[Optional[int], float] = defaultdict(float)
    for window in usable:
        iterations[window.phase] += window.iterations
    main = max(iterations, key=lambda phase: iterations[phase], default=None)
    return [window for window in usable if window.phase == main]


def _measured(windows: List[Window]) -> Dict[Tuple[Tuple[str, float], ...], Measured]:
    """By Setting, in the order in which they were first measured. GPUs are summed: a rank waits for the others."""
    by_setting: Dict[Any, Dict[str, List[Window]]] = {}
    for window in windows:
        by_setting.setdefault(_key(window.setting), {}).setdefault(window.gpu, []).append(window)
    measured = {}
    for key, gpus in by_setting.items():
        times = [_mean([(w.time_per_iteration_s or 0, w.iterations) for w in each]) for each in gpus.values()]
        energies = [_mean([(w.energy_per_iteration_j or 0, w.iterations) for w in each]) for each in gpus.values()]
        slowest = max(times)
        errors = [error for _, error in energies]
        measured[key] = Measured(
            setting=dict(key),
            windows=sum(len(each) for each in gpus.values()),
            iterations=max(sum(w.iterations for w in each) for each in gpus.values()),
            time_per_iteration_s=slowest[0],
            time_error_s=slowest[1],
            energy_per_iteration_j=sum(mean for mean, _ in energies),
            energy_error_j=None if None in errors else math.hypot(*[error for error in errors if error is not None]),
        )
    return measured


def _mean(values: List[Tuple[float, float]]) -> Tuple[float, Optional[float]]:
    """Weighted mean, and its standard error from the scatter; unknown from a single value."""
    weight = sum(w for _, w in values) or 1.0
    mean = sum(v * w for v, w in values) / weight
    if len(values) < 2:
        return mean, None
    spread = sum(w * (v - mean) ** 2 for v, w in values) / weight
    return mean, math.sqrt(spread / (len(values) - 1))


def _kept(events: List[Dict[str, Any]]) -> Optional[Setting]:
    """What the policy had come to hold; None where it never did."""
    kept, wanted, holding = None, None, False
    for event in events:
        if event["type"] == "decision":
            wanted = event.get("setting", {})
        elif event["type"] == "state":
            holding = event["state"] == "hold"
        if holding and wanted is not None:
            kept = wanted
    return kept


def _saving(baseline: Optional[Measured], final: Optional[Measured]) -> Optional[Saving]:
    if baseline is None or final is None:
        return None
    energy = final.energy_per_iteration_j / baseline.energy_per_iteration_j
    time = final.time_per_iteration_s / baseline.time_per_iteration_s
    return Saving(
        energy=1 - energy,
        energy_error=_ratio_error(energy, final.energy_per_iteration_j, final.energy_error_j,
                                  baseline.energy_per_iteration_j, baseline.energy_error_j),
        slowdown=time - 1,
        slowdown_error=_ratio_error(time, final.time_per_iteration_s, final.time_error_s,
                                    baseline.time_per_iteration_s, baseline.time_error_s),
    )


def _ratio_error(ratio: float, a: float, a_error: Optional[float], b: float, b_error: Optional[float]) -> Optional[float]:
    if a_error is None or b_error is None:
        return None
    return ratio * math.hypot(a_error / a, b_error / b)


def _reason(events: List[Dict[str, Any]], baseline: Optional[Measured], final: Optional[Measured], said: str) -> str:
    """Why something is missing: where the Controller was before it let go, or what it said."""
    if baseline is not None and final is not None:
        return ""
    states = [event for event in events if event["type"] == "state" and event["state"] != "released"]
    if states and (baseline is None or states[-1]["state"] in ("refused", "left_alone", "unsure")):
        return f"{states[-1]['state']}: {states[-1]['reason']}"
    if states:
        return "the search was not over when the job ended"
    if said:
        return said.splitlines()[-1]
    return "observed only" if baseline is not None else "no iterations were seen: is hypermile.step() called?"


def _flat(row: Mapping[str, Any]) -> Dict[str, Any]:
    flat: Dict[str, Any] = {}
    for name, value in row.items():
        if name == "setting" and isinstance(value, Mapping):
            flat.update(value)
            flat["setting"] = _setting_text(value)
        else:
            flat[name] = value
    return flat


def _setting_text(setting: Setting) -> str:
    units = {"sm_mhz": "sm={:g}MHz", "mem_mhz": "mem={:g}MHz", "power_limit_w": "limit={:g}W"}
    return " ".join(units[name].format(setting[name]) for name in units if name in setting) or "default"


def _text(measured: Measured) -> str:
    return f"{1e3 * measured.time_per_iteration_s:.2f} ms and {measured.energy_per_iteration_j:.3f} J an iteration"

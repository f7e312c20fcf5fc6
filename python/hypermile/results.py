# SPDX-License-Identifier: Apache-2.0
"""A run as objects and as pandas frames, from its event log. Figures are computed by the program hypermile alone."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from . import program

if TYPE_CHECKING:
    import pandas

Setting = Mapping[str, float]  # any of sm_mhz, mem_mhz, power_limit_w; empty is the driver's default


@dataclass(frozen=True)
class Window:
    """An interval at one setting."""

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
    """What the policy decided, and why."""

    t: float
    gpu: str
    policy: str
    setting: Setting
    reason: str
    confidence: Optional[float]


@dataclass(frozen=True)
class Measured:
    """One iteration at one setting, all GPUs together; intervals are half-widths at 95 %."""

    setting: Setting
    windows: int
    iterations: float
    time_per_iteration_s: float
    time_interval95_s: Optional[float]
    energy_per_iteration_j: Optional[float]
    energy_interval95_j: Optional[float]
    text: str = ""  # as the terminal has it


@dataclass(frozen=True)
class Saving:
    """One iteration at the kept setting against the default, as shares of the default; intervals are half-widths at 95 %."""

    energy: float
    energy_interval95: Optional[float]
    slowdown: float
    slowdown_interval95: Optional[float]
    text: str = ""  # as the terminal has it


@dataclass(frozen=True)
class Job:
    """The whole job, its search included, against what the default would have taken; intervals are half-widths at 95 %.

    `energy_change` is -0.1 where the job used 10 % less energy, `time_change` is 0.03 where it took 3 % longer. What is not
    known is None, all changes where the clocks were not moved."""

    seconds: float
    joules: Optional[float]
    iterations: float
    default_seconds: Optional[float] = None
    default_joules: Optional[float] = None
    saved_j: Optional[float] = None
    saved_interval95_j: Optional[float] = None
    energy_change: Optional[float] = None
    energy_change_interval95: Optional[float] = None
    time_change: Optional[float] = None
    time_change_interval95: Optional[float] = None
    kwh: Optional[float] = None  # of the GPUs and, where host_joules is known, of the host's processors
    host_joules: Optional[float] = None
    cost: Optional[float] = None  # in `currency`, where the run was given a price
    saved_cost: Optional[float] = None
    currency: Optional[str] = None
    co2e_g: Optional[float] = None  # where the run was given a carbon intensity
    saved_co2e_g: Optional[float] = None
    text: str = ""  # as the terminal has it
    bill_text: str = ""


@dataclass(frozen=True)
class Result:
    """`job` is the whole job, `baseline` one iteration at the driver's default, `final` one at the setting that was kept.
    `reason` says why something is None. All figures are hypermile's own, as `hypermile report --json` has them."""

    job: Optional[Job] = None
    baseline: Optional[Measured] = None
    final: Optional[Measured] = None
    saving: Optional[Saving] = None
    reason: str = ""
    settings: List[Measured] = field(default_factory=list)
    windows: List[Window] = field(default_factory=list)
    decisions: List[Decision] = field(default_factory=list)
    events: List[Dict[str, Any]] = field(default_factory=list, repr=False)
    totals: Dict[str, float] = field(default_factory=dict)
    mix: str = ""  # "62 % of the time at 1695 MHz, 38 % at 1410 MHz": then `final` and `saving` are the mean over these settings

    @property
    def saved_percent(self) -> Optional[float]:
        """Of the whole job's energy, search included; negative where it used more. None where that is not known."""
        change = None if self.job is None else self.job.energy_change
        return None if change is None else -100 * change

    @property
    def line(self) -> str:
        """The whole run in one line."""
        if self.baseline is None:
            return f"nothing measured: {self.reason}"
        parts = [self.job.text if self.job is not None and self.job.text else f"at the driver's default {self.baseline.text}", self.reason]
        return "; ".join(part for part in parts if part)

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
        lines = [text for text in (self.job.text, self.job.bill_text) if text] if self.job is not None else []
        lines.append(f"default: {self.baseline.text}")
        if self.saving is not None and self.final is not None:
            lines.append(f"{self.mix or _setting_text(self.final.setting)}: {self.final.text}; "
                         f"at {'that mix' if self.mix else 'the kept setting'}, per iteration: {self.saving.text}")
        if self.reason:
            lines.append(self.reason)
        return "\n".join(lines)


def read_log(path: Union[str, "os.PathLike[str]"], begin: int = 0, said: str = "") -> Result:
    """The last run in an event log, from byte `begin` on. Half lines and other programs' lines are passed over.

    The figures are those of `hypermile report --json`, so the program must be installed; without it `reason` says so.
    `said` is what the controller told people; its last line is the reason where the log has none."""
    with open(path, "rb") as file:
        file.seek(begin)
        events = [event for event in map(_parse, file) if event is not None]
    starts = [i for i, event in enumerate(events) if event["type"] == "run_start"]
    events = events[starts[-1]:] if starts else events
    figures, problem = _figures(path, events)
    return _result(_from_zero(events), figures, said or problem)


def _figures(path: Union[str, "os.PathLike[str]"], events: List[Dict[str, Any]]) -> Tuple[Dict[str, Any], str]:
    """The run of these events as the program sees it; {} and the reason where that cannot be had."""
    if not events:
        return {}, ""
    found = program.find_program()
    if found is None:
        return {}, program.MISSING
    done = subprocess.run([str(found), "report", os.fspath(path), "--json"], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip()
        return {}, words.splitlines()[-1] if words else f"hypermile report ended with {done.returncode}"
    runs = json.loads(done.stdout)["runs"]
    named = [run for run in runs if run["run"] == events[0].get("run")]
    return (named or runs)[-1], ""


def _from_zero(events: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Logs of version 0.1 count from the machine's start: here every run counts from its own."""
    first = events[0].get("t", 0.0) if events else 0.0
    if first == 0.0:
        return events
    return [{**event, **{key: event[key] - first for key in ("t", "begin_s") if key in event}} for event in events]


def _parse(line: bytes) -> Optional[Dict[str, Any]]:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    known = isinstance(event, dict) and event.get("v") == 1 and isinstance(event.get("type"), str)
    return event if known else None


def _result(events: List[Dict[str, Any]], figures: Mapping[str, Any], said: str) -> Result:
    phases = figures.get("phases", [])
    main = phases[0] if phases else {}
    settings = [_measured(each) for each in main.get("settings", []) if "time_per_iteration_s" in each]
    baseline = next((each for each in settings if not each.setting), None)
    kept = main.get("kept")
    final = _measured(kept) if kept is not None else None
    return Result(
        job=Job(**_known(Job, figures["job"])) if "job" in figures else None,
        baseline=baseline,
        final=final,
        saving=None if kept is None or baseline is None else _saving(kept),
        reason=_reason(events, baseline, final, said),
        settings=settings,
        windows=[_window(event) for event in events if event["type"] == "window"],
        decisions=[_decision(event) for event in events if event["type"] == "decision"],
        events=events,
        totals=next((event.get("totals", {}) for event in reversed(events) if event["type"] == "run_end"), {}),
        mix=main.get("kept_mix", ""),
    )


def _known(kind: type, figures: Mapping[str, Any]) -> Dict[str, Any]:
    """The fields of a dataclass; those that the program does not tell are None."""
    return {name: figures.get(name, "" if name == "text" else None) for name in kind.__dataclass_fields__}  # type: ignore[attr-defined]


def _measured(figures: Mapping[str, Any]) -> Measured:
    return Measured(**_known(Measured, figures))


def _saving(kept: Mapping[str, Any]) -> Optional[Saving]:
    """None where the default was not measured."""
    if "energy_change" not in kept or "time_change" not in kept:
        return None
    return Saving(-kept["energy_change"], kept.get("energy_change_interval95"), kept["time_change"],
                  kept.get("time_change_interval95"), kept.get("change_text", ""))


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


def _reason(events: List[Dict[str, Any]], baseline: Optional[Measured], final: Optional[Measured], said: str) -> str:
    """Why something is missing: the controller's last state before it ended, or the last line that it wrote."""
    if baseline is not None and final is not None:
        return ""
    states = [event for event in events if event["type"] == "state" and event["state"] != "released"]
    if states and (baseline is None or states[-1]["state"] in ("refused", "left_alone", "unsure")):
        return f"{states[-1]['state']}: {states[-1]['reason']}"
    if states:
        return "the search was not over"
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

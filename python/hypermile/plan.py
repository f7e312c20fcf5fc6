# SPDX-License-Identifier: Apache-2.0
"""Reads the plan that `hypermile plan NETWORK --gpu GPU --json` prints (docs/design/planner.md), for PlanExecutor."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Union


@dataclass(frozen=True)
class Segment:
    """Consecutive layers at one setting. It begins with `layer`, in the pass `phase`."""

    setting: str
    seconds: float  # the planner's estimate
    layer: str
    phase: str  # "forward", "backward" or "optimizer"
    call: int  # which call of that layer within an iteration, from 0
    calls: int


@dataclass(frozen=True)
class Plan:
    network: str
    segments: List[Segment]
    uniform: str  # the best single setting
    latency_s: float  # from the request of a setting to its effect
    max_slowdown: float


def read_plan(source: Union[str, "os.PathLike[str]", Mapping[str, Any]]) -> Plan:
    """Reads a plan from a file, or from the document itself. Raises ValueError with one line where it is not a plan."""
    if isinstance(source, Mapping):
        document: Any = source
    else:
        with open(source, encoding="utf-8") as file:
            document = json.load(file)
    try:
        return _plan(document)
    except (KeyError, IndexError, TypeError) as problem:
        raise ValueError(f"not a plan: {problem!r} is missing or broken; make one with 'hypermile plan … --json'") from None


def _plan(document: Mapping[str, Any]) -> Plan:
    layers = document["layers"]
    totals: Dict[Any, int] = {}
    occurrences = []
    for layer in layers:
        key = (layer["name"], layer["phase"])
        occurrences.append(totals.get(key, 0))
        totals[key] = occurrences[-1] + 1
    segments = []
    for segment in document["segments"]:
        first = layers[segment["first"]]
        segments.append(Segment(
            setting=str(segment["setting"]),
            seconds=float(segment["time_s"]),
            layer=first["name"].split("+")[0],  # names of fused layers are joined by "+"
            phase=first["phase"],
            call=occurrences[segment["first"]],
            calls=totals[first["name"], first["phase"]],
        ))
    if not segments:
        raise ValueError("not a plan: it has no segments; make one with 'hypermile plan … --json'")
    uniform = next((s.get("setting") for s in document["strategies"] if s["name"] == "uniform"), None)
    return Plan(str(document.get("network", "")), segments, uniform or "default", float(document["switch_latency_s"]),
                float(document["max_slowdown"]))

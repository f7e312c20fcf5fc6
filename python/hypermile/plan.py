# SPDX-License-Identifier: Apache-2.0
"""Reads the plan that `hypermile plan NETWORK --gpu GPU --json` prints (docs/design/planner.md), for PlanExecutor."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Union


@dataclass(frozen=True)
class Place:
    """Where a segment may begin: a layer of the plan, in the pass `phase`."""

    layer: str
    phase: str  # "forward", "backward", "optimizer", "recompute" or "communication"
    call: int  # which call of that layer within an iteration, from 0; calls that recompute count as forward calls
    calls: int


@dataclass(frozen=True)
class Segment:
    """Consecutive layers at one setting. It begins with the first of `places`. A layer that is an operator outside of modules
    cannot be hooked; then it begins with the next place that can."""

    setting: str
    seconds: float  # the planner's estimate
    places: List[Place]

    @property
    def layer(self) -> str:
        return self.places[0].layer

    @property
    def phase(self) -> str:
        return self.places[0].phase


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
    keys = [(layer["name"], "forward" if layer["phase"] == "recompute" else layer["phase"]) for layer in layers]
    occurrences = []
    for key in keys:
        occurrences.append(totals.get(key, 0))
        totals[key] = occurrences[-1] + 1
    segments = []
    for segment in document["segments"]:
        first, last = segment["first"], segment["last"]
        indices = range(first, last + 1) if last >= first else [*range(first, len(layers)), *range(last + 1)]
        segments.append(Segment(
            setting=str(segment["setting"]),
            seconds=float(segment["time_s"]),
            # Names of fused layers are joined by "+".
            places=[Place(layers[i]["name"].split("+")[0], layers[i]["phase"], occurrences[i], totals[keys[i]]) for i in indices],
        ))
    if not segments:
        raise ValueError("not a plan: it has no segments; make one with 'hypermile plan … --json'")
    uniform = next((s.get("setting") for s in document["strategies"] if s["name"] == "uniform"), None)
    return Plan(str(document.get("network", "")), segments, uniform or "default", float(document["switch_latency_s"]),
                float(document["max_slowdown"]))

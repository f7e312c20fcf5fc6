# SPDX-License-Identifier: Apache-2.0
"""The plan that `hypermile plan NETWORK --gpu GPU --json` prints (docs/design/planner.md), as PlanExecutor takes it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Union


@dataclass(frozen=True)
class Segment:
    """Consecutive layers at one Setting; it begins with `layer`, in its pass `phase`."""

    setting: str
    seconds: float  # as the planner thinks
    layer: str
    phase: str  # "forward", "backward" or "optimizer"
    call: int  # which call of that layer in its iteration, from 0
    calls: int


@dataclass(frozen=True)
class Plan:
    network: str
    segments: List[Segment]
    uniform: str  # the best single Setting
    latency_s: float  # from asking for a Setting to its acting
    max_slowdown: float


def read_plan(source: Union[str, "os.PathLike[str]", Mapping[str, Any]]) -> Plan:
    """From a file, or from the document itself. ValueError, in one line, for what is no plan."""
    if isinstance(source, Mapping):
        document: Any = source
    else:
        with open(source, encoding="utf-8") as file:
            document = json.load(file)
    try:
        return _plan(document)
    except (KeyError, IndexError, TypeError) as problem:
        raise ValueError(f"no plan: {problem!r} is missing or broken; make one with 'hypermile plan … --json'") from None


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
            layer=first["name"].split("+")[0],  # what is fused into a layer begins with it
            phase=first["phase"],
            call=occurrences[segment["first"]],
            calls=totals[first["name"], first["phase"]],
        ))
    if not segments:
        raise ValueError("no plan: it has no segments; make one with 'hypermile plan … --json'")
    uniform = next((s.get("setting") for s in document["strategies"] if s["name"] == "uniform"), None)
    return Plan(str(document.get("network", "")), segments, uniform or "default", float(document["switch_latency_s"]),
                float(document["max_slowdown"]))

# SPDX-License-Identifier: Apache-2.0
"""More training per joule.

    import hypermile

    with hypermile.optimize(max_slowdown=0.05) as run:
        for batch in loader:
            hypermile.step()
            train(batch)
    print(run.result)

`step()` marks where iterations begin; `optimize()` and `observe()` start `hypermile attach` beside this process;
`export_layers()`, `profile_layers()` and `PlanExecutor` are for plans of layers (docs/reference/python.md). PyTorch is imported only
by the functions that need it. Watching never raises into training: `run.result.reason` says what went wrong.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._core import listening, step
from .results import Decision, Job, Measured, Result, Window, read_log
from .watch import Watch, observe, optimize

if TYPE_CHECKING:
    from .executor import PlanExecutor, PlanReport
    from .layers import export_layers
    from .plan import Plan, Segment, read_plan
    from .profile import profile_layers

__version__ = "0.2.0"

# Imported at first use, because these import torch or are rarely needed.
_LATER = {
    "PlanExecutor": "executor",
    "PlanReport": "executor",
    "Plan": "plan",
    "Segment": "plan",
    "read_plan": "plan",
    "export_layers": "layers",
    "profile_layers": "profile",
}

__all__ = [
    "Decision", "Job", "Measured", "Plan", "PlanExecutor", "PlanReport", "Result", "Segment", "Watch", "Window", "export_layers",
    "listening", "observe", "optimize", "profile_layers", "read_log", "read_plan", "step",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

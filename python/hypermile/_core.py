# SPDX-License-Identifier: Apache-2.0
"""The C++ part of the package, libhypermile_python.so (python/src/library.h), through ctypes: every Python can load it.

Ticks and boundaries are called through PyDLL, which keeps the interpreter's lock, because they never wait. All other calls
give it back while they run."""

from __future__ import annotations

import ctypes
import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from . import program

_MOST_PHASES = 1024  # names that are remembered as bytes; a job has a few

_path = str(program.find_library("libhypermile_python.so"))
_quick = ctypes.PyDLL(_path)
_slow = ctypes.CDLL(_path)


def _declare(library: ctypes.CDLL, name: str, returns: Any, *takes: Any) -> Any:
    function = getattr(library, name)
    function.restype, function.argtypes = returns, takes
    return function


_TEXT, _OBJECT, _NUMBER = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint32
_tick = _declare(_quick, "hypermile_tick", None)
_tick_phase = _declare(_quick, "hypermile_tick_phase", None, _TEXT)
_listening = _declare(_quick, "hypermile_listening", ctypes.c_int)
_post = _declare(_quick, "hypermile_python_execution_post", None, _OBJECT, _NUMBER)
listen_again: Callable[[], None] = _declare(_slow, "hypermile_python_listen_again", None)
listen_again.__doc__ = "Makes the next tick read HYPERMILE_RING_DIR again."
tell_device: Callable[[int], None] = _declare(_slow, "hypermile_python_tell_device", None, _NUMBER)
tell_device.__doc__ = "Says that this process trains on that CUDA device."
_problem = _declare(_slow, "hypermile_python_problem", _TEXT)
_gpu_open = _declare(_slow, "hypermile_python_gpu_open", _OBJECT, _TEXT)
_gpu_facts = _declare(_slow, "hypermile_python_gpu_facts", _TEXT, _OBJECT)
_gpu_read = _declare(_slow, "hypermile_python_gpu_read", _TEXT, _OBJECT)
_gpu_close = _declare(_slow, "hypermile_python_gpu_close", None, _OBJECT)
_lease_open = _declare(_slow, "hypermile_python_lease_open", _OBJECT, _OBJECT, _TEXT, _TEXT)
_lease_set = _declare(_slow, "hypermile_python_lease_set", _TEXT, _OBJECT, _TEXT)
_lease_release = _declare(_slow, "hypermile_python_lease_release", ctypes.c_int, _OBJECT)
_lease_close = _declare(_slow, "hypermile_python_lease_close", None, _OBJECT)
_check_setting = _declare(_slow, "hypermile_python_check_setting", _TEXT, _TEXT)
_start = _declare(_slow, "hypermile_python_execution_start", _OBJECT, _OBJECT, _TEXT)
_report = _declare(_slow, "hypermile_python_execution_report", _TEXT, _OBJECT)
_stop = _declare(_slow, "hypermile_python_execution_stop", None, _OBJECT)
_execution_close = _declare(_slow, "hypermile_python_execution_close", None, _OBJECT)

_phases: Dict[str, bytes] = {}


def step(phase: Optional[str] = None) -> None:
    """An iteration begins here. Call it at the same place of every iteration; iterations of different phases ("train", "eval") are
    not compared with one another. Does nothing where nobody listens."""
    if phase is None:
        _tick()
    else:
        _tick_phase(_phases.get(phase) or _phase_bytes(phase))


def _phase_bytes(phase: str) -> bytes:
    if not isinstance(phase, str):
        raise TypeError("a phase is a str or None")
    encoded = phase.encode(errors="replace")
    if len(_phases) < _MOST_PHASES:
        _phases[phase] = encoded
    return encoded


def listening() -> bool:
    """Whether anyone listens to ticks."""
    return bool(_listening())


def _answer(answer: Any) -> Any:
    """What a call returned; RuntimeError with the library's line where it failed."""
    if answer:
        return answer
    if isinstance(answer, bytes):
        return answer
    raise RuntimeError((_problem() or b"").decode(errors="replace"))


def check_setting(text: str) -> str:
    """The setting in hypermile's notation; RuntimeError where it is invalid."""
    return str(_answer(_check_setting(text.encode())).decode())


class Gpu:
    """A card's identity and sensors. `name` is as for --gpu; without it, the first GPU that CUDA shows to this process."""

    _handle: Optional[int] = None

    def __init__(self, name: Optional[str] = None) -> None:
        self._handle = _answer(_gpu_open(None if name is None else name.encode()))
        facts: Dict[str, Any] = json.loads(_answer(_gpu_facts(self._handle)))
        self.uuid: str = facts["uuid"]
        self.name: str = facts["name"]
        self.sm_clocks: List[float] = facts["sm_clocks"]
        self.memory_clocks: List[float] = facts["memory_clocks"]

    def read(self) -> Dict[str, Optional[float]]:
        """time_s, energy_j, power_w, sm_mhz, mem_mhz; None where unknown."""
        values: Dict[str, Optional[float]] = json.loads(_answer(_gpu_read(self._handle)))
        return values

    def __del__(self) -> None:
        if self._handle:
            _gpu_close(self._handle)


class Lease:
    """The right to change one GPU. It ends with release(), with the object or with the process; then the GPU is restored."""

    _handle: Optional[int] = None

    def __init__(self, gpu: Gpu, program: str, guardian: str = "") -> None:
        self._handle = _answer(_lease_open(gpu._handle, program.encode(), guardian.encode()))

    def set(self, setting: str) -> str:
        """Applies "sm=1410MHz mem=1593MHz limit=300W" or "default"; returns the setting that was applied."""
        return str(_answer(_lease_set(self._handle, setting.encode())).decode())

    def release(self) -> None:
        _answer(_lease_release(self._handle))

    def __del__(self) -> None:
        if self._handle:
            _lease_close(self._handle)


class Execution:
    """A plan that a C++ thread carries out. Without `guardian`, no GPU is changed."""

    _handle: Optional[int] = None

    def __init__(self, gpu: Gpu, segments: Sequence[Tuple[str, float]], uniform: str, latency_s: float,
                 most_per_second: float, trial: Optional[Mapping[str, Any]] = None,
                 guardian: Optional[str] = None) -> None:
        options = {"segments": list(segments), "uniform": uniform, "latency_s": latency_s, "most_per_second": most_per_second,
                   "trial": None if trial is None else dict(trial), "guardian": guardian}
        self._handle = _answer(_start(gpu._handle, json.dumps(options).encode()))

    def boundary(self, number: int, of_module: bool = False) -> Callable[..., None]:
        """A function to call where segment `number` begins. With `of_module`, its first argument is the module, as in hooks, and it
        does nothing while the module evaluates. The function keeps the execution alive."""
        execution = self

        def pass_boundary(*arguments: Any) -> None:
            if of_module and arguments and getattr(arguments[0], "training", True) is False:
                return
            _post(execution._handle, number)

        return pass_boundary

    def report(self) -> Dict[str, Any]:
        told: Dict[str, Any] = json.loads(_answer(_report(self._handle)))
        return told

    def stop(self) -> None:
        """Returns after the GPU is restored."""
        _stop(self._handle)

    def __del__(self) -> None:
        if self._handle:
            _execution_close(self._handle)

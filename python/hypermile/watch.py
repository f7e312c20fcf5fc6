# SPDX-License-Identifier: Apache-2.0
"""optimize() and observe() run `hypermile attach` beside this process while a block or a function runs.

The controller is a separate process. If it fails, training continues; if training ends in any way (even kill -9), the
controller notices and restores the GPUs. Nothing in here raises: `result.reason` says what went wrong.
"""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, List, Optional, Sequence, Type, TypeVar, Union, overload

from . import _core, program, rings
from .following import Following
from .results import Result, read_log
from .trackers import Tracker

Function = TypeVar("Function", bound=Callable[..., Any])
Slowdown = Union[float, str]
PathLike = Union[str, "os.PathLike[str]"]

_INJECTION = "CUDA_INJECTION64_PATH"
_RUN_WATCHES = "hypermile already watches this job (HYPERMILE_RING_DIR is set), and has the results"
_FIRST_RANK_WATCHES = "the first rank of this node watches the job, and has the result"
_SUMMARY_SECONDS = 30.0  # for the controller to restore the GPUs after it is asked to end


class Watch:
    """The return value of optimize() and observe(): a context manager, and a decorator of functions.

    `result` is set when the block has ended; for a decorated function, the result of its last call is `function.result`.
    """

    def __init__(self, arguments: Sequence[str], log: Optional[PathLike], local_rank: Optional[int],
                 device: Optional[int], quiet: bool, track: Sequence[Tracker] = (), first_step: int = 0) -> None:
        self._arguments = list(arguments)
        self._told_log = None if log is None else Path(log)
        self._rank = local_rank
        self._device = device
        self._quiet = quiet
        self._track = list(track)
        self._first_step = first_step
        self._following: Optional[Following] = None
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._folder: Optional[tempfile.TemporaryDirectory[str]] = None
        self._log_begins = 0
        self.result = Result(reason="the block has not ended yet")

    def start(self) -> "Watch":
        """Does what entering the block does."""
        try:
            self.result = Result(reason=self._start() or "the block has not ended yet")
        except Exception as problem:  # training must go on, whatever failed
            self.result = Result(reason=f"hypermile could not start: {problem}")
        if self._process is None:
            self._say()
        return self

    def stop(self) -> Result:
        """Does what leaving the block does: ends the controller, which restores the GPUs, and reads its results."""
        try:
            if self._process is not None:
                self.result = self._stop(self._process)
                self._say()
        except Exception as problem:
            self.result = Result(reason=f"the results cannot be read: {problem}")
        finally:
            self._process = None
            if self._folder is not None:
                self._folder.cleanup()
                self._folder = None
        return self.result

    @property
    def running(self) -> bool:
        """Whether a controller runs beside this process now."""
        return self._process is not None and self._process.poll() is None

    def __enter__(self) -> "Watch":
        return self.start()

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.stop()

    def __call__(self, function: Function) -> Function:
        @functools.wraps(function)
        def watched(*arguments: Any, **named: Any) -> Any:
            watch = Watch(self._arguments, self._told_log, self._rank, self._device, self._quiet, self._track, self._first_step)
            with watch:
                answer = function(*arguments, **named)
            watched.result = watch.result  # type: ignore[attr-defined]
            return answer

        return watched  # type: ignore[return-value]

    def _start(self) -> Optional[str]:
        """Starts the controller. Returns why there is none, or None."""
        if rings.told_by_launcher():
            return _RUN_WATCHES
        rank = rings.Rank.here(self._rank)
        found = program.find_program()
        if found is None:
            return program.MISSING
        _carry_library()
        folder = rings.listen(rank)
        device = self._device if self._device is not None else _device_of(rank)
        if device is not None:
            _core.tell_device(device)
        if rank.local != 0:
            return _FIRST_RANK_WATCHES
        self._folder = tempfile.TemporaryDirectory(prefix="hypermile-")
        log = self._log_file()
        self._log_begins = log.stat().st_size if log.exists() else 0
        command = [str(found), "attach", "--pid", str(os.getpid()), "--rings", str(folder), "--log", str(log), "--quiet",
                   *self._arguments]
        environment = {name: value for name, value in os.environ.items() if name not in (rings.VARIABLE, _INJECTION)}
        with open(self._words_file(), "wb") as words:
            # In its own process group: Ctrl-C goes to the job, and the controller ends after the
            # job.
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=words, stderr=words,
                                             env=environment, start_new_session=True)
        if self._track:
            self._following = Following(log, self._log_begins, self._track, self._first_step,
                                        lambda: read_log(log, begin=self._log_begins).saved_percent)
        return None

    def _stop(self, process: "subprocess.Popen[bytes]") -> Result:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_SUMMARY_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()  # its guardian or the daemon restores the GPUs
                process.wait()
        words = Path(self._words_file()).read_text(encoding="utf-8", errors="replace").strip()
        log = self._log_file()
        if log.exists():
            result = read_log(log, begin=self._log_begins, said=words)
        else:
            result = Result(reason=_last_line(words) or f"hypermile ended with {process.returncode} and no log")
        if self._following is not None:
            self._following.stop(result.saved_percent)
            self._following = None
        return result

    def _log_file(self) -> Path:
        assert self._folder is not None
        return self._told_log or Path(self._folder.name) / "log.jsonl"

    def _words_file(self) -> str:
        assert self._folder is not None
        return os.path.join(self._folder.name, "words")

    def _say(self) -> None:
        """Says nothing where another process will."""
        if not self._quiet and self.result.reason not in (_RUN_WATCHES, _FIRST_RANK_WATCHES):
            print(f"hypermile: {self.result.line}", file=sys.stderr)


def _last_line(words: str) -> str:
    return words.splitlines()[-1] if words else ""


def _carry_library() -> None:
    """Lets CUDA load our library, which times ticks on the GPU. CUDA looks for it at its first use."""
    torch = sys.modules.get("torch")
    used_already = torch is not None and torch.cuda.is_initialized()
    library = program.find_injected_library()
    if library is not None and not used_already:
        os.environ.setdefault(_INJECTION, str(library))


def _device_of(rank: rings.Rank) -> Optional[int]:
    """Ranks that see the same GPUs each use their own, as trainers do."""
    visible = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    if not rank.shared:
        return None
    return 0 if len(visible) == 1 else rank.local


@overload
def optimize(function: Function) -> Function: ...


@overload
def optimize(function: None = None, *, max_slowdown: Slowdown = ..., policy: Optional[str] = ...,
             objective: Optional[str] = ..., knobs: Optional[str] = ..., gpu: Optional[str] = ...,
             iterations: Optional[int] = ..., cache: Optional[PathLike] = ..., log: Optional[PathLike] = ...,
             local_rank: Optional[int] = ..., device: Optional[int] = ..., quiet: bool = ...,
             track: Sequence[Tracker] = ..., first_step: int = ..., price: Optional[str] = ...,
             carbon: Optional[str] = ...) -> Watch: ...


def optimize(function: Optional[Function] = None, *, max_slowdown: Slowdown = 0.05, policy: Optional[str] = None,
             objective: Optional[str] = None, knobs: Optional[str] = None, gpu: Optional[str] = None,
             iterations: Optional[int] = None, cache: Optional[PathLike] = None, log: Optional[PathLike] = None,
             local_rank: Optional[int] = None, device: Optional[int] = None, quiet: bool = True,
             track: Sequence[Tracker] = (), first_step: int = 0, price: Optional[str] = None,
             carbon: Optional[str] = None) -> Union[Watch, Function]:
    """Spends the least energy within a slowdown, while the block or function runs.

    Mark iterations with `hypermile.step()`. The options are those of `hypermile attach`. `max_slowdown` is a fraction (0.05), a
    text ("5%") or the factor that Zeus takes (1.05); 1 and 2 could mean two things, so they start no controller. `log` is the path
    of the event log. `local_rank` and `device` say which rank of this node this process is and which CUDA device it trains on,
    where torchrun's variables do not say so. Unless `quiet`, prints one line on stderr: what was saved, or why nothing could be done. `track` names
    trackers (hypermile.trackers), whose steps count from `first_step`. `price` ("0.30EUR/kWh") and `carbon` ("380g/kWh", or a
    country such as "FR") add money and CO2e to the result.
    """
    options = {"--max-slowdown": max_slowdown, "--policy": policy, "--objective": objective, "--knobs": knobs, "--gpu": gpu,
               "--iterations": iterations, "--cache": cache, "--price": price, "--carbon": carbon}
    watch = Watch(_given(options), log, local_rank, device, quiet, track, first_step)
    return watch if function is None else watch(function)


@overload
def observe(function: Function) -> Function: ...


@overload
def observe(function: None = None, *, gpu: Optional[str] = ..., log: Optional[PathLike] = ...,
            local_rank: Optional[int] = ..., device: Optional[int] = ..., quiet: bool = ...,
            track: Sequence[Tracker] = ..., first_step: int = ..., price: Optional[str] = ...,
            carbon: Optional[str] = ...) -> Watch: ...


def observe(function: Optional[Function] = None, *, gpu: Optional[str] = None, log: Optional[PathLike] = None,
            local_rank: Optional[int] = None, device: Optional[int] = None, quiet: bool = True,
            track: Sequence[Tracker] = (), first_step: int = 0, price: Optional[str] = None,
            carbon: Optional[str] = None) -> Union[Watch, Function]:
    """Measures time and energy of each iteration while the block or function runs; changes nothing on any GPU."""
    watch = Watch(["--observe", *_given({"--gpu": gpu, "--price": price, "--carbon": carbon})], log, local_rank, device, quiet, track, first_step)
    return watch if function is None else watch(function)


def _given(options: "dict[str, Any]") -> List[str]:
    return [word for name, value in options.items() if value is not None for word in (name, str(value))]

# SPDX-License-Identifier: Apache-2.0
"""The books of one job of field_jobs.py: when each of its steps began, and how long its steps took with hypermile and without.

A job calls more() before each of its steps and ends when that answers False. The first steps warm the job up; then it waits
until field.py creates GO, so that imports and compilation cost the campaign no time. It then trains for COUNTED_S, in
which hypermile's windows are compared with these books. After that come blocks of a fifth of a second that take turns
between three modes, inside one process because the same loop differs by 10 % between two processes:

  none       CUPTI's place is given up and hypermile's process is stopped
  watching   every launch is seen, as in the first ten seconds and in each window
  dark       subscribed, but without callbacks of launches, as most of the time where launches are many

close() writes FOLDER/truth.PID.json. The clock is CLOCK_MONOTONIC; steps of PyTorch are timed by CUDA events on that axis.
A job that does something else between its steps, such as an evaluation, also calls ended() at the end of each step."""
import ctypes
import json
import os
import signal
import time

COUNTED_S, COST_S, BLOCK_S = 8.0, 12.0, 0.2
NONE, WATCHING, DARK = 1, 0, 2  # arguments of hypermile_inject_pause
TURNS = (NONE, WATCHING, DARK, NONE, DARK, WATCHING)


class Books:
    def __init__(self, folder, watcher=None, synchronize=None, event=None, warm=6):
        """watcher: process id of hypermile, None where another process of the job steers the blocks. event: makes a
        CUDA event, None where the job itself says by mark() that all steps so far have ended."""
        self.folder, self.watcher, self.warm = folder, watcher, warm
        self.synchronize, self.event = synchronize, event
        self.hosts, self.events, self.marks, self.blocks, self.ends = [], [], [], [], {}
        self.go_ns = self.cost_ns = None
        self.over = False
        self.mode, self.block = WATCHING, None
        self.micro_batches, self.unit = 1, "step"
        library = os.environ.get("CUDA_INJECTION64_PATH")
        self.pause = ctypes.CDLL(library).hypermile_inject_pause if library else lambda how: None

    def more(self):
        """Call before a step: notes that it begins, or answers False when the job shall end."""
        if self.over:
            return False
        if len(self.hosts) == self.warm and self.watcher is not None:
            self._wait_for_go()
        if self.go_ns and time.monotonic_ns() - self.go_ns > COUNTED_S * 1e9 and not self._next_block():
            return False
        self.note()
        return True

    def note(self):
        self.hosts.append(time.monotonic_ns())
        if self.event and self.cost_ns is None:
            self.events.append(self.event())
            self.events[-1].record()

    def ended(self):
        """The step that more() let begin has ended."""
        if self.event and self.cost_ns is None:
            self.ends[len(self.events) - 1] = self.event()
            self.ends[len(self.events) - 1].record()

    def mark(self):
        """All steps so far have ended on the GPU."""
        self.marks.append((len(self.hosts), time.monotonic_ns()))

    def use(self, mode):
        """Every process of the job changes its mode with the one that steers."""
        if mode != self.mode:
            self.pause(mode)
            self.mode = mode

    def _wait_for_go(self):
        self.synchronize()
        self._leave("ready")
        until = time.monotonic() + 400
        while not os.path.exists(os.path.join(self.folder, "go")) and time.monotonic() < until:
            time.sleep(0.005)
        self.go_ns = time.monotonic_ns()

    def _next_block(self):
        now, done = time.monotonic_ns(), len(self.hosts)
        if self.block and (now - self.block[0] < BLOCK_S * 1e9 or done - self.block[1] < 2):
            return True
        self.synchronize()
        now = time.monotonic_ns()
        if self.block:
            self.blocks.append((self.mode, (now - self.block[0]) * 1e-9 / (done - self.block[1])))
        else:
            self.cost_ns = now
            self._leave("counted")
        if now - self.cost_ns > COST_S * 1e9:
            self.use(WATCHING)
            self._watcher(WATCHING)
            self._leave("done")
            self.over = True
            return False
        mode = TURNS[len(self.blocks) % len(TURNS)]
        self.use(mode)
        self._watcher(mode)
        self.block = (time.monotonic_ns(), done)
        return True

    def _watcher(self, mode):
        if self.watcher and "CUDA_INJECTION64_PATH" in os.environ:
            os.kill(self.watcher, signal.SIGSTOP if mode == NONE else signal.SIGCONT)

    def _leave(self, name):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8"):
            pass

    def _times(self):
        """(steps begun or ended, monotonic ns) in order, without those that warm the job up; and (step, monotonic ns) of its end."""
        if not self.event:
            one_by_one = len(self.marks) >= len(self.hosts) - 1  # the host waits for every step
            return list(enumerate(self.hosts)) if one_by_one else self.marks, []
        self.synchronize()
        first = self.events[self.warm]
        gpu = [first.elapsed_time(event) * 1e6 for event in self.events[self.warm :]]
        shift = max(host - at for host, at in zip(self.hosts[self.warm :], gpu))  # where the host was least ahead of the GPU
        ends = [(step - self.warm, round(first.elapsed_time(event) * 1e6 + shift)) for step, event in self.ends.items() if step >= self.warm]
        return [(number, round(at + shift)) for number, at in enumerate(gpu)], ends

    def close(self, **more):
        times, ends = self._times()
        truth = {"pid": os.getpid(), "steps": len(self.hosts), "micro_batches": self.micro_batches, "unit": self.unit,
                 "go_ns": self.go_ns, "cost_ns": self.cost_ns, "times": times, "ends": ends, "blocks": self.blocks,
                 "wall_minus_monotonic_ns": time.time_ns() - time.monotonic_ns(), **more}
        path = os.path.join(self.folder, f"truth.{os.getpid()}.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(truth, file)
        os.rename(path + ".new", path)

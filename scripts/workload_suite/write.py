# SPDX-License-Identifier: Apache-2.0
"""A Workload as the text of its file (docs/reference/workload-file.md).

Kernels of one kind become one part of the forward and one of the backward pass. The format cannot express an overlap of host
and GPU that does not depend on the clock: what the host cannot hide is written as a gap per launch. The gap comes from a
roofline estimate of the iteration on an RTX 3080 Ti (34 TFLOP/s fp32 and tf32, 68 TFLOP/s fp16, 0.85 TB/s), the GPU that
the suite is meant for.
"""

from .calibration import activity, compute_efficiency
from .ops import Work

# Shares of peak compute and peak memory rates that each kind of kernel reaches; assumed within the
# range of measured layers.
EFFICIENCY = {"matrix": (0.65, 0.85), "small": (0.30, 0.70), "stream": (0.50, 0.85), "gather": (0.30, 0.45)}
RATE = {"fp32": 34e12, "tf32": 34e12, "fp16": 68e12}
BANDWIDTH = 0.85e12
HARDWARE_GAP_US = 0.8  # between two kernels that were queued in time; assumed
JOB_SECONDS = 3600.0  # length of a job at the estimate: an hour of training
LEAST_ITERATIONS = 300
MAX_PARTS = 8


class Part:
    def __init__(self, name, kind, work, precision, each_micro_batch, reached=None):
        self.name, self.kind, self.work = name, kind, work
        self.reached = reached  # share of its peak, where that was measured
        self.precision = precision if kind in ("matrix", "small") else "fp32"
        self.each_micro_batch = each_micro_batch
        self.gap_us, self.host_ms, self.stall_ms = 0.0, 0.0, 0.0

    def efficiencies(self):
        """Shares of peak compute and peak memory rates."""
        compute, memory = EFFICIENCY[self.kind]
        if self.reached is None:
            return compute, memory
        if self.kind in ("matrix", "small"):
            return self.reached, memory
        if not self.bound_by_sms():
            return compute, min(memory, self.reached)
        return min(1.0, compute_efficiency(self.work.flops, self.work.bytes, memory, self.reached)), memory

    def bound_by_sms(self):
        """Slower than its bytes explain; see calibration.py."""
        streams = self.kind in ("stream", "gather") and self.work.flops > 0
        return streams and self.reached is not None and self.reached < EFFICIENCY[self.kind][1]

    def seconds(self):
        """Roofline estimate without waits."""
        compute, memory = self.efficiencies()
        return max(self.work.flops / (RATE[self.precision] * compute), self.work.bytes / (BANDWIDTH * memory))


def _pass_parts(w, name, tape_pass, micro):
    reached = {**w.reached, "small": w.reached.get("matrix")}
    return [Part(f"{name} {kind}", kind, work, w.precision, micro, reached.get(kind)) for kind, work in tape_pass.items()
            if work.launches > 0 and (work.flops > 0 or work.bytes > 0)]


def _merge_smallest(parts):
    """Joins the two parts of the kind that takes the least time, to stay within the format's limit."""
    kinds = {}
    for part in parts:
        kinds.setdefault((part.kind, part.each_micro_batch), []).append(part)
    pairs = [group for group in kinds.values() if len(group) > 1]
    first, second = min(pairs, key=lambda group: sum(p.seconds() for p in group))[:2]
    first.work = Work(first.work.flops + second.work.flops, first.work.bytes + second.work.bytes,
                      first.work.launches + second.work.launches)
    first.name = first.kind
    parts.remove(second)


def _host(w, parts, micro_batches):
    """Spreads over the launches what the host cannot hide; the loader's time comes before the first part."""
    times = [micro_batches if p.each_micro_batch else 1 for p in parts]
    launches = sum(p.work.launches * k for p, k in zip(parts, times))
    gpu = sum((p.seconds() + p.work.launches * (HARDWARE_GAP_US + w.kernel_floor_us) * 1e-6) * k for p, k in zip(parts, times))
    exposed = max(0.0, launches * w.host_us * 1e-6 - gpu)
    for part in parts:
        part.gap_us = 0.0 if w.captured else HARDWARE_GAP_US + w.kernel_floor_us + exposed / launches * 1e6
    parts[0].host_ms = w.loader_ms / (micro_batches if parts[0].each_micro_batch else 1)


def _seconds(parts, micro_batches):
    return sum((p.seconds() + p.work.launches * p.gap_us * 1e-6 + (p.host_ms + p.stall_ms) * 1e-3) *
               (micro_batches if p.each_micro_batch else 1) for p in parts)


def _number(value):
    text = f"{value:.4g}"
    return text if any(c in text for c in ".en") else text + ".0"


def _part_lines(part, captured):
    compute, memory = (efficiency if part.reached is None else _number(efficiency) for efficiency in part.efficiencies())
    lines = ["  [[phase.part]]", f'  name = "{part.name}"']
    if part.work.flops > 0:
        pipe = {"fp16": "bf16"}.get(part.precision, part.precision)
        lines.append(f"  gflop = {{ {pipe} = {_number(part.work.flops / 1e9)} }}")
    if part.work.bytes > 0:
        lines.append(f"  gbyte = {_number(part.work.bytes / 1e9)}")
    if part.work.launches > 0:
        lines += [f"  compute_efficiency = {compute}", f"  memory_efficiency = {memory}"]
        if part.bound_by_sms():
            lines.append(f"  activity = {_number(activity(part.work.flops, part.work.bytes, part.reached))}")
        lines.append(f"  launches = {1 if captured else max(1, round(part.work.launches))}")
    if part.gap_us > 0:
        lines.append(f"  launch_gap_us = {_number(part.gap_us)}")
    if part.host_ms > 0:
        lines.append(f"  host_ms = {_number(part.host_ms)}")
    if part.stall_ms > 0:
        lines.append(f"  data_stall_ms = {_number(part.stall_ms)}")
    if part.each_micro_batch:
        lines.append("  each_micro_batch = true")
    return lines + [""]


def _train_parts(w):
    micro = w.micro_batches > 1
    parts = _pass_parts(w, "forward", w.tape.forward, micro)
    parts += _pass_parts(w, "backward", w.tape.backward, micro)
    if w.tape.parameters > 0:
        parts += [Part("optimizer", "stream", w.tape.optimizer(w.optimizer)["stream"], "fp32", False, w.reached.get("stream"))]
    while len(parts) > MAX_PARTS:
        _merge_smallest(parts)
    _host(w, parts, w.micro_batches)
    return parts


def _waiting(name, seconds, gbyte=0.0):
    part = Part(name, "stream", Work(0, gbyte * 1e9, 0), "fp32", False)
    part.stall_ms = seconds * 1e3
    return part


def _phases(w, train):
    """(name, header lines, parts) of every phase after the first."""
    out = []
    if w.evaluate:
        parts = _pass_parts(w, "forward", w.tape.forward, False)
        _host(w, parts, 1)
        out.append(("evaluation", [f"every = {w.evaluate[0]}", f"iterations = {w.evaluate[1]}"], parts))
    if w.checkpoint:
        # Weights and optimizer state, three times the parameters, are saved through pinned memory.
        part = _waiting("save", w.checkpoint[1], 12 * w.tape.parameters / 1e9)
        out.append(("checkpoint", [f"every = {w.checkpoint[0]}"], [part]))
    if w.stall:
        out.append(("stall", [f"every = {w.stall[0]}"], [_waiting("wait for data", w.stall[1])]))
    for name, weight, scale in w.rounds:
        parts = _pass_parts(w, "forward", {k: v.scaled(scale) for k, v in w.tape.forward.items()}, False)
        _host(w, parts, 1)
        out.append((name, [f"weight = {weight}"], parts))
    return out


def _length(w):
    spread = (w.lengths ** 2 + w.jitter ** 2) ** 0.5
    kind = "normal" if spread <= 0.12 else "lognormal"
    return [f'length = {{ kind = "{kind}", cv = {_number(spread)} }}']


def file_text(w):
    train = _train_parts(w)
    seconds = _seconds(train, w.micro_batches)
    iterations = max(LEAST_ITERATIONS, int(float(f"{JOB_SECONDS / seconds:.2g}")))
    lines = [
        "# Generated by scripts/make-workloads: edit that, not this file.",
        f"# {w.source}",
        "# Operations, bytes and launches follow from the layers' shapes; efficiencies, gaps, waits and spreads are assumed.",
    ]
    lines += [f"# {note[0].upper()}{note[1:]}." for note in w.notes]
    lines += [f"# Estimate on an RTX 3080 Ti: {_number(seconds * 1e3)} ms an iteration.", "",
              f'title = "{w.about}"', f'family = "{w.family}"',
              "tags = [" + ", ".join(f'"{tag}"' for tag in w.tags) + "]", f"iterations = {iterations}"]
    if w.micro_batches > 1:
        lines.append(f"micro_batches = {w.micro_batches}")
    if w.rounds:
        lines.append("aperiodic = true")
    if w.drift:
        lines += ["", "[drift]", f"change = {w.drift[0]}", f"iterations = {w.drift[1]}"]
    lines += ["", "[[phase]]", 'name = "train"'] + _length(w) + [""]
    for part in train:
        lines += _part_lines(part, w.captured)
    for name, header, parts in _phases(w, train):
        lines += ["[[phase]]", f'name = "{name}"'] + header
        lines += (_length(w) if w.rounds or name == "evaluation" else []) + [""]
        for part in parts:
            lines += _part_lines(part, w.captured)
    return "\n".join(lines).rstrip() + "\n"

# SPDX-License-Identifier: Apache-2.0
"""How accurate is the card's 20 ms power buffer? Bursts of matrix products of 30 ms begin at a fixed rhythm: one rhythm is
a multiple of the buffer's 20 ms, the others are not. Meanwhile the energy counter is polled every 5 ms and the buffer is
drained every 0.2 s. The counter over 2 s is then compared with the integral of the buffer's samples. Reads the GPU and
changes nothing on it.

If samples are instants and the rhythms agree, the buffer sees the same places of each burst and stays wrong as long as
they agree; samples that are means do not. Gaps between samples are printed.

usage: power_samples.py [SECONDS]"""
import ctypes
import multiprocessing
import statistics
import sys
import time


class Sample(ctypes.Structure):
    _fields_ = [("time_us", ctypes.c_ulonglong), ("value", ctypes.c_ulonglong)]


class Card:
    """NVML's energy counter and power buffer of GPU 0."""

    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        assert self.nvml.nvmlInit_v2() == 0
        self.device = ctypes.c_void_p()
        assert self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)) == 0
        self.newest = int(time.time() * 1e6)

    def energy(self):
        value = ctypes.c_ulonglong()
        assert self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.device, ctypes.byref(value)) == 0
        return value.value * 1e-3

    def drain(self):
        samples, count, kind = (Sample * 1024)(), ctypes.c_uint(1024), ctypes.c_int()
        code = self.nvml.nvmlDeviceGetSamples(self.device, 0, ctypes.c_ulonglong(self.newest), ctypes.byref(kind),
                                              ctypes.byref(count), samples)
        if code != 0:
            return []
        out = [(s.time_us * 1e-6, (s.value & 0xFFFFFFFF) * 1e-3) for s in samples[: count.value] if s.time_us > self.newest]
        if out:
            self.newest = int(round(out[-1][0] * 1e6))
        return out


def bursts(rhythm_s, burst_s, seconds, ready):
    import torch

    a = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in range(50):
        a @ a
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(200):
        a @ a
    torch.cuda.synchronize()
    products = max(1, round(200 * burst_s / (time.perf_counter() - begin)))
    ready.set()
    begin = time.perf_counter()
    for turn in range(int(seconds / rhythm_s)):
        while time.perf_counter() < begin + turn * rhythm_s:
            time.sleep(0.0005)
        for _ in range(products):
            a @ a
    torch.cuda.synchronize()


def integral(samples, begin, end):
    """Energy between two instants, with power interpolated linearly between samples."""
    total = 0.0
    for (t0, p0), (t1, p1) in zip(samples, samples[1:]):
        low, high = max(t0, begin), min(t1, end)
        if high > low:
            at = lambda t: p0 + (p1 - p0) * (t - t0) / (t1 - t0)
            total += (at(low) + at(high)) / 2 * (high - low)
    return total


def measure(rhythm_s, seconds):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    job = context.Process(target=bursts, args=(rhythm_s, 0.030, seconds, ready))
    job.start()
    ready.wait(120)
    time.sleep(1)
    card, steps, samples = Card(), [], []
    drained = 0
    until = time.time() + seconds - 2
    while time.time() < until:
        energy = card.energy()
        if not steps or energy != steps[-1][1]:
            steps.append((time.time(), energy))
        if time.time() - drained > 0.2:
            samples += card.drain()
            drained = time.time()
        time.sleep(0.002)
    time.sleep(0.3)
    samples += card.drain()
    job.join()
    gaps = [b[0] - a[0] for a, b in zip(samples, samples[1:])]
    steps = [s for s in steps[1:] if samples[0][0] < s[0] < samples[-1][0]]
    errors = [(steps[i + 20][1] - steps[i][1]) / integral(samples, steps[i][0], steps[i + 20][0]) - 1
              for i in range(0, len(steps) - 20, 5)]
    whole = (steps[-1][1] - steps[0][1]) / integral(samples, steps[0][0], steps[-1][0]) - 1
    power = [p for _, p in samples]
    print(f"| {rhythm_s * 1e3:.1f} | {statistics.fmean(power):.0f} ± {statistics.pstdev(power):.0f} | "
          f"{1e3 * statistics.median(gaps):.1f} ({1e3 * max(gaps):.1f}) | {100 * statistics.fmean(map(abs, errors)):.2f} "
          f"({100 * max(errors, key=abs):+.2f}) | {100 * whole:+.2f} |", flush=True)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 14
    print("| rhythm, ms | samples: mean ± scatter, W | between samples, ms: median (most) | "
          "counter against samples over 2 s, %: mean size (worst) | over all, % |\n| --- | --- | --- | --- | --- |")
    for rhythm_s in (0.080, 0.0803, 0.083, 0.0907):
        measure(rhythm_s, seconds)


if __name__ == "__main__":
    main()

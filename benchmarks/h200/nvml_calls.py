# SPDX-License-Identifier: Apache-2.0
"""The cost of NVML itself on the host, without hypermile: the memory of a program at each stage of opening NVML, and the
processor time of each kind of call that hypermile makes. Only reads. HYPERMILE_NVML names another library.

usage: nvml_calls.py [CALLS of each kind]"""
import ctypes
import os
import sys
import time

FIELD_POWER, FIELD_AVERAGE, FIELD_ENERGY = 186, 185, 83


class Field(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("scope", ctypes.c_uint), ("time", ctypes.c_longlong), ("latency", ctypes.c_longlong),
                ("type", ctypes.c_int), ("status", ctypes.c_int), ("value", ctypes.c_ulonglong)]


class PowerSample(ctypes.Structure):
    _fields_ = [("time_us", ctypes.c_ulonglong), ("value", ctypes.c_ulonglong)]


def sizes(pid="self"):
    """Resident KiB of a process, by kind."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return {line.split(":")[0]: int(line.split()[1]) for line in file if line.startswith(("VmRSS", "Rss"))}


def resident_text(kib):
    return " | ".join(f"{kib.get(name, 0) / 1024:.1f}" for name in ("VmRSS", "RssAnon", "RssFile", "RssShmem"))


class Nvml:
    """The library, opened as hypermile opens it, with the memory in use at each stage."""

    def __init__(self):
        self.stages = [("before", sizes())]
        self.library = ctypes.CDLL(os.environ.get("HYPERMILE_NVML", "libnvidia-ml.so.1"))
        self.stages.append(("library loaded", sizes()))
        self.check(self.library.nvmlInit_v2())
        self.stages.append(("nvmlInit", sizes()))
        self.device = ctypes.c_void_p()
        self.check(self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)))
        self.stages.append(("card 0 opened", sizes()))
        self.number = ctypes.c_uint()
        self.long = ctypes.c_ulonglong()
        self.pair = (ctypes.c_uint * 2)()
        self.samples = (PowerSample * 256)()
        self.processes = (ctypes.c_byte * 32 * 64)()
        self.newest = 0

    @staticmethod
    def check(code):
        if code != 0:
            sys.exit(f"nvml_calls.py: NVML answered {code}")

    def fields(self, *ids):
        fields = (Field * len(ids))(*[Field(id=number) for number in ids])
        return self.library.nvmlDeviceGetFieldValues(self.device, len(ids), fields)

    def drain(self):
        kind, count = ctypes.c_int(), ctypes.c_uint(len(self.samples))
        code = self.library.nvmlDeviceGetSamples(self.device, 0, ctypes.c_ulonglong(self.newest), ctypes.byref(kind),
                                                 ctypes.byref(count), self.samples)
        if code == 0:
            self.newest = max([self.newest] + [sample.time_us for sample in self.samples[:count.value]])
        return code

    def ask_length(self):
        kind, count = ctypes.c_int(), ctypes.c_uint(0)
        return self.library.nvmlDeviceGetSamples(self.device, 0, ctypes.c_ulonglong(self.newest), ctypes.byref(kind),
                                                 ctypes.byref(count), None)

    def list_processes(self):
        count = ctypes.c_uint(64)
        return self.library.nvmlDeviceGetComputeRunningProcesses_v3(self.device, ctypes.byref(count), self.processes)

    def calls(self):
        """(kind of call, seconds between two calls, the call)."""
        nvml, device = self.library, self.device
        number, long = ctypes.byref(self.number), ctypes.byref(self.long)
        reasons = getattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons", nvml.nvmlDeviceGetCurrentClocksThrottleReasons)
        return [("energy counter", 0.03, lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(device, long)),
                ("energy counter, as a field", 0.03, lambda: self.fields(FIELD_ENERGY)),
                ("power buffer, drained every 30 ms", 0.03, self.drain),
                ("power buffer, drained every 0.5 s", 0.5, self.drain),
                ("power buffer, its length asked", 0.03, self.ask_length),
                ("instant power, field", 0.02, lambda: self.fields(FIELD_POWER)),
                ("instant and average power, fields", 0.02, lambda: self.fields(FIELD_POWER, FIELD_AVERAGE)),
                ("SM clock", 0.02, lambda: nvml.nvmlDeviceGetClockInfo(device, 1, number)),
                ("memory clock", 0.02, lambda: nvml.nvmlDeviceGetClockInfo(device, 2, number)),
                ("event reasons", 0.02, lambda: reasons(device, long)),
                ("utilisation", 0.02, lambda: nvml.nvmlDeviceGetUtilizationRates(device, self.pair)),
                ("temperature", 0.02, lambda: nvml.nvmlDeviceGetTemperature(device, 0, number)),
                ("power limit", 0.02, lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(device, number)),
                ("processes", 0.03, self.list_processes)]


def cost(call, wait, times):
    """(median and mean processor time in µs, median real time in µs, last answer)."""
    spent, took, code = [], [], 0
    for _ in range(times):
        time.sleep(wait)
        begin, cpu = time.perf_counter(), time.thread_time()
        code = call()
        spent.append(time.thread_time() - cpu)
        took.append(time.perf_counter() - begin)
    middle = len(spent) // 2
    return 1e6 * sorted(spent)[middle], 1e6 * sum(spent) / times, 1e6 * sorted(took)[middle], code


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    nvml = Nvml()
    calls = nvml.calls()
    print("| call | CPU, median µs | CPU, mean µs | real time, median µs | answer |\n| --- | ---: | ---: | ---: | ---: |")
    for name, wait, call in calls:
        median, mean, took, code = cost(call, wait, times if wait < 0.1 else 8)
        print(f"| {name} | {median:.0f} | {mean:.0f} | {took:.0f} | {code} |", flush=True)
    nvml.stages.append(("every call made", sizes()))
    print("\n| a program that only calls NVML (Python) | resident, MiB | its own | of files | shared |\n"
          "| --- | ---: | ---: | ---: | ---: |")
    for name, kib in nvml.stages:
        print(f"| {name} | {resident_text(kib)} |", flush=True)
    first, last = nvml.stages[0][1], nvml.stages[-1][1]
    print(f"| what NVML added | {resident_text({name: last[name] - first.get(name, 0) for name in last})} |", flush=True)


if __name__ == "__main__":
    main()

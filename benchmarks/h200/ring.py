# SPDX-License-Identifier: Apache-2.0
"""Reads the rings of src/inject/ring.h, for scripts that cannot use the C++ reader. It is written from the documented
layout alone, so it also checks that layout. It trusts the writer."""
import os
import struct

SLOTS, NAMES = 1 << 16, 8192
CONTROL_AT, NAMES_AT = 4096, 8192
SLOTS_AT = NAMES_AT + NAMES * 256
SIZE = SLOTS_AT + SLOTS * 32
HEAD_AT = 512
KINDS = {1: "launch", 2: "gpu_time", 3: "tick", 4: "step", 5: "context", 6: "fork", 7: "status", 8: "watch", 9: "tick_time"}
STATUS = ["starting", "watching", "no cupti", "cupti failed", "other profiler", "handed over", "ended"]
NO_NAME = 0xFFFFFFFF


class Ring:
    def __init__(self, path):
        self.file = open(path, "r+b", buffering=0)
        self.next = 0
        self.lost = 0
        self.revision = 0
        self.wanted = (0, 0, NO_NAME, 0, 0)
        self.dark_until = 0

    def _at(self, offset, size):
        return os.pread(self.file.fileno(), size, offset)

    def header(self):
        raw = self._at(0, HEAD_AT + 8)
        magic, version = struct.unpack_from("<QI", raw)
        assert magic == 0x676E69526C696D48 and version == 1, "not a ring of this version"
        names = ("source", "slot_count", "slot_size", "name_count", "name_size")
        out = dict(zip(names, struct.unpack_from("<5I", raw, 12)))
        out["file_size"], out["pid"], out["parent_pid"], out["start_ns"] = struct.unpack_from("<QIIQ", raw, 32)
        out["process"] = raw[56:120].split(b"\0")[0].decode()
        status, out["cupti"], out["driver"], out["names"] = struct.unpack_from("<4I", raw, 120)
        out["status"] = STATUS[status]
        out["reason"] = raw[136:264].split(b"\0")[0].decode()
        out["contexts"], out["forks"] = struct.unpack_from("<2I", raw, 264)
        tail = ("names_lost", "events_placed", "events_passed", "in_capture", "dark_ns")
        out.update(zip(tail, struct.unpack_from("<5Q", raw, 272)))
        out["head"] = struct.unpack_from("<Q", raw, HEAD_AT)[0]
        return out

    def name(self, number):
        raw = self._at(NAMES_AT + number * 256, 256)
        return raw[4 : 4 + struct.unpack_from("<I", raw)[0]].decode(errors="replace")

    def drain(self):
        """(kind, number, a, middle, high, c) for every record since the last call."""
        head = struct.unpack("<Q", self._at(HEAD_AT, 8))[0]
        if head - self.next > SLOTS:
            self.lost += head - self.next - SLOTS
            self.next = head - SLOTS
        while self.next < head:
            index = self.next % SLOTS
            count = min(1024, SLOTS - index, head - self.next)
            raw = self._at(SLOTS_AT + index * 32, count * 32)
            for seal, a, b, c in struct.iter_unpack("<4Q", raw):
                if (seal >> 16) != self.next + 1:
                    if (seal >> 16) < self.next + 1:
                        return  # still being written
                    self.lost += 1
                else:
                    yield KINDS.get(b & 0xFF), self.next, a, (b >> 8) & 0xFFFFFF, b >> 32, c
                self.next += 1

    def want_events(self, kernel, previous=NO_NAME, spacing_ns=50_000_000):
        self.wanted = (1, kernel, previous, 0, spacing_ns)
        self._write_control()

    def want_step_events(self, spacing_ns=50_000_000):
        """Requests events at the first launch after each NVTX step or tick."""
        self.wanted = (2, 0, NO_NAME, 0, spacing_ns)
        self._write_control()

    def want_dark(self, until_ns):
        """Says that launches need not be watched until `until_ns` on the clock of time.monotonic_ns()."""
        self.dark_until = until_ns
        self._write_control()

    def _write_control(self):
        self.revision += 2
        fd = self.file.fileno()
        body = struct.pack("<QIIIIQQ", self.revision - 1, *self.wanted, self.dark_until)
        os.pwrite(fd, body, CONTROL_AT)
        os.pwrite(fd, struct.pack("<Q", self.revision), CONTROL_AT)


def rings(folder):
    return [Ring(os.path.join(folder, n)) for n in sorted(os.listdir(folder)) if n.endswith(".ring")]


def seconds(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]

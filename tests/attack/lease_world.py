# SPDX-License-Identifier: Apache-2.0
"""What the attacks on leases share: a machine of simulated GPUs, a daemon, and clients that speak its protocol (docs/reference/
daemon-protocol.md). Not an attack itself."""

import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time

BUILD = os.path.realpath(os.environ.get("HYPERMILE_BUILD", "build"))
HYPERMILE = os.path.join(BUILD, "bin", "hypermile")
HYPERMILED = os.path.join(BUILD, "bin", "hypermiled")
EVERYBODY = "[[allow]]\neveryone = true\ngpus = ['all']\nsm_clock = [1, 9999]\nmemory_clock = [1, 9999]\npower_limit = [1, 9999]\n"

ACQUIRE, SET, RENEW, RELEASE, LIST, STATUS, RESET = range(1, 8)
REFUSED = 128
VERSION, TYPE, SEQUENCE, LEASE, GPU, TTL, JOB, SM = range(1, 9)
MESSAGE, CLIENT = 14, 31

_TABLE = []
for _n in range(256):
    for _ in range(8):
        _n = _n >> 1 ^ (0x82F63B78 if _n & 1 else 0)
    _TABLE.append(_n)


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def frame(kind, *fields):
    """A request; a field is (tag, int, float or str)."""
    body = b""
    for tag, value in ((VERSION, 1), (TYPE, kind), (SEQUENCE, 1), *fields):
        if isinstance(value, int):
            value = struct.pack("<Q", value)
        elif isinstance(value, float):
            value = struct.pack("<d", value)
        else:
            value = value.encode()
        body += struct.pack("<BH", tag, len(value)) + value
    length = struct.pack("<I", len(body))
    return length + struct.pack("<I", crc32c(length + body)) + body


class Client:
    """One connection; `end` is a path or a connected socket."""

    def __init__(self, end):
        if isinstance(end, str):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(end)
        else:
            self.socket = end
        self.socket.settimeout(20)
        self.lease = 0

    def ask(self, kind, *fields):
        """Returns (type, {tag: bytes}); type is REFUSED when the daemon hung up."""
        try:
            self.socket.sendall(frame(kind, *fields))
            head = self._read(8)
            body = self._read(struct.unpack("<I", head[:4])[0])
        except (OSError, EOFError) as problem:
            return REFUSED, {MESSAGE: str(problem).encode()}
        reply = {}
        while body:
            tag, length = struct.unpack("<BH", body[:3])
            reply[tag] = body[3:3 + length]
            body = body[3 + length:]
        return struct.unpack("<Q", reply[TYPE])[0], reply

    def _read(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError("the daemon hung up")
            data += part
        return data

    def acquire(self, gpu, ttl=30.0):
        """True when granted; else `self.why` says why not."""
        kind, reply = self.ask(ACQUIRE, (GPU, gpu), (TTL, ttl), (CLIENT, "attack"), (JOB, ""))
        self.why = reply.get(MESSAGE, b"").decode()
        if kind != REFUSED:
            self.lease = struct.unpack("<Q", reply[LEASE])[0]
        return kind != REFUSED

    def set(self, gpu, mhz):
        return self.ask(SET, (LEASE, self.lease), (GPU, gpu), (SM, float(mhz)))[0] != REFUSED

    def close(self):
        self.socket.close()


class World:
    def __init__(self, gpus="rtx3080ti,h200"):
        self.folder = tempfile.mkdtemp(prefix="hypermile-attack-")
        os.chmod(self.folder, 0o1777)
        self.socket = os.path.join(self.folder, "socket")
        self.environment = {
            **os.environ,
            "HYPERMILE_NVML": os.path.join(BUILD, "lib/nvmlsim/libnvidia-ml.so.1"),
            "HYPERMILE_SIM_STATE": os.path.join(self.folder, "sim"), "HYPERMILE_SIM_GPUS": gpus, "HYPERMILE_SIM_SPEED": "20",
            "HYPERMILE_STATE": os.path.join(self.folder, "journals"), "HYPERMILE_SOCKET": self.socket,
        }
        self.started = []
        self.gpus = [gpu["uuid"] for gpu in self.look()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()
        for number in range(len(self.gpus)):
            self.end_guardian(number)
        shutil.rmtree(self.folder, ignore_errors=True)

    def end_guardian(self, number):
        """A guardian whose driver hangs cannot end by itself."""
        with contextlib.suppress(OSError, IndexError, ValueError):
            pid = self.keeper(number)
            with open(f"/proc/{pid}/environ", "rb") as file:
                if self.folder.encode() in file.read():
                    os.kill(pid, 9)

    def look(self):
        text = subprocess.run([HYPERMILE, "simulate", "--status", "--json"], env=self.environment, capture_output=True, text=True,
                              check=True, timeout=60).stdout
        return json.loads(text)["gpus"]

    def changed(self):
        return [gpu["uuid"] for gpu in self.look() if gpu["sm_lock_mhz"] or gpu["mem_lock_mhz"]]

    def restored(self, seconds=3):
        """True once no GPU is changed."""
        return wait_for(lambda: not self.changed(), seconds)

    def start(self, command, **more):
        process = subprocess.Popen(command, env=self.environment, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more})
        self.started.append(process)
        return process

    def daemon(self, rules=EVERYBODY):
        path = os.path.join(self.folder, "hypermiled.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(rules)
        os.chmod(path, 0o644)
        process = self.start([HYPERMILED, "--config", path])
        assert wait_for(lambda: os.path.exists(self.socket) and self.client_can_list(), 20), "the daemon does not serve"
        return process

    def client_can_list(self):
        with contextlib.suppress(OSError):
            client = Client(self.socket)
            # Until the GPUs are known and restored, nobody gets a lease.
            if client.acquire(self.gpus[0]):
                client.ask(RELEASE, (LEASE, client.lease))
                client.close()
                return True
        return False

    def guardian(self, before=()):
        """Starts a guardian through the command `before`. Returns a Client, or the reason why there is none."""
        ours, theirs = socket.socketpair(socket.AF_UNIX)
        try:
            done = subprocess.run([*before, HYPERMILED, "--guardian"], stdin=theirs, env=self.environment, capture_output=True,
                                  text=True, check=False, timeout=60)
        finally:
            theirs.close()
        return Client(ours) if done.returncode == 0 else done.stderr.strip()

    def keeper(self, number=0):
        """The process that keeps the GPU, by its lock file."""
        with open(os.path.join(self.environment["HYPERMILE_STATE"], self.gpus[number] + ".lock"), encoding="utf-8") as file:
            return int(file.read().split("(pid ")[1].rstrip(")"))


def wait_for(condition, seconds):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def needs_root(name):
    if os.geteuid() != 0:
        print(f"{name} | 0 | skipped: needs root")
        raise SystemExit(77)

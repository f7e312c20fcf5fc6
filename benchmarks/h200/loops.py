# SPDX-License-Identifier: Apache-2.0
"""Training loops that record their own truth: loops.py NAME SECONDS TRUTH_PREFIX trains for about that long and writes
TRUTH_PREFIX.PID.json: the number of iterations, the phases, and when each unit of work (an iteration or one of its
micro-batches) began on the host (CLOCK_MONOTONIC) and on the GPU (CUDA events). The loops do not use hypermile, except
those that call its tick or mark NVTX ranges for it."""
import ctypes
import json
import os
import subprocess
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

DEVICE = "cuda"


class Books:
    """The loop's own record of what it did."""

    def __init__(self, seconds, prefix):
        self.until = None  # set at the first unit, as compiling before it is not training
        self.seconds = seconds
        self.prefix = prefix
        self.hosts, self.events, self.phases = [], [], []
        self.iterations = 0
        self.micro_batches = 1

    def begin(self):
        """Records that a unit of work begins now."""
        if self.until is None:
            self.until = time.monotonic() + self.seconds
        event = torch.cuda.Event(enable_timing=True)
        self.hosts.append(time.monotonic_ns())
        event.record()
        self.events.append(event)

    def phase(self, name):
        """Records that another phase begins now."""
        self.phases.append({"name": name, "host_ns": time.monotonic_ns(), "unit": len(self.hosts)})

    def time_left(self, share=1.0):
        return self.until is None or time.monotonic() < self.until - self.seconds * (1 - share)

    def close(self, **more):
        torch.cuda.synchronize()
        first = self.events[0]
        truth = {"pid": os.getpid(), "iterations": self.iterations, "micro_batches": self.micro_batches,
                 "phases": self.phases, "host_ns": self.hosts,
                 "gpu_s": [first.elapsed_time(event) * 1e-3 for event in self.events], **more}
        with open(f"{self.prefix}.{os.getpid()}.json", "w", encoding="utf-8") as file:
            json.dump(truth, file)


def train(books, step, sync_every=20, share=1.0, stall=None):
    while books.time_left(share):
        if stall:
            stall()
        books.begin()
        step(books.iterations)
        books.iterations += 1
        if books.iterations % sync_every == 0:
            torch.cuda.synchronize()  # as a loop that prints its loss does


# Models


class Bottleneck(nn.Module):
    def __init__(self, inside, width, stride=1):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inside, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width))
        self.skip = nn.Identity() if inside == 4 * width and stride == 1 else nn.Sequential(
            nn.Conv2d(inside, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        return F.relu(self.body(x) + self.skip(x))


def resnet(blocks=(3, 4, 6, 3), width=64):
    layers = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
              nn.MaxPool2d(3, 2, 1)]
    inside = width
    for stage, count in enumerate(blocks):
        for block in range(count):
            layers.append(Bottleneck(inside, width << stage, 2 if stage and not block else 1))
            inside = 4 * (width << stage)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, 1000))


class Transformer(nn.Module):
    def __init__(self, layers=12, width=768, heads=12, words=8192):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True,
                                           activation="gelu", norm_first=True)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)

    def forward(self, x):
        return self.head(self.body(self.embed(x)))


def images(batch, size=224):
    return (torch.randn(batch, 3, size, size, device=DEVICE).to(memory_format=torch.channels_last),
            torch.randint(1000, (batch,), device=DEVICE))


def cnn_step(batch=128, blocks=(3, 4, 6, 3)):
    model = resnet(blocks).to(DEVICE, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    x, y = images(batch)

    def step(_=0):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE, torch.bfloat16):
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()

    return step, model, x


def mlp(width=64, batch=32, depth=3):
    layers = []
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(width, 10)).to(DEVICE)
    x = torch.randn(batch, width, device=DEVICE)
    y = torch.randint(10, (batch,), device=DEVICE)
    return model, x, y


def mlp_step(**sizes):
    model, x, y = mlp(**sizes)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step(_=0):
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


# Loops


def resnet_eager(books):
    train(books, cnn_step()[0])


def mlp_tiny(books):
    train(books, mlp_step(), sync_every=1000)


def gpt_accumulation(books, micro_batches=8):
    model = Transformer().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    x = torch.randint(8192, (8, 512), device=DEVICE)
    books.micro_batches = micro_batches
    while books.time_left():
        for _ in range(micro_batches):
            books.begin()
            with torch.autocast(DEVICE, torch.bfloat16):
                loss = F.cross_entropy(model(x).flatten(0, 1), x.flatten()) / micro_batches
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        books.iterations += 1
        if books.iterations % 5 == 0:
            loss.item()


def compiled_graphs(books):
    model = torch.compile(Transformer(layers=4, width=512, heads=8), mode="reduce-overhead").to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    x = torch.randint(8192, (8, 256), device=DEVICE)

    def step(_=0):
        torch.compiler.cudagraph_mark_step_begin()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE, torch.bfloat16):
            loss = F.cross_entropy(model(x).flatten(0, 1), x.flatten())
        loss.backward()
        optimizer.step()

    for _ in range(5):  # compiles and captures before the training
        step()
    torch.cuda.synchronize()
    train(books, step)


def whole_graph(books):
    model, x, y = mlp(width=2048, batch=4096, depth=6)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    train(books, lambda _: graph.replay(), sync_every=100)


def gnn_small(books):
    """Graph isomorphism layers over batches of small graphs of different sizes: many small kernels."""
    width, layers = 64, 5
    nets = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(),
                                       nn.Linear(width, width), nn.ReLU()) for _ in range(layers)).to(DEVICE)
    head = nn.Linear(width, 2).to(DEVICE)
    optimizer = torch.optim.Adam([*nets.parameters(), *head.parameters()], lr=1e-3)
    generator = torch.Generator().manual_seed(0)
    batches = []
    for _ in range(16):
        nodes = int(torch.randint(600, 1000, (1,), generator=generator))
        batches.append((torch.randn(nodes, width, device=DEVICE), torch.randint(nodes, (2, 4 * nodes), device=DEVICE),
                        torch.randint(32, (nodes,), device=DEVICE), torch.randint(2, (32,), device=DEVICE)))

    def step(i):
        x, edges, graph_of, y = batches[i % len(batches)]
        optimizer.zero_grad(set_to_none=True)
        for net in nets:
            x = net(x + torch.zeros_like(x).index_add_(0, edges[1], x[edges[0]]))
        pooled = torch.zeros(32, width, device=DEVICE).index_add_(0, graph_of, x)
        F.cross_entropy(head(pooled), y).backward()
        optimizer.step()

    train(books, step, sync_every=50)


def bert_lengths(books, before=lambda: None):
    model = Transformer(layers=8).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    generator = torch.Generator().manual_seed(0)
    batches = [torch.randint(8192, (16, int(torch.randint(64, 512, (1,), generator=generator))), device=DEVICE)
               for _ in range(200)]

    def step(i):
        before()
        x = batches[i % len(batches)]
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE, torch.bfloat16):
            loss = F.cross_entropy(model(x).flatten(0, 1), x.flatten())
        loss.backward()
        optimizer.step()

    train(books, step)


def ticked_lengths(books):
    """The same loop with hypermile_tick() at the start of each iteration."""
    library = ctypes.CDLL(os.environ["HYPERMILE_TICK_LIBRARY"])
    bert_lengths(books, library.hypermile_tick)


def nvtx_steps(books):
    step = cnn_step(batch=64, blocks=(2, 2, 2, 2))[0]

    def marked(_):
        with torch.cuda.nvtx.range("step"):
            step()

    train(books, marked)


def data_stalled(books):
    step = cnn_step(batch=64, blocks=(2, 2, 2, 2))[0]
    generator = torch.Generator().manual_seed(0)

    def stall():
        time.sleep(0.05 + 0.03 * float(torch.rand(1, generator=generator)))  # simulates a slow disk

    train(books, step, stall=stall)


def train_eval(books):
    step, model, x = cnn_step(batch=64)

    def evaluate(_):
        with torch.no_grad(), torch.autocast(DEVICE, torch.bfloat16):
            model(x).argmax(1)

    rounds = 3
    for i in range(rounds):
        books.phase("train")
        model.train()
        train(books, step, share=(i + 0.7) / rounds)
        books.phase("eval")
        model.eval()
        train(books, evaluate, share=(i + 1) / rounds)


def two_processes(books):
    """Starts two workers on one GPU and waits for them."""
    worker = [sys.executable, os.path.abspath(__file__), "worker", str(books.seconds), books.prefix]
    for process in [subprocess.Popen(worker), subprocess.Popen(worker)]:
        process.wait()
    books.hosts = None


def worker(books):
    train(books, cnn_step(batch=32, blocks=(2, 2, 2, 2))[0])


def profiled(books):
    step = cnn_step(batch=64)[0]
    train(books, step, share=0.6)
    books.phase("profiler")
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    before = books.iterations
    with torch.profiler.profile(activities=activities) as profile:
        train(books, step, share=0.7)
        torch.cuda.synchronize()
    kernels = sum(1 for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA)
    books.phase("after")
    done = books.iterations - before
    train(books, step)
    books.close(kernels_profiled_per_iteration=kernels / max(1, done))


LOOPS = {loop.__name__: loop for loop in (
    resnet_eager, mlp_tiny, gpt_accumulation, compiled_graphs, whole_graph, gnn_small, bert_lengths,
    ticked_lengths, nvtx_steps, data_stalled, train_eval, two_processes, profiled, worker)}

if __name__ == "__main__":
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = True
    own = Books(float(sys.argv[2]), sys.argv[3])
    LOOPS[sys.argv[1]](own)
    if own.hosts and not os.path.exists(f"{own.prefix}.{os.getpid()}.json"):
        own.close()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures graph networks of the suite on GPU 0 of this machine, and changes nothing there.

  python3 benchmarks/h200/graph_networks.py > runs.jsonl

Needs PyTorch and PyTorch Geometric, an NVIDIA GPU and no data set: graphs are random, with the numbers of nodes, edges, layers,
widths and batches of scripts/workload_suite/graphs.py. The models are PyTorch Geometric's, and GatedGCN is written with its scatter.
Graphs are batched in the main process, and every step ends with the loss on the host, as in benchmarking-gnns.

For each network: time of a step, launches and GPU time of its kernels by kind, mean power by the energy counter, SM clock, and
what the loader takes alone. NVML's getters are its only calls to the driver.
"""

import ctypes
import json
import pathlib
import sys
import time

import torch
import torch_geometric.nn as graph_nn
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.utils import scatter

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"))
from workload_suite.graphs import COLLAB_PAIRS, DATA_SETS, WIDTHS  # noqa: E402

PAIRS = ("zinc_gcn zinc_gatedgcn zinc_mlp mnist_gcn mnist_gat cifar10_gatedgcn cifar10_graphsage pattern_gcn pattern_gatedgcn "
         "pattern_monet cluster_gin cluster_gat tsp_gatedgcn tsp_gcn dd_gat collab_gcn").split()
MEASURED_S, WARM_S, PROFILED_STEPS = 4, 1, 12
KINDS = {"matrix": ("gemm", "cutlass", "splitk"),
         "gather": ("index", "scatter", "gather", "segment", "embedding", "sort", "spmm"), "stream": ("",)}


class Gated(nn.Module):
    """GatedGCN: gates on edges, which carry features of their own."""

    def __init__(self, h):
        super().__init__()
        self.a, self.b, self.c, self.d, self.e = (nn.Linear(h, h) for _ in range(5))
        self.norm = nn.BatchNorm1d(h)

    def forward(self, x, edges, features):
        source, target = edges
        gates = self.d(x)[target] + self.e(x)[source] + self.c(features)
        sigma = gates.sigmoid()
        total = scatter(sigma * self.b(x)[source], target, 0, len(x))
        return self.a(x) + total / (scatter(sigma, target, 0, len(x)) + 1e-6), features + self.norm(gates).relu()


def perceptron(*widths):
    return nn.Sequential(*(part for k, n in zip(widths, widths[1:]) for part in (nn.Linear(k, n), nn.BatchNorm1d(n), nn.ReLU())))


LAYERS = {"gcn": lambda h: graph_nn.GCNConv(h, h), "gat": lambda h: graph_nn.GATConv(h, h // 8, 8), "gatedgcn": Gated,
          "graphsage": lambda h: graph_nn.SAGEConv(h, h, "max", True, project=True), "mlp": lambda h: nn.Linear(h, h),
          "gin": lambda h: graph_nn.GINConv(perceptron(h, h, h)), "monet": lambda h: graph_nn.GMMConv(h, h, 2, 3)}


class Network(nn.Module):
    def __init__(self, model, data):
        super().__init__()
        h = round(WIDTHS[model] * data.width) // 8 * 8
        self.model, self.head = model, data.head
        self.nodes, self.kinds = nn.Embedding(28, h), nn.Embedding(4, h)
        self.layers = nn.ModuleList(LAYERS[model](h) for _ in range(data.layers))
        self.norms = nn.ModuleList(nn.BatchNorm1d(h) for _ in range(data.layers))
        self.out = nn.Sequential(perceptron(h * (1 + (data.head == "edge")), h // 2, h // 4), nn.Linear(h // 4, 10))

    def forward(self, batch):
        x, edges, more = self.nodes(batch.x), batch.edge_index, ()
        if self.model == "gatedgcn":
            more = (self.kinds(batch.kind),)
        elif self.model == "monet":
            degrees = edges[1].bincount(minlength=len(x)).float().clamp(1).rsqrt()
            more = (degrees[edges].T,)
        for layer, norm in zip(self.layers, self.norms):
            y = layer(x) if self.model == "mlp" else layer(x, edges, *more)
            if self.model == "gatedgcn":
                y, more = y[0], y[1:]
            x = nn.functional.dropout(x + norm(y).relu(), 0.1)
        if self.head == "graph":
            x = graph_nn.global_mean_pool(x, batch.batch)
        elif self.head == "edge":
            x = x[edges[:, :len(batch.y)]].transpose(0, 1).flatten(1)
        return self.out(x)


def random_graph(data):
    nodes = int(data.nodes * min(3, max(0.2, 1 + data.spread * torch.randn(()).item())))
    edges = int(data.edges / data.nodes * nodes)
    rows = {"graph": 1, "node": nodes, "edge": min(edges, COLLAB_PAIRS) if data.batch == 1 else edges}[data.head]
    return Data(x=torch.randint(28, (nodes,)), edge_index=torch.randint(nodes, (2, edges)), kind=torch.randint(4, (edges,)),
                y=torch.randint(10, (rows,)))


def endless(batches):
    while True:
        yield from batches


def measure(pair, energy_j, sm_mhz):
    name, model = pair.split("_")
    data = DATA_SETS[name]
    batches = ([random_graph(data).to("cuda")] if data.batch == 1 else
               DataLoader([random_graph(data) for _ in range(8 * data.batch)], data.batch, shuffle=True))
    stream, network = endless(batches), Network(model, data).cuda()
    optimizer = torch.optim.Adam(network.parameters())

    def step():
        batch = next(stream).to("cuda")
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(batch), batch.y)
        loss.backward()
        optimizer.step()
        return loss.item()

    def steps_for(seconds):
        begin, joules, steps, clocks = time.perf_counter(), energy_j(), 0, []
        while time.perf_counter() - begin < seconds:
            step()
            steps += 1
            if steps % 50 == 0:
                clocks.append(sm_mhz())
        elapsed = time.perf_counter() - begin
        return elapsed / steps, (energy_j() - joules) / elapsed, sum(clocks) / max(1, len(clocks))

    steps_for(WARM_S)
    step_s, power_w, clock = steps_for(MEASURED_S)
    with torch.profiler.profile() as recorder:
        for _ in range(PROFILED_STEPS):
            step()
    kernels = {kind: [0, 0.0] for kind in KINDS}  # launches and seconds of a step
    for event in recorder.profiler.kineto_results.events():
        if event.device_type() != torch.autograd.DeviceType.CUDA or event.name().startswith("Mem"):
            continue
        kind = kernels[next(k for k, words in KINDS.items() if any(word in event.name().lower() for word in words))]
        kind[0] += 1 / PROFILED_STEPS
        kind[1] += event.duration_ns() * 1e-9 / PROFILED_STEPS
    begin = time.perf_counter()
    for _ in range(20):
        next(stream)
    return {"name": "gnn_" + pair, "step_s": step_s, "power_w": power_w, "sm_mhz": clock, "kernels": kernels,
            "loader_s": (time.perf_counter() - begin) / 20}


def main():
    nvml, device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
    nvml.nvmlInit_v2()
    nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))

    def energy_j(value=ctypes.c_ulonglong()):
        nvml.nvmlDeviceGetTotalEnergyConsumption(device, ctypes.byref(value))
        return value.value / 1e3

    def sm_mhz(value=ctypes.c_uint()):
        nvml.nvmlDeviceGetClockInfo(device, 1, ctypes.byref(value))
        return value.value

    for pair in PAIRS:
        torch.manual_seed(1)
        print(json.dumps(measure(pair, energy_j, sm_mhz)), flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Graph networks: the models and data sets of Dwivedi et al., "Benchmarking Graph Neural Networks" (2020).

Data sets: numbers of graphs, mean nodes and mean directed edges from the paper's table. Models: layers, hidden widths and
batch sizes of the published configurations (graphdeeplearning/benchmarking-gnns, configs/*_100k.json and *_40k.json). These
were read for PATTERN, and for GCN on every set; the widths on other sets are PATTERN's, scaled as GCN's are. RingGNN and
3WLGNN work on a dense block-diagonal adjacency of the whole batch, so their cost grows with the square and cube of its
nodes. Launches are one kernel per operation; calibration.py says how many a real framework makes of them.
"""

from dataclasses import dataclass

from .ops import Tape


@dataclass(frozen=True)
class DataSet:
    nodes: float  # mean of one graph
    edges: float  # directed, mean of one graph
    spread: float  # standard deviation of a graph's nodes over their mean; assumed from the set's stated range
    batch: int
    train_batches: int  # iterations per epoch
    eval_batches: int  # validation and test together, after each epoch
    width: float  # hidden width relative to PATTERN's
    layers: int
    head: str  # what is classified: "graph", "node" or "edge"


DATA_SETS = {
    "zinc": DataSet(23.16, 49.83, 0.20, 128, 79, 16, 145 / 146, 4, "graph"),
    "mnist": DataSet(70.57, 564.53, 0.07, 128, 430, 118, 1.0, 4, "graph"),
    "cifar10": DataSet(117.63, 941.07, 0.10, 128, 352, 118, 1.0, 4, "graph"),
    "pattern": DataSet(118.89, 6078.57, 0.35, 128, 79, 32, 1.0, 4, "node"),
    "cluster": DataSet(117.20, 4301.72, 0.36, 128, 79, 16, 1.0, 4, "node"),
    "tsp": DataSet(275.76, 6894.04, 0.47, 64, 157, 32, 120 / 146, 4, "edge"),
    "collab": DataSet(235868.0, 2358104.0, 0.0, 1, 36, 4, 74 / 146, 3, "edge"),
    "csl": DataSet(41.0, 164.0, 0.0, 5, 18, 12, 1.0, 4, "graph"),
    "dd": DataSet(284.32, 1431.32, 0.90, 20, 48, 12, 138 / 146, 4, "graph"),
}

# COLLAB scores 32768 pairs and as many negatives per iteration, on the embedding of the whole
# graph.
COLLAB_PAIRS = 2 * 32768

WIDTHS = {"mlp": 150, "gcn": 146, "graphsage": 89, "gat": 152, "gatedgcn": 70, "gin": 110, "monet": 90, "3wlgnn": 82,
          "ringgnn": 45, "mf": 256}
DENSE = {"3wlgnn": (4, 3), "ringgnn": (4, 2)}  # batch size and layers


def _after(tape, rows, h):
    """Batch norm, activation, residual and dropout, which follow every layer."""
    tape.batch_norm(rows * h, h)
    tape.relu(rows * h)
    tape.add(rows * h)
    tape.dropout(rows * h)


def _mlp(tape, n, e, h):
    tape.matmul(n, h, h, bias=True)
    tape.relu(n * h)
    tape.dropout(n * h)


def _gcn(tape, n, e, h):
    tape.pointwise(n * h, launches=2)  # degrees
    tape.edges(e, h)
    tape.matmul(n, h, h, bias=True)
    _after(tape, n, h)


def _graphsage(tape, n, e, h):
    tape.matmul(n, h, h, bias=True)
    tape.relu(n * h)
    tape.edges(e, h, launches=2)  # maximum over neighbours, with its index
    tape.pointwise(2 * n * h)  # concatenation
    tape.matmul(n, 2 * h, h, bias=True)
    tape.pointwise(n * h, launches=4)  # row normalisation
    _after(tape, n, h)


def _gat(tape, n, e, h, heads=8):
    tape.matmul(n, h, h)
    tape.pointwise(n * h, launches=4)  # the two halves of the attention score
    tape.edges(e, heads, launches=6)  # scores and softmax along edges
    tape.dropout(e * heads)
    tape.edges(e, h, launches=2)
    _after(tape, n, h)


def _gatedgcn(tape, n, e, h):
    for _ in range(4):
        tape.matmul(n, h, h, bias=True)
    tape.matmul(e, h, h, bias=True)
    tape.edges(e, 2 * h)  # both ends of an edge
    tape.pointwise(e * h, launches=3)  # gates
    tape.edges(e, h, launches=2)  # the gated sum and the sum of gates
    tape.pointwise(n * h, launches=3)
    _after(tape, n, h)
    _after(tape, e, h)


def _gin(tape, n, e, h):
    tape.edges(e, h)
    tape.pointwise(n * h, launches=2)
    for _ in range(2):
        tape.matmul(n, h, h, bias=True)
        tape.batch_norm(n * h, h)
        tape.relu(n * h)
    _after(tape, n, h)


def _monet(tape, n, e, h, kernels=3):
    tape.pointwise(2 * e, launches=4)  # pseudo-coordinates
    tape.pointwise(kernels * e, launches=6)  # Gaussians
    tape.matmul(n, h, kernels * h)
    tape.edges(e, kernels * h, launches=2)
    tape.pointwise(n * kernels * h)
    _after(tape, n, h)


def _3wlgnn(tape, n, e, h):
    cells = n * n
    for _ in range(5):  # two perceptrons of depth two and the skip connection, as 1x1 convolutions
        tape.matmul(cells, h, h, bias=True)
        tape.relu(cells * h)
    tape.matmul(n, n, n, weight=False, batch=h, kind="matrix")
    tape.pointwise(2 * cells * h)


def _ringgnn(tape, n, e, h, radius=2):
    cells = n * n
    tape.pointwise(cells * h, reads=1, launches=30)  # the fifteen contractions and their broadcasts
    tape.matmul(cells, 17 * h / 4, h, bias=True)  # a quarter of the basis is dense
    for _ in range(radius - 1):
        tape.matmul(n, n, n, weight=False, batch=h, kind="matrix")
    tape.relu(cells * h)
    tape.pointwise(cells * h, launches=2)


LAYERS = {"mlp": _mlp, "gcn": _gcn, "graphsage": _graphsage, "gat": _gat, "gatedgcn": _gatedgcn, "gin": _gin,
          "monet": _monet, "3wlgnn": _3wlgnn, "ringgnn": _ringgnn}


def _head(tape, data, n, e, h, batch):
    if data.head == "graph":
        tape.edges(n, h, launches=2)  # mean of each graph
        rows = batch
    elif data.head == "node":
        rows = n
    else:
        rows = COLLAB_PAIRS if data.batch == 1 else e
        tape.edges(rows, 2 * h)
    for k, width in ((2 * h if data.head == "edge" else h, h // 2), (h // 2, h // 4), (h // 4, 10)):
        tape.matmul(rows, k, width, bias=True)
        tape.relu(rows * width)
    tape.cross_entropy(rows, 10)


def graph_network(model, name):
    """The Tape of one training iteration, the data set, and the graphs of a batch."""
    data = DATA_SETS[name]
    batch, layers = DENSE.get(model, (data.batch, data.layers))
    n, e = batch * data.nodes, batch * data.edges
    tape = Tape(element=4)
    if model == "mf":  # matrix factorisation has an embedding of every node and nothing else
        h = WIDTHS["mf"]
        tape.embedding(2 * COLLAB_PAIRS, h, data.nodes)
        _head(tape, data, n, e, h, batch)
        return tape, data, batch
    h = round(WIDTHS[model] * data.width)
    tape.embedding(n, h, 28)
    if model in ("gatedgcn", "monet"):
        tape.pointwise(e * (h if model == "gatedgcn" else 2))
    for _ in range(layers):
        LAYERS[model](tape, n, e, h)
    if model in DENSE:
        tape.pointwise(n * n * h, reads=1, launches=3)  # diagonal and off-diagonal sums
    _head(tape, data, n, e, h, batch)
    return tape, data, batch


# 56 pairs, as many as in the paper's second suite, whose exact list is not published.
PAIRS = ([(m, d) for d in ("pattern", "zinc") for m in
          ("mlp", "gcn", "graphsage", "gat", "gatedgcn", "gin", "monet", "ringgnn", "3wlgnn")] +
         [(m, d) for d in ("cluster", "mnist", "cifar10") for m in
          ("mlp", "gcn", "graphsage", "gat", "gatedgcn", "gin", "monet")] +
         [(m, "tsp") for m in ("mlp", "gcn", "graphsage", "gat", "gatedgcn", "gin")] +
         [(m, "collab") for m in ("gcn", "graphsage", "gat", "gatedgcn", "mf")] +
         [(m, "csl") for m in ("gcn", "gin", "ringgnn")] + [(m, "dd") for m in ("gcn", "gat", "gatedgcn")])

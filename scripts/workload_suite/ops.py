# SPDX-License-Identifier: Apache-2.0
"""Operations, bytes and kernel launches of a network's layers, from their shapes.

One multiply-add is 2 FLOP. Bytes are the traffic with a cold cache: every operand moves once. The formulas are the standard
operation counts of each layer (convolution, matrix product, batch norm: read twice and written once, and so on). The
backward pass of a matrix product is two products of the same size; that of a streaming layer reads and writes what its
formula needs. Eager PyTorch launches one kernel per operation.

A Tape collects the layers of one iteration in two lists, forward and backward, each split into the kinds of kernels that
a GPU runs differently:

  matrix   large products and convolutions: bound by arithmetic
  small    products too small or too thin to fill the machine (1x1 convolutions of few channels, per-head products)
  stream   elementwise, norms, pooling, optimizer: bound by memory
  gather   rows picked or summed by index (embeddings, graph edges): memory, at a fraction of its bandwidth
"""

from contextlib import contextmanager

KINDS = ("matrix", "small", "stream", "gather")


class Work:
    """FLOP, bytes and launches of one kind of kernel."""

    def __init__(self, flops=0.0, nbytes=0.0, launches=0.0):
        self.flops, self.bytes, self.launches = flops, nbytes, launches

    def add(self, flops, nbytes, launches):
        self.flops += flops
        self.bytes += nbytes
        self.launches += launches

    def scaled(self, k):
        return Work(self.flops * k, self.bytes * k, self.launches * k)


class Tape:
    def __init__(self, element=4, casts=False):
        self.element = element  # bytes of one activation
        self.casts = casts  # mixed precision: every weight is cast when it is read, and its gradient when it is written
        self.forward = {kind: Work() for kind in KINDS}
        self.backward = {kind: Work() for kind in KINDS}
        self.parameters = 0.0
        self.tensors = 0

    def op(self, kind, flops, elements, launches=1, back=None):
        """One operation; `back` is (flops, elements, launches) of its gradient, or None without a gradient."""
        self.forward[kind].add(flops, elements * self.element, launches)
        if back is not None:
            self.backward[kind].add(back[0], back[1] * self.element, back[2])

    def weights(self, count, tensors=1):
        self.parameters += count
        self.tensors += tensors
        if self.casts:
            self.forward["stream"].add(0, count * 6, tensors)
            self.backward["stream"].add(0, count * 6, tensors)

    @contextmanager
    def again(self):
        """The layers inside use weights that were already counted."""
        parameters, tensors = self.parameters, self.tensors
        yield
        self.parameters, self.tensors = parameters, tensors

    def freeze(self):
        """Freezes everything on the tape so far: no gradients and no updates."""
        self.backward = {kind: Work() for kind in KINDS}
        self.parameters, self.tensors = 0.0, 0

    def multiply_launches(self, factor):
        """A framework that launches `factor` times as many kernels for the same work."""
        for tape_pass in (self.forward, self.backward):
            for work in tape_pass.values():
                work.launches *= factor

    # --- products -----------------------------------------------------------------------------------------------------
    def matmul(self, m, k, n, weight=True, bias=False, batch=1, kind=None, first=False):
        flops = 2.0 * batch * m * k * n
        elements = batch * (m * k + m * n) + k * n * (1 if weight else batch)
        if kind is None:
            kind = "matrix" if min(m, k, n) >= 64 and m * n >= 128 * 128 else "small"
        back = (flops * (1 if first else 2), elements * (1 if first else 2), 1 if first else 2)
        self.op(kind, flops, elements, 1, back)
        if weight:
            self.weights(k * n)
        if bias:
            self.weights(n)
            self.op("stream", 0, 0, 0, (m * n, m * n, 1))

    def conv(self, n, ci, co, k, h, w, groups=1, stride=1, first=False, kw=None, depth=1):
        """`h` and `w` of the output; `kw` where the kernel is not square; `depth` for 3-D (output depth is folded into h)."""
        taps = k * (kw or k) * depth
        out = float(n) * co * h * w
        flops = 2.0 * out * (ci / groups) * taps
        weights = co * (ci / groups) * taps
        elements = n * ci * h * w * stride * stride + weights + out
        # Depthwise convolutions and those with few channels are bound by memory, wide ones by
        # arithmetic.
        kind = "stream" if groups > 1 and groups >= ci else ("matrix" if min(ci / groups, co) * taps >= 128 else "small")
        back = (flops * (1 if first else 2), elements * (1 if first else 2), 1 if first else 2)
        self.op(kind, flops, elements, 1, back)
        self.weights(weights)
        return out

    def attention(self, batch, heads, length, width, causal=False, fused=True, keys=None):
        """`width` is that of one head. The gradient of fused (flash) attention recomputes scores: 2.5 times the FLOP."""
        keys = keys or length
        pairs = float(batch) * heads * length * keys * (0.5 if causal else 1.0)
        rows = batch * heads * (length + keys) * width
        if fused:
            self.op("matrix", 4 * pairs * width, 2 * rows, 1, (10 * pairs * width, 5 * rows, 2))
            return
        self.op("small", 4 * pairs * width, 2 * rows + 2 * pairs, 2, (8 * pairs * width, 4 * rows + 4 * pairs, 4))
        self.op("stream", 5 * pairs, 3 * pairs, 2, (4 * pairs, 4 * pairs, 2))

    # --- streaming ----------------------------------------------------------------------------------------------------
    def batch_norm(self, elements, channels):
        self.op("stream", 9 * elements, 3 * elements, 2, (13 * elements, 5 * elements, 1))
        self.weights(2 * channels, 2)

    def layer_norm(self, elements, width):
        self.op("stream", 8 * elements, 2 * elements, 1, (14 * elements, 4 * elements, 2))
        self.weights(2 * width, 2)

    def relu(self, elements):
        self.op("stream", elements, 2 * elements, 1, (elements, 3 * elements, 1))

    def gelu(self, elements):
        self.op("stream", 13 * elements, 2 * elements, 1, (20 * elements, 3 * elements, 1))

    def add(self, elements):
        self.op("stream", elements, 3 * elements, 1, (elements, 2 * elements, 1))

    def dropout(self, elements):
        self.op("stream", 2 * elements, 2.25 * elements, 1, (elements, 2.25 * elements, 1))

    def pool(self, inputs, outputs):
        self.op("stream", inputs, inputs + 3 * outputs, 1, (outputs, 3 * outputs + inputs, 1))

    def pointwise(self, elements, reads=2, launches=1, flops=1):
        """Any other elementwise operation that reads `reads` tensors and writes one."""
        moved = (reads + 1) * elements
        self.op("stream", flops * elements, moved, launches, (flops * elements, moved, launches))

    def cross_entropy(self, rows, classes):
        e = float(rows) * classes
        self.op("stream", 5 * e, 2 * e, 2, (2 * e, 2 * e, 2))

    # --- by index -----------------------------------------------------------------------------------------------------
    def embedding(self, rows, width, vocabulary, dense_gradient=True):
        moved = 2.0 * rows * width
        fill = vocabulary * width if dense_gradient else 0
        self.op("gather", 0, moved, 1, (rows * width, 1.5 * moved + fill, 2))
        self.weights(vocabulary * width)

    def edges(self, edges, width, launches=1):
        """Values of `width` fetched and summed along the edges of a graph (sparse-dense product, or its gradient)."""
        moved = 2.0 * edges * width
        self.op("gather", edges * width, moved, launches, (edges * width, moved, launches))

    # --- whole iterations -------------------------------------------------------------------------------------------
    def optimizer(self, name="adam"):
        """FP32 master weights: SGD with momentum moves 20 bytes per parameter, Adam 28; clearing gradients moves 4 more."""
        per_parameter = {"sgd": 24, "adam": 32, "rmsprop": 28}[name]
        flops = {"sgd": 5, "adam": 15, "rmsprop": 8}[name]
        # Multi-tensor kernels take about 30 tensors each; Adam needs about six passes over the list, SGD three.
        passes = 3 if name == "sgd" else 6
        launches = passes * max(1, -(-self.tensors // 30))
        return {"stream": Work(flops * self.parameters, per_parameter * self.parameters, launches)}

# SPDX-License-Identifier: Apache-2.0
"""export_layers() loses nothing of a network: its products agree with published figures, with formulas and, where PyTorch has it,
with PyTorch's own counter; `hypermile plan` counts the same, and all parameters are there."""

import collections
import csv
import json
import subprocess
import warnings
from pathlib import Path

import hypermile
import pytest
from conftest import HYPERMILE

torch = pytest.importorskip("torch")
from networks import BY_FORMULA, NETWORKS, Block  # noqa: E402

# Operations of one forward pass, as torchvision publishes them (a multiply-add is two) or as formulas give them.
# benchmarks/h200/measure_layers.py compares the same networks with torch.utils.flop_counter, which PyTorch 1.13 does not have.
with open(Path(__file__).parent / "flops.csv", encoding="utf-8") as file:
    COUNTED = {row["network"]: row for row in csv.DictReader(file)}

MATRIX = ("Conv", "Linear", "Gemm", "MatMul", "Attention", "RNN")


def plan(path, phase="forward"):
    done = subprocess.run([HYPERMILE, "plan", path, "--gpu", "a100-40", "--phase", phase, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def planned_flops(document):
    return sum(layer["flops"] for layer in document["layers"] if layer["type"].startswith(MATRIX))


def trained(document):
    return sum(layer.get("updated", layer.get("params", 0) if layer.get("trains", True) else 0) for layer in document["layers"])


@pytest.fixture(autouse=True)
def without_initial_values(monkeypatch):
    """Random weights of large networks take seconds, and no value matters here."""
    for name in ("kaiming_uniform_", "uniform_", "normal_", "xavier_uniform_"):
        monkeypatch.setattr(torch.nn.init, name, lambda tensor, *_, **__: tensor)


@pytest.mark.parametrize("name", NETWORKS)
def test_products_agree_with_the_reference(name, tmp_path):
    model, inputs = NETWORKS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        document = hypermile.export_layers(model, inputs, tmp_path / "n.json", shapes_only=True)
    counted = float(COUNTED[name]["flops"])
    assert document["matrix_flops"] == pytest.approx(counted, rel=0.02)
    planned = plan(tmp_path / "n.json")
    assert planned_flops(planned) == pytest.approx(counted, rel=0.02)
    assert planned["unknown_operators"] == []
    assert trained(document) == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("name", NETWORKS)
def test_products_agree_with_pytorchs_counter(name):
    counter = pytest.importorskip("torch.utils.flop_counter", reason="PyTorch 2 has a counter")
    model, inputs = (thing for thing in NETWORKS[name]())
    model, inputs = model.to("meta"), tuple(i.to("meta") for i in inputs)
    document = hypermile.export_layers(model, inputs)
    mode = counter.FlopCounterMode(display=False)
    with mode:
        model(*inputs)
    assert document["matrix_flops"] == pytest.approx(mode.get_total_flops(), rel=0.02)


@pytest.mark.parametrize("name", BY_FORMULA)
def test_recurrent_and_graph_layers_agree_with_formulas(name, tmp_path):
    make, flops = BY_FORMULA[name]
    model, inputs = make()
    document = hypermile.export_layers(model, inputs, tmp_path / "n.json")
    assert document["matrix_flops"] == flops
    assert planned_flops(plan(tmp_path / "n.json")) == pytest.approx(flops, rel=1e-6)
    assert trained(document) == sum(p.numel() for p in model.parameters())


def test_a_functional_relu_and_an_addition_are_layers():
    model, inputs = NETWORKS["resnet18"]()
    types = [layer["type"] for layer in hypermile.export_layers(model, inputs, shapes_only=True)["layers"]]
    assert types.count("ReLU") == 17 and types.count("Add") == 8 and types.count("MaxPool2d") == 1


def test_an_encoder_exports_its_attention():
    model, inputs = NETWORKS["encoder"]()
    layers = hypermile.export_layers(model, inputs, shapes_only=True)["layers"]
    scores = 2 * 8 * 8 * 128 * 128 * 64
    products = [2 * p[0] * p[1] * p[2] * p[3] * p[4] for p in (layer.get("product") for layer in layers) if p]
    assert sum(products) >= 6 * 2 * scores


def test_sparse_products_count_their_entries():
    class Sparse(torch.nn.Module):
        def forward(self, matrix, x):
            return torch.sparse.mm(matrix, x)

    matrix = torch.eye(16).to_sparse()
    layers = hypermile.export_layers(Sparse(), (matrix, torch.zeros(16, 8)))["layers"]
    assert [layer["flops"] for layer in layers if layer["type"] == "SparseMatMul"] == [2 * 16 * 8]


def test_parameters_that_nothing_uses_are_named():
    class Half(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.used(x)

    with pytest.warns(UserWarning, match="unused.weight, unused.bias"):
        hypermile.export_layers(Half(), torch.zeros(2, 4))


def test_shared_weights_are_updated_once():
    model, inputs = NETWORKS["gpt2"]()
    layers = hypermile.export_layers(model, inputs, shapes_only=True)["layers"]
    assert layers[-1]["params"] == 50257 * 768 and layers[-1]["trains"] is False


def test_modules_called_by_name_and_nested_results_are_seen():
    class ByName(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 8)

        def forward(self, x):
            return {"y": [self.layer(input=x)]}

    document = hypermile.export_layers(ByName(), torch.zeros(2, 8))
    assert document["matrix_flops"] == 2 * 2 * 8 * 8
    assert [layer["type"] for layer in document["layers"]] == ["Linear"]


def test_an_export_changes_neither_buffers_nor_gradients():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
    before = model[1].running_mean.clone()
    hypermile.export_layers(model, torch.randn(8, 4))
    assert torch.equal(model[1].running_mean, before) and int(model[1].num_batches_tracked) == 0
    assert model[0].weight.grad is None


class By(torch.nn.Module):
    """A module whose forward pass is a function of itself and the inputs."""

    def __init__(self, function, **members):
        super().__init__()
        self.function = function
        for name, member in members.items():
            setattr(self, name, member)

    def forward(self, *inputs, **named):
        return self.function(self, *inputs, **named)


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(weight)
        return x @ weight @ weight

    @staticmethod
    def backward(ctx, gradient):
        return gradient, gradient


def frozen(module):
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return module.eval()


def checkpointed(reentrant):
    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=reentrant)
        return x

    return By(forward, first=torch.nn.Linear(8, 8), blocks=torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3)))


def inferred(self, x):
    with torch.inference_mode():
        y = torch.nn.functional.linear(x @ self.w, self.w)
    return torch.einsum("ij,jk->ik", torch.einsum("ij,jk->ik", y.clone(), self.w), self.w)


def slope(self, x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(self.c(x).sum(), x, create_graph=True)[0] * self.c.bias.sum()


def marked(self, x):
    with torch.profiler.record_function("block"):
        return self.first(x)


def tied(words, out):
    out.weight = words.weight
    return torch.nn.Sequential(words, out)


Pair = collections.namedtuple("Pair", "a b")
LINEAR = torch.nn.Linear
# Name: what makes (model, inputs), the operations by formula, and the layers before which nothing learns.
ODD = {
    "bidirectional LSTM": (lambda: (torch.nn.LSTM(32, 64, 2, bidirectional=True), torch.zeros(10, 4, 32)),
                           2 * 4 * 10 * 2 * 4 * 64 * (32 + 64 + 128 + 64), None),
    "packed LSTM": (lambda: (By(lambda s, x: s.rnn(torch.nn.utils.rnn.pack_padded_sequence(x, [10, 8, 5, 3]))[0].data,
                                rnn=torch.nn.LSTM(32, 64)), torch.zeros(10, 4, 32)), 2 * 26 * 4 * 64 * (32 + 64), None),
    "3-D convolution": (lambda: (torch.nn.Conv3d(3, 8, 3, stride=(1, 2, 2), padding=1), torch.zeros(2, 3, 8, 16, 16)),
                        2 * 2 * 8 * 8 * 8 * 8 * 3 * 27, 1),
    "transposed in groups": (lambda: (torch.nn.ConvTranspose2d(16, 8, 4, 2, 1, groups=2), torch.zeros(2, 16, 8, 8)),
                             2 * 2 * 64 * 16 * 4 * 16, 1),
    "einsum": (lambda: (By(lambda s, x: torch.einsum("bqhd,bkhd->bhqk", x * s.w, x), w=torch.nn.Parameter(torch.ones(8))),
                        torch.zeros(2, 16, 4, 8)), 2 * 2 * 4 * 16 * 16 * 8, None),
    "bilinear": (lambda: (torch.nn.Bilinear(16, 32, 8), (torch.zeros(4, 16), torch.zeros(4, 32))), 2 * 4 * 8 * 16 * 32, None),
    "addbmm": (lambda: (By(lambda s, x: torch.addbmm(x[0], x * s.w, x), w=torch.nn.Parameter(torch.ones(8))),
                        torch.zeros(2, 8, 8)), 2 * 2 * 8 * 8 * 8, None),
    "attention with masks": (
        lambda: (By(lambda s, x: s.a(x, x, x, attn_mask=torch.ones(10, 10, dtype=torch.bool).triu(1), need_weights=False,
                                     key_padding_mask=torch.zeros(2, 10, dtype=torch.bool))[0],
                    a=torch.nn.MultiheadAttention(32, 4, batch_first=True)), torch.zeros(2, 10, 32)),
        2 * 2 * 10 * 32 * 4 * 32 + 2 * 2 * 2 * 4 * 10 * 10 * 8, None),
    "frozen encoder": (
        lambda: (frozen(torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2)),
                 torch.zeros(2, 10, 32)), 2 * (2 * 2 * 10 * (4 * 32 * 32 + 2 * 32 * 64) + 2 * 2 * 2 * 4 * 10 * 10 * 8), 0),
    "custom function": (lambda: (By(lambda s, x: Twice.apply(s.first(x), s.w), first=LINEAR(8, 8),
                                    w=torch.nn.Parameter(torch.zeros(8, 8))), torch.zeros(4, 8)), 3 * 2 * 4 * 64, 1),
    "reentrant checkpoint": (lambda: (checkpointed(True), torch.zeros(4, 8)), 4 * 2 * 4 * 64, 1),
    "checkpoint": (lambda: (checkpointed(False), torch.zeros(4, 8)), 4 * 2 * 4 * 64, 1),
    "weight norm": (lambda: (torch.nn.utils.weight_norm(torch.nn.Conv1d(4, 8, 3)), torch.zeros(2, 4, 16)), 2 * 2 * 14 * 8 * 12, None),
    "lazy": (lambda: (torch.nn.Sequential(torch.nn.LazyConv2d(8, 3), torch.nn.LazyBatchNorm2d()), torch.zeros(2, 3, 8, 8)),
             2 * 2 * 36 * 8 * 27, 1),
    "script": (lambda: (torch.jit.script(torch.nn.Sequential(LINEAR(8, 8), torch.nn.ReLU(), LINEAR(8, 8))), torch.zeros(4, 8)),
               2 * 2 * 4 * 64, 1),
    "matrix products in inference mode": (
        lambda: (By(inferred, w=torch.nn.Parameter(torch.zeros(8, 8))), torch.zeros(4, 8)), 4 * 2 * 4 * 64, None),
    "padding in a frozen encoder": (
        lambda: (frozen(torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2)),
                 {"src": torch.zeros(2, 10, 32), "src_key_padding_mask": torch.arange(10).repeat(2, 1) > 7}),
        2 * (2 * 2 * 10 * (4 * 32 * 32 + 2 * 32 * 64) + 2 * 2 * 2 * 4 * 10 * 10 * 8), 0),
    "gradients in the forward pass": (lambda: (By(slope, c=torch.nn.Conv2d(3, 4, 3)), torch.zeros(2, 3, 8, 8)),
                                      2 * 2 * 2 * 36 * 4 * 27, None),
    "distances": (lambda: (By(lambda s, x: torch.cdist(x, s.c), c=torch.nn.Parameter(torch.zeros(50, 8))), torch.zeros(40, 8)),
                  2 * 40 * 10 * 50, None),
    "an image without a batch": (lambda: (torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.MaxPool2d(2)), torch.zeros(3, 16, 16)),
                                 2 * 14 * 14 * 8 * 27, 1),
    "a weight and its slice": (lambda: (By(lambda s, x: x @ s.w[:8] + (x @ s.w[8:]), w=torch.nn.Parameter(torch.zeros(16, 4))),
                                        torch.zeros(4, 8)), 2 * 2 * 4 * 8 * 4, None),
    "a tied output with its own bias": (lambda: (tied(torch.nn.Embedding(50, 8), LINEAR(8, 50)), torch.zeros(2, 5, dtype=torch.long)),
                                        2 * 10 * 8 * 50, None),
    "a named tuple": (lambda: (By(lambda s, pair: s.first(pair.a) + pair.b, first=LINEAR(8, 8)), (Pair(torch.zeros(4, 8), torch.zeros(4, 8)),)),
                      2 * 4 * 64, 1),
    "a profiler's mark": (lambda: (By(marked, first=LINEAR(8, 8)), torch.zeros(4, 8)), 2 * 4 * 64, 1),
    "named inputs": (lambda: (By(lambda s, x=None, scale=None: s.first(x) * scale, first=LINEAR(8, 8)),
                              {"x": torch.zeros(4, 8), "scale": torch.zeros(4, 8)}), 2 * 4 * 64, 1),
    "an expert without tokens": (lambda: (By(lambda s, x: torch.cat([s.a(x[:0]), s.b(x)]), a=torch.nn.Linear(8, 8), b=LINEAR(8, 8)),
                                          torch.zeros(4, 8)), 2 * 4 * 64, None),
    "a norm of a parameter": (lambda: (By(lambda s, x: x @ s.norm(s.table), norm=torch.nn.LayerNorm(8),
                                          table=torch.nn.Parameter(torch.zeros(8, 8))), torch.zeros(4, 8)), 2 * 4 * 64, None),
    "norms of odd shapes": (lambda: (torch.nn.Sequential(LINEAR(8, 8), torch.nn.LayerNorm([4, 8]), torch.nn.Unflatten(1, (4, 1)),
                                                         torch.nn.BatchNorm2d(4, affine=False)), torch.zeros(2, 4, 8)),
                            2 * 8 * 64, 1),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_networks_lose_nothing(name, tmp_path):
    import torch.utils.checkpoint

    make, flops, without_gradient = ODD[name]
    model, inputs = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = hypermile.export_layers(model, inputs, tmp_path / "n.json")
    assert document["matrix_flops"] == flops
    planned = plan(tmp_path / "n.json")
    assert sum(layer["flops"] for layer in planned["layers"]) >= flops * (1 - 1e-6)
    used = [p for n, p in model.named_parameters() if name != "an expert without tokens" or not n.startswith("a.")]
    assert trained(document) == sum(p.numel() for p in used)
    if without_gradient is not None:
        products = [layer for layer in document["layers"] if layer.get("product") or layer["type"].startswith(("Linear", "Conv"))]
        assert sum(layer.get("input_gradient", True) is False for layer in products) == without_gradient


def test_frozen_weights_have_no_gradient_and_no_update(tmp_path):
    base = LINEAR(512, 512)
    network = torch.nn.Sequential(LINEAR(512, 512), base)
    hypermile.export_layers(network, torch.zeros(256, 512), tmp_path / "all.json")
    frozen(base)
    document = hypermile.export_layers(network, torch.zeros(256, 512), tmp_path / "frozen.json")
    assert [layer.get("weight_gradient", True) for layer in document["layers"]] == [True, False]
    train = {name: plan(tmp_path / f"{name}.json", "train") for name in ("all", "frozen")}
    flops = {name: sum(layer["flops"] for layer in planned["layers"]) for name, planned in train.items()}
    assert flops["all"] - flops["frozen"] >= 2 * 256 * 512 * 512


def test_weights_that_modules_share_stay_shared_without_data():
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.out = torch.nn.Embedding(50, 8), LINEAR(8, 50, bias=False)
            self.out.weight = self.words.weight

        def forward(self, ids):
            return self.out(self.words(ids))

    document = hypermile.export_layers(Tied(), torch.zeros(2, 4, dtype=torch.long), shapes_only=True)
    assert trained(document) == 50 * 8


def test_parameters_that_lie_in_one_tensor_are_told_apart():
    """As the weights of a recurrent layer on CUDA, which cuDNN wants in one piece."""
    flat = torch.zeros(8 * 8 + 8 * 4)
    model = By(lambda s, x: (x @ s.a) @ s.b, a=torch.nn.Parameter(flat[:64].view(8, 8)), b=torch.nn.Parameter(flat[64:].view(8, 4)))
    document = hypermile.export_layers(model, torch.zeros(2, 8))
    assert [layer.get("params") for layer in document["layers"]] == [64, 32] and trained(document) == 96


def test_a_class_of_the_user_is_not_taken_for_pytorchs():
    class Linear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(8, 8))

        def forward(self, x):
            return x @ self.weight @ self.weight

    document = hypermile.export_layers(torch.nn.Sequential(Linear()), torch.zeros(4, 8))
    assert document["matrix_flops"] == 2 * 2 * 4 * 64
    assert sum("product" in layer for layer in document["layers"]) == 2


def test_operators_of_other_packages_are_named():
    library = torch.library.Library("hypermile_test", "DEF")
    library.define("mix(Tensor x) -> Tensor")
    library.impl("mix", lambda x: x.clone(), "CompositeExplicitAutograd")
    model = By(lambda s, x: torch.ops.hypermile_test.mix(s.first(x)), first=LINEAR(8, 8))
    with pytest.warns(UserWarning, match="element-wise: hypermile_test::mix"), torch.no_grad():
        hypermile.export_layers(model, torch.zeros(4, 8))


def test_a_file_with_missing_layers_is_refused_in_one_line(tmp_path):
    model, inputs = NETWORKS["vgg16"]()
    document = hypermile.export_layers(model, inputs, shapes_only=True)
    del document["layers"][20:]
    with open(tmp_path / "n.json", "w", encoding="utf-8") as out:
        json.dump(document, out)
    done = subprocess.run([HYPERMILE, "plan", tmp_path / "n.json", "--gpu", "a4000"], capture_output=True, text=True)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and "layers are missing" in done.stderr


SMALL = {
    "resnet18": lambda: (NETWORKS["resnet18"]()[0], torch.zeros(1, 3, 64, 64)),
    "mobilenet_v2": lambda: (NETWORKS["mobilenet_v2"]()[0], torch.zeros(1, 3, 64, 64)),
    "transposed": lambda: (torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ConvTranspose2d(8, 4, 2, 2)),
                           torch.zeros(1, 3, 32, 32)),
    "transformer": lambda: (Block(64, 4), torch.zeros(2, 16, 64)),
}


@pytest.mark.parametrize("name", SMALL)
def test_onnx_and_our_export_agree(name, tmp_path):
    model, inputs = SMALL[name]()
    model.eval()
    document = hypermile.export_layers(model, inputs)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(model, inputs, str(tmp_path / "n.onnx"), opset_version=13)
    except Exception as problem:  # the exporter of PyTorch 2 needs packages that Debian lacks
        pytest.skip(f"PyTorch does not export it: {problem}")
    planned = plan(tmp_path / "n.onnx")
    assert planned_flops(planned) == pytest.approx(document["matrix_flops"], rel=0.02)

# SPDX-License-Identifier: Apache-2.0
"""export_layers() loses nothing of a network: its products agree with published figures, with formulas and, where PyTorch has it,
with PyTorch's own counter; `hypermile plan` counts the same, and all parameters are there."""

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


def plan(path, *words):
    done = subprocess.run([HYPERMILE, "plan", path, "--gpu", "a100-40", "--phase", "forward", "--json", *words], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def planned_flops(document):
    return sum(layer["flops"] for layer in document["layers"] if layer["type"].startswith(MATRIX))


def trained(document):
    return sum(layer.get("params", 0) for layer in document["layers"] if layer.get("trains", True))


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

# SPDX-License-Identifier: Apache-2.0
"""export_layers() says what learns: weights that no loss reaches have no backward pass and no update."""

import hypermile
import pytest

torch = pytest.importorskip("torch")
from test_export import LINEAR, By, plan, trained  # noqa: E402


def flags(layer):
    return layer.get("input_gradient", True), layer.get("weight_gradient", True), layer.get("trains", True)


def test_a_teacher_without_gradients_does_not_learn(tmp_path):
    def forward(self, x):
        with torch.no_grad():
            target = torch.relu(self.teacher(self.teacher(x)))
        return self.student(self.first(x)) - target

    model = By(forward, teacher=LINEAR(256, 256), first=LINEAR(256, 256), student=LINEAR(256, 256))
    document = hypermile.export_layers(model, torch.zeros(64, 256), tmp_path / "n.json")
    layers = {layer["name"]: layer for layer in document["layers"]}
    assert flags(layers["teacher"]) == (False, False, False)
    assert layers[":relu"]["input_gradient"] is False
    assert flags(layers["student"]) == (True, True, True)
    assert trained(document) == 2 * (256 * 256 + 256)
    planned = plan(tmp_path / "n.json", "train")
    assert not [layer for layer in planned["layers"] if layer["name"] == "teacher" and layer["phase"] == "backward"]


@pytest.mark.parametrize("shapes_only", [False, True])
def test_what_lies_before_a_detached_result_does_not_learn(shapes_only):
    model = By(lambda s, x: s.head(torch.relu(s.b(s.a(x))).detach()), a=LINEAR(8, 8), b=LINEAR(8, 8), head=LINEAR(8, 4))
    document = hypermile.export_layers(model, torch.zeros(4, 8), shapes_only=shapes_only)
    assert [flags(layer) for layer in document["layers"] if layer["type"] == "Linear"] == [
        (False, False, False), (False, False, False), (False, True, True)]
    assert trained(document) == 8 * 4 + 4


def test_a_function_in_which_autograd_cannot_be_seen_is_taken_to_learn():
    vmap = torch.vmap if hasattr(torch.nn.functional, "scaled_dot_product_attention") else pytest.importorskip("functorch").vmap
    model = By(lambda s, x: vmap(lambda row: s.layer(row))(x), layer=LINEAR(8, 4))
    assert trained(hypermile.export_layers(model, torch.zeros(5, 3, 8))) == 8 * 4 + 4


def test_a_model_whose_result_has_no_gradient_counts_as_learning():
    model = By(lambda s, x: s.layer(x).argmax(-1), layer=LINEAR(8, 4))
    assert trained(hypermile.export_layers(model, torch.zeros(5, 8))) == 8 * 4 + 4


def test_only_biases_learn(tmp_path):
    model = torch.nn.Sequential(LINEAR(256, 256), torch.nn.ReLU(), LINEAR(256, 256))
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.endswith("bias"))
    document = hypermile.export_layers(model, torch.zeros(64, 256), tmp_path / "n.json")
    assert trained(document) == 2 * 256
    assert [layer["weight_gradient"] for layer in document["layers"] if layer["type"] == "Linear"] == [False, False]
    optimizer = [layer for layer in plan(tmp_path / "n.json", "train")["layers"] if layer["phase"] == "optimizer"]
    assert sum(layer["flops"] for layer in optimizer) == 4 * 2 * 256


def test_a_part_of_a_parameter_is_used_and_all_of_it_updated():
    model = By(lambda s, x: x + s.places[:x.shape[1]], places=torch.nn.Parameter(torch.zeros(32, 8)))
    layer, = hypermile.export_layers(model, torch.zeros(2, 5, 8))["layers"]
    assert (layer["params"], layer["updated"]) == (5 * 8, 32 * 8)

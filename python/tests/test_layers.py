# SPDX-License-Identifier: Apache-2.0
"""`hypermile plan` reads what the package writes about a model."""

import csv
import json
import subprocess
import sys
import textwrap

import hypermile
import pytest
from conftest import HYPERMILE, answer

torch = pytest.importorskip("torch")


def small_network():
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False), torch.nn.BatchNorm2d(16), torch.nn.ReLU(inplace=True),
        torch.nn.MaxPool2d(3, 2, 1), torch.nn.Conv2d(16, 32, 3, padding=1, groups=2), torch.nn.GELU(),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(32, 10))


def plan(*words):
    done = subprocess.run([HYPERMILE, "plan", *map(str, words), "--gpu", "rtx3080ti", "--json"], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_export_is_planned(tmp_path):
    document = hypermile.export_layers(small_network(), torch.randn(4, 3, 64, 64), tmp_path / "n.json", name="small")
    assert document["batch"] == 4
    assert [layer["type"] for layer in document["layers"]][:2] == ["Conv2d", "BatchNorm2d"]
    assert document["layers"][0]["bias"] is False and document["layers"][4]["bias"] is True
    planned = plan(tmp_path / "n.json")
    assert planned["unknown_operators"] == []
    convolution = planned["layers"][0]
    assert convolution["name"] == "0"
    assert convolution["flops"] == 2 * 4 * 16 * 32 * 32 * 27


def test_shapes_only_computes_nothing_and_says_the_same(tmp_path):
    network = small_network()
    whole = hypermile.export_layers(network, torch.randn(4, 3, 64, 64))
    shapes = hypermile.export_layers(network, torch.empty(4, 3, 64, 64), shapes_only=True)
    assert whole == shapes
    assert next(network.parameters()).device.type == "cpu"


def test_resnet50_as_torchvision_builds_it_agrees_with_the_built_in_one(tmp_path):
    """One convolution with the shapes of the built-in network's table, as a module."""
    built_in = plan("resnet50", "--batch", "2", "--phase", "forward")
    first = next(layer for layer in built_in["layers"] if layer["type"].startswith("Conv"))
    hypermile.export_layers(torch.nn.Conv2d(3, 64, 7, 2, 3, bias=False), torch.empty(2, 3, 224, 224), tmp_path / "n.json",
                            shapes_only=True)
    ours = plan(tmp_path / "n.json", "--phase", "forward")["layers"][0]
    assert ours["flops"] == first["flops"] and ours["bytes"] == first["bytes"]


def test_a_module_without_a_name_and_one_called_twice():
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 8)

        def forward(self, x):
            return self.layer(torch.relu(self.layer(x)))

    layers = hypermile.export_layers(Twice(), torch.zeros(2, 8))["layers"]
    assert [layer["name"] for layer in layers] == ["layer", ":relu", "layer"]
    assert layers[2]["trains"] is False  # the optimizer updates it once


def test_an_unknown_module_is_exported_by_its_operators(tmp_path):
    class Strange(torch.nn.Module):
        def forward(self, x):
            return x.sin()

    hypermile.export_layers(torch.nn.Sequential(torch.nn.Linear(8, 8), Strange()), torch.zeros(2, 8), tmp_path / "n.json")
    planned = plan(tmp_path / "n.json")
    assert planned["unknown_operators"] == []
    assert [layer["name"] for layer in planned["layers"] if layer["phase"] == "forward"] == ["0", "1:sin"]


def test_a_model_without_layers_is_an_error():
    class Nothing(torch.nn.Module):
        def forward(self, x):
            return x

    with pytest.raises(ValueError, match="has no layers"):
        hypermile.export_layers(Nothing(), torch.zeros(2))


def test_a_profile_on_the_cpu_has_times_and_calibrates(tmp_path):
    costs = hypermile.profile_layers(small_network(), torch.randn(4, 3, 64, 64), tmp_path / "c.csv", name="small",
                                     seconds=0.05)
    assert {cost.type for cost in costs} >= {"Conv2d", "BatchNorm2d", "ReLU", "MaxPool2d", "Linear"}
    assert all(cost.fwd_us > 0 and cost.bwd_us > 0 and cost.fwd_j is None for cost in costs)
    with open(tmp_path / "c.csv", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(costs)
    calibrated = plan("vgg16", "--calibrate", tmp_path / "c.csv", "--precision", "fp32")
    assert calibrated["efficiency"]["shapes"] == len(costs)


@pytest.mark.parametrize("wrong", [{"precision": "int4"}, {"settings": ["fast"]}, {"settings": []}, {"settings": "fast"},
                                   {"seconds": 0.0}, {"seconds": -1.0}, {"seconds": float("nan")}, {"seconds": float("inf")}])
def test_what_cannot_be_profiled_is_one_clear_line(wrong):
    with pytest.raises((ValueError, RuntimeError)):
        hypermile.profile_layers(torch.nn.Linear(4, 4), torch.zeros(2, 4), **{"seconds": 0.01, **wrong})


def test_a_network_of_which_nothing_runs_alone_is_one_clear_line():
    class Times(torch.nn.Module):
        def forward(self, ids):
            return ids * 2

    with pytest.raises(ValueError, match="has no layer that runs alone"):
        hypermile.profile_layers(Times(), torch.zeros(4, dtype=torch.long), seconds=0.01)


def test_a_functional_batch_norm_is_profiled():
    class Norm(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.shift = torch.nn.Parameter(torch.ones(4)), torch.nn.Parameter(torch.zeros(4))
            self.register_buffer("mean", torch.zeros(4))
            self.register_buffer("var", torch.ones(4))

        def forward(self, x):
            return torch.nn.functional.batch_norm(x, self.mean, self.var, self.scale, self.shift, training=True)

    costs = hypermile.profile_layers(Norm(), torch.randn(8, 4), seconds=0.01)
    assert [cost.type for cost in costs] == ["BatchNorm2d"]


def test_a_grid_of_settings_under_a_lease_with_energy(machine, tmp_path):
    """The layers run on the CPU; the lease and the sensors are those of a simulated GPU that a job keeps busy."""
    script = """
        import json, sys, torch, hypermile
        torch.set_num_threads(1)
        model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU())
        costs = hypermile.profile_layers(model, torch.zeros(8, 64), sys.argv[1], gpu="0", seconds=0.8,
                                         settings=["default", "sm=1200MHz"])
        print(json.dumps([vars(cost) for cost in costs]))
    """
    load = machine.start(machine.job(600))
    machine_costs = answer(machine.train(script, tmp_path / "c.csv"))
    load.kill()
    assert [cost["setting"] for cost in machine_costs] == ["default", "default", "sm=1200MHz", "sm=1200MHz"]
    assert machine_costs[0]["sm_mhz"] > 1500 and machine_costs[2]["sm_mhz"] == 1200
    powers = [cost["fwd_j"] / cost["fwd_us"] for cost in machine_costs]
    assert powers[2] < 0.8 * powers[0]
    assert not machine.changed()
    calibrated = plan("vgg16", "--calibrate", tmp_path / "c.csv", "--precision", "fp32")
    assert calibrated["efficiency"]["shapes"] == 2


PROFILE = """
    import json, torch, hypermile
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU())
    costs = hypermile.profile_layers(model, torch.zeros(8, 64), seconds=0.3, name="two")
    print(json.dumps([vars(cost) for cost in costs]))
"""


def test_a_sweep_of_layers_gives_the_grid_to_the_script_and_goes_on_where_it_stopped(machine, tmp_path):
    load = machine.start(machine.job(600))
    script = tmp_path / "profile.py"
    script.write_text(textwrap.dedent(PROFILE), encoding="utf-8")
    out = tmp_path / "layers.csv"

    def sweep(grid):
        job = machine.start([HYPERMILE, "sweep", "--layers", "--gpu", "0", "--grid", grid, "--out", str(out), "--", sys.executable,
                             str(script)], env=machine.environment)
        return answer(job)

    first = sweep("sm=1200")
    text = out.read_text(encoding="utf-8")
    out.write_text(text + "two,8,fp3", encoding="utf-8")  # a profile that was killed while it wrote
    second = sweep("sm=1500/1200")
    load.kill()
    assert [cost["setting"] for cost in first] == ["default"] * 2 + ["sm=1200MHz"] * 2
    assert second[:4] == first and [cost["setting"] for cost in second[4:]] == ["sm=1500MHz"] * 2
    assert all(cost["gpu"] and cost["fwd_j_error"] is not None for cost in second)
    assert any(cost["drift"] != 1 for cost in second)
    assert not machine.changed()


def test_a_profile_of_something_else_is_not_continued(tmp_path):
    model = torch.nn.Linear(4, 4)
    path = tmp_path / "c.csv"
    hypermile.profile_layers(model, torch.zeros(2, 4), path, name="a", seconds=0.01)
    before = path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="another model than b"):
        hypermile.profile_layers(model, torch.zeros(2, 4), path, name="b", seconds=0.01)
    with pytest.raises(ValueError, match="another batch than 8"):
        hypermile.profile_layers(model, torch.zeros(8, 4), path, name="a", seconds=0.01)
    path.write_text(before.replace(before.splitlines()[1].split(",")[8], "nan"), encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: not a row"):
        hypermile.profile_layers(model, torch.zeros(2, 4), path, name="a", seconds=0.01)
    path.write_text("gpu,power\n1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="is not a profile"):
        hypermile.profile_layers(model, torch.zeros(2, 4), path, name="a", seconds=0.01)
    assert path.read_text(encoding="utf-8") == "gpu,power\n1,2\n"


def test_operators_outside_of_modules_are_profiled():
    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.all = torch.nn.Linear(16, 48)

        def forward(self, x):
            q, k, v = self.all(x).chunk(3, -1)
            return torch.softmax(torch.bmm(q, k.transpose(1, 2)), -1) @ v

    costs = hypermile.profile_layers(Attention(), torch.randn(2, 8, 16), seconds=0.01)
    assert [cost.type for cost in costs if cost.layer.startswith(":")] == ["MatMul", "Softmax", "MatMul"]


def test_profiling_killed_midway_restores(machine):
    script = """
        import torch, hypermile
        hypermile.profile_layers(torch.nn.Linear(64, 64), torch.zeros(8, 64), gpu="0", seconds=100, settings=["sm=1200MHz"])
    """
    job = machine.train(script)
    machine.wait_until_changed()
    job.kill()
    machine.wait_until_restored(15)


def test_without_a_gpu_the_error_is_one_line(tmp_path):
    code = ("import torch, hypermile\n"
            "hypermile.profile_layers(torch.nn.Linear(4, 4), torch.zeros(2, 4), settings=['sm=1200MHz'])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={"PATH": "/usr/bin", "PYTHONPATH": ":".join(sys.path), "HYPERMILE_NVML": "/nowhere.so"})
    assert done.returncode == 1
    assert "RuntimeError" in done.stderr.splitlines()[-1]

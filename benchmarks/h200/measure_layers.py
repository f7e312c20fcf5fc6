# SPDX-License-Identifier: Apache-2.0
"""On a real card, read-only: counts the operations of the networks of python/tests/networks.py with PyTorch's own counter, and
measures time and joules of every layer of four of them at the default setting with profile_layers().

    python3 measure_layers.py FOLDER [--seconds N]     writes flops.csv, NETWORK-PRECISION.csv and NETWORK-PRECISION.json there

Sensors are read through NVML; nothing is changed on the GPU, and no compiled part of hypermile is needed.
"""
import argparse
import csv
import ctypes
import importlib
import json
import os
import sys
import time
import types
import warnings

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.environ.get("HYPERMILE_PACKAGE", os.path.join(HERE, "..", "..", "python", "hypermile"))
sys.path.insert(0, os.environ.get("HYPERMILE_NETWORKS", os.path.join(HERE, "..", "..", "python", "tests")))


class Gpu:
    """The sensors of one card, as hypermile._core.Gpu reads them."""

    def __init__(self, name=None):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        assert self.nvml.nvmlInit_v2() == 0
        self.handle = ctypes.c_void_p()
        assert self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.handle)) == 0

    def read(self):
        energy, sm, memory = ctypes.c_ulonglong(), ctypes.c_uint(), ctypes.c_uint()
        known = self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.handle, ctypes.byref(energy)) == 0
        self.nvml.nvmlDeviceGetClockInfo(self.handle, 1, ctypes.byref(sm))
        self.nvml.nvmlDeviceGetClockInfo(self.handle, 2, ctypes.byref(memory))
        return {"time_s": time.monotonic(), "energy_j": energy.value / 1e3 if known else None, "sm_mhz": float(sm.value),
                "mem_mhz": float(memory.value)}

    @property
    def name(self):
        return torch.cuda.get_device_name()


def load(name):
    """Loads one module of the package, with this file in place of its extension."""
    if "hypermile" not in sys.modules:
        sys.modules["hypermile"] = package = types.ModuleType("hypermile")
        package.__path__ = [PACKAGE]
        package._core = sys.modules["hypermile._core"] = types.ModuleType("hypermile._core")
        package._core.Gpu, package._core.check_setting = Gpu, str
    return importlib.import_module("hypermile." + name)


def more_networks():
    """Networks of torchvision and transformers, where these are installed."""
    found = {}
    try:
        import torchvision.models as vision

        for name in ("resnet18", "resnet50", "vgg16", "mobilenet_v2", "efficientnet_b0", "densenet121", "convnext_tiny", "vit_b_16",
                     "swin_t", "googlenet", "regnet_y_400mf"):
            found["torchvision " + name] = lambda make=getattr(vision, name): (make(), (torch.empty(8, 3, 224, 224),))
    except ImportError:
        print("torchvision is not installed")
    try:
        import transformers as t

        def of(config, model, tokens):
            return lambda: (model(config), (torch.zeros(2, tokens, dtype=torch.long),))

        found["transformers gpt2"] = of(t.GPT2Config(use_cache=False), t.GPT2LMHeadModel, 512)
        found["transformers bert"] = of(t.BertConfig(), t.BertModel, 128)
        found["transformers llama"] = of(t.LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=4, use_cache=False,
                                                       num_attention_heads=16, num_key_value_heads=4), t.LlamaForCausalLM, 256)
        found["transformers t5"] = lambda: (t.T5EncoderModel(t.T5Config()), (torch.zeros(2, 128, dtype=torch.long),))
    except ImportError:
        print("transformers is not installed")
    return found


def check_flops(folder):
    """One row for each network: our count of matrix operations, and PyTorch's of the forward pass and of the whole step."""
    from networks import BY_FORMULA, NETWORKS
    from torch.utils.flop_counter import FlopCounterMode

    export = load("layers").export_layers
    with open(os.path.join(folder, "flops.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["network", "pytorch", "ours", "counter_forward", "counter_step", "formula", "layers", "params",
                         "exported_params"])
        formulas = {name: (lambda make=make: make()) for name, (make, _) in BY_FORMULA.items()}
        for name, make in {**NETWORKS, **formulas, **more_networks()}.items():
            try:
                model, inputs = make()
                model.train()
                formula = BY_FORMULA[name][1] if name in BY_FORMULA else ""
                device = "cuda" if name in BY_FORMULA or name.startswith("transformers") else "meta"
                model = model.to(device)
                inputs = tuple(i.to(device) for i in inputs)
                with warnings.catch_warnings(record=True) as warned:
                    warnings.simplefilter("always")
                    document = export(model, inputs, os.path.join(folder, name.replace(" ", "-") + ".json"), name=name)
                counter = FlopCounterMode(display=False)
                with counter:
                    output = model(*inputs)
                forward = counter.get_total_flops()
                counter = FlopCounterMode(display=False)
                with counter:
                    output = model(*inputs)
                    first = load("trace").tensors_of(output)[0]
                    first.sum().backward()
                trained = sum(la.get("params", 0) for la in document["layers"] if la.get("trains", True))
                row = [name, torch.__version__, int(document["matrix_flops"]), forward, counter.get_total_flops(), formula,
                       len(document["layers"]), sum(p.numel() for p in model.parameters()), trained]
                writer.writerow(row)
                unused = [str(w.message)[:160] for w in warned if "no exported layer" in str(w.message)]
                print(*row, *unused, flush=True)
            except Exception as problem:
                print(name, "failed:", repr(problem)[:300], flush=True)


def measure(folder, seconds):
    """Rows of profile_layers() for four networks, each with a quarter of the time."""
    from networks import Gpt, UNet, residual, vgg16

    profile, layers = load("profile").profile_layers, load("layers")
    networks = {
        "resnet50": (lambda: residual(1, 1)[0], lambda: torch.randn(64, 3, 224, 224), "tf32"),
        "vgg16": (lambda: vgg16()[0], lambda: torch.randn(64, 3, 224, 224), "tf32"),
        "gpt2": (lambda: Gpt(12, 768, 12, "fused"), lambda: torch.zeros(8, 1024, dtype=torch.long), "bf16"),
        "unet": (UNet, lambda: torch.randn(8, 3, 256, 256), "bf16"),
    }
    torch.backends.cudnn.benchmark = True
    for name, (make, data, precision) in networks.items():
        begin = time.monotonic()
        try:
            model, inputs = make().cuda().train(), data().cuda()
            if name in ("resnet50", "vgg16", "unet"):
                model, inputs = (x.to(memory_format=torch.channels_last) for x in (model, inputs))
            if precision == "bf16" and inputs.is_floating_point():
                model, inputs = model.bfloat16(), inputs.bfloat16()
            elif precision == "bf16":
                model = model.bfloat16()
            path = os.path.join(folder, f"{name}-{precision}")
            document = layers.export_layers(model, inputs, path + ".json", name=name)
            shapes = {(la["type"], str(la["in_shape"]), str(la["out_shape"]), la.get("params", 0)) for la in document["layers"]}
            each = max(0.3, seconds / 4 / (2.6 * len(shapes)))
            rows = profile(model, inputs, path + ".csv", name=name, precision=precision, seconds=each)
            step = step_seconds(model, inputs)
            print(f"{name} {precision}: {len(rows)} of {len(shapes)} shapes measured, {each:.2f} s each, a whole step takes "
                  f"{1e3 * step:.2f} ms, took {time.monotonic() - begin:.0f} s", flush=True)
            with open(path + ".step", "w", encoding="utf-8") as file:
                json.dump({"forward_and_backward_s": step}, file)
            del model, inputs
            torch.cuda.empty_cache()
        except Exception as problem:
            print(name, "failed:", repr(problem)[:400], flush=True)


def step_seconds(model, inputs):
    """Forward and backward of the whole network, the median of 15."""
    times = []
    for _ in range(20):
        model.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        output = model(inputs)
        output.float().sum().backward()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return sorted(times[5:])[7]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=160, help="for the layers of all networks; 0 only counts operations")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    print(torch.__version__, torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU")
    check_flops(options.folder)
    if torch.cuda.is_available() and options.seconds > 0:
        measure(options.folder, options.seconds)


if __name__ == "__main__":
    main()

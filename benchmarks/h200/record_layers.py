# SPDX-License-Identifier: Apache-2.0
"""Times of single layers from CUDA graphs, in the format of `hypermile plan --calibrate`: every leaf layer of torchvision's
ResNet50 and VGG16 at batch 64 in tf32 and bf16, channels-last, on data that the cache does not hold. Short bursts with
pauses keep the card below its power limit. Changes nothing on the GPU, and needs no compiled part of hypermile.

    python3 record_layers.py OUT.csv [--seconds N]     no new shape is begun after N seconds (200)

Layers of one shape are measured once; each layer has its own row, so that sums over rows are sums over the network.
"""
import argparse
import csv
import importlib
import os
import statistics
import sys
import time
import types

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..", "..", "python", "hypermile")
COLUMNS = ["model", "batch", "precision", "layer", "type", "in_shape", "out_shape", "params", "fwd_us", "bwd_us"]
BATCH = 64
BURSTS = 15
PAUSE_SECONDS = 0.004


def load(name):
    """Loads one module of the package without the package itself, which needs its extension."""
    if "hypermile" not in sys.modules:
        sys.modules["hypermile"] = types.ModuleType("hypermile")
        sys.modules["hypermile"].__path__ = [PACKAGE]
    return importlib.import_module("hypermile." + name)


alone, layers = load("alone"), load("layers")


def burst_us(call, prepared):
    """(median µs of one call over bursts, whether a graph could be captured)."""
    repeat = alone.repeated(call, prepared)
    runs = 1 if repeat.captured else 50
    times = []
    for burst in range(BURSTS + 2):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(runs):
            repeat.run()
        end.record()
        torch.cuda.synchronize()
        if burst >= 2:  # the first two warm up
            times.append(1e3 * begin.elapsed_time(end) / (runs * repeat.calls))
        time.sleep(PAUSE_SECONDS)
    return statistics.median(times), repeat.captured


def shape_of(layer):
    return layer["type"], str(layer["in_shape"]), str(layer["out_shape"]), layer.get("params", 0)


def record(name, model, precision, until):
    """(rows of one network in one precision, number of measurements without a graph)."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.benchmark = True
    device = torch.device("cuda", 0)
    images = torch.randn(BATCH, 3, 224, 224, device=device).to(memory_format=torch.channels_last)
    model = model.to(device, memory_format=torch.channels_last).train()
    found = layers.record_layers(model, (images,))
    measured, without_graph = {}, 0
    for module, layer in found:
        if shape_of(layer) in measured or time.monotonic() > until:
            continue
        prepared = alone.prepare(module, layer, precision, device, channels_last=True)
        if prepared is None:
            continue
        (forward, captured), (backward, captured_too) = (burst_us(call, prepared)
                                                         for call in (prepared.forward, prepared.backward))
        without_graph += (not captured) + (not captured_too)
        measured[shape_of(layer)] = forward, backward
        del prepared
    rows = []
    for _, layer in found:
        if shape_of(layer) in measured:
            forward, backward = measured[shape_of(layer)]
            rows.append([name, BATCH, precision, layer["name"], layer["type"], "x".join(map(str, layer["in_shape"])),
                         "x".join(map(str, layer["out_shape"])), layer.get("params", 0), f"{forward:.2f}", f"{backward:.2f}"])
    print(f"{name} {precision}: {len(measured)} of {len({shape_of(layer) for _, layer in found})} shapes, "
          f"{without_graph} measurements without a graph, {sum(float(r[8]) for r in rows) / 1e3:.2f} ms forward, "
          f"{sum(float(r[9]) for r in rows) / 1e3:.2f} ms backward", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=200)
    options = parser.parse_args()
    begin = time.monotonic()
    import torchvision

    networks = {"resnet50": torchvision.models.resnet50, "vgg16": torchvision.models.vgg16}
    with open(options.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        # Precisions share the time equally, so that a short limit does not leave out one of them.
        for number, (name, precision) in enumerate((n, p) for n in networks for p in ("tf32", "bf16")):
            until = begin + options.seconds * (number + 1) / 4
            writer.writerows(record(name, networks[name](), precision, until))
            file.flush()
    print(f"took {time.monotonic() - begin:.0f} s on {torch.cuda.get_device_name()}")


if __name__ == "__main__":
    main()

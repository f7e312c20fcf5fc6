# SPDX-License-Identifier: Apache-2.0
"""How graph networks behave on a real card: launches, kernels' speeds, and what the host costs.

graphs_on_h200.csv has sixteen of the 56 networks as benchmarks/h200/graph_networks.py saw them on an H200 at its default clocks (PyTorch 2.11,
PyTorch Geometric 2.8, random graphs of the data sets' sizes). Per model, the median over its networks says how many kernels it launches and what
share of the copy bandwidth its gathers and streams reach, against the operations and bytes of its Tape. A model that was not
measured gets the median over all.

A kernel lasts KERNEL_FLOOR_US even without work; that much is a wait. What then remains is far slower than DRAM: the tensors of a batch fit in the
card's L2, so the time beyond the DRAM's is bound by the SMs and scales with their clock.
"""

import csv
import pathlib
import statistics

H200_FP32 = 61.8e12  # FLOP/s, of gpus/h200.toml
H200_BANDWIDTH = 4.28e12  # bytes/s of a copy, of gpus/h200.toml
H200_OVERLAP = 2.5  # p of the p-norm, of gpus/h200.toml
KERNEL_FLOOR_US = 4.0  # the smallest kernels of the profile last 3 to 5 us
# step = LOADER_MS_PER_GRAPH x graphs + LOADER_MS_PER_EDGE x edges + max(GPU, HOST_US x launches): least squares of the relative error over the
# fifteen networks with a loader, which batches and copies; 7 % are left.
HOST_US, LOADER_MS_PER_GRAPH, LOADER_MS_PER_EDGE = 36.0, 0.038, 23.7e-6
# Power of the SMs in these kernels, as a share of what saturated FP32 pipes draw: they compute addresses, load and add atomically. Chosen so that
# the power of the sixteen networks is met in the median.
SM_SHARE = 0.35


def _rows():
    with open(pathlib.Path(__file__).with_name("graphs_on_h200.csv"), newline="") as file:
        return list(csv.DictReader(file))


def _compare(row, tape):
    """What the card did against what the tape says: launches, and the shares of its peaks that each kind of kernel reached."""
    out = {}
    for kind in ("matrix", "gather", "stream"):
        kinds = ("matrix", "small") if kind == "matrix" else (kind,)
        works = [tape_pass[k] for tape_pass in (tape.forward, tape.backward) for k in kinds]
        if kind == "stream":
            works += tape.optimizer("adam").values()
        seconds = 1e-3 * float(row[kind + "_ms"]) - 1e-6 * KERNEL_FLOOR_US * float(row[kind + "_launches"])
        ideal = sum(max(w.flops / H200_FP32, w.bytes / H200_BANDWIDTH) for w in works)
        out[kind] = ideal / seconds if seconds > 0 else None
        out["launches"] = out.get("launches", 0) + float(row[kind + "_launches"])
        out["tape launches"] = out.get("tape launches", 0) + sum(w.launches for w in works)
    return out


def reached_by(model, network):
    """(factor on the tape's launches, share of peak by kind). `network` makes the Tape of a model and a data set."""
    found = {}
    for row in _rows():
        _, data, name = row["name"].split("_")
        found.setdefault(name, []).append(_compare(row, network(name, data)[0]))
    # A perceptron's few kernels are hardly above the floor, so that their speed was not measured.
    several = found[model] if model in found and model != "mlp" else [each for rows in found.values() for each in rows]
    factor = statistics.median(each["launches"] / each["tape launches"] for each in found.get(model, several))
    shares = {kind: statistics.median(each[kind] for each in several if each[kind]) for kind in ("matrix", "gather", "stream")}
    return factor, {kind: min(0.85, share) for kind, share in shares.items()}


def loader_ms(graphs, edges):
    return LOADER_MS_PER_GRAPH * graphs + LOADER_MS_PER_EDGE * edges


def compute_efficiency(flops, nbytes, memory_efficiency, reached):
    """The efficiency with which `flops` take what is missing to the time at which `reached` of the copy bandwidth is seen."""
    whole, memory = nbytes / H200_BANDWIDTH / reached, nbytes / H200_BANDWIDTH / memory_efficiency
    rest = max(0.0, whole ** H200_OVERLAP - memory ** H200_OVERLAP) ** (1 / H200_OVERLAP)
    return flops / H200_FP32 / rest if rest > 0 else 1.0


def activity(flops, nbytes, reached):
    """The switching activity with which `flops` draw SM_SHARE while the part runs."""
    return SM_SHARE * nbytes / H200_BANDWIDTH / reached / (flops / H200_FP32)

# SPDX-License-Identifier: Apache-2.0
"""The callbacks beside real trainers on a GPU, read-only: Hugging Face's Trainer, Lightning, a loop of accelerate, a loop of JAX. Each
trains a small transformer for some seconds under observe(), with a CSV tracker. Reports what hypermile counted against what was
trained, and the trackers' rows.

    HYPERMILE_READ_ONLY=1 PYTHONPATH=SITE python3 callbacks.py [SECONDS [PART…]]     parts: hugging_face lightning accelerate jax

Prints one JSON line a part and exits with 1 where one lost iterations or energy. A part whose library is missing says so."""

import csv
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time

os.environ["HYPERMILE_READ_ONLY"] = "1"
PARTS = {"hugging_face": "transformers", "lightning": "lightning", "accelerate": "accelerate", "jax": "jax"}
WIDTH, LAYERS, LENGTH, BATCH = 768, 6, 256, 32  # about 15 ms an iteration on an H200


def model_and_data():
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    width, layers = (WIDTH, LAYERS) if device == "cuda" else (64, 1)
    layer = torch.nn.TransformerEncoderLayer(width, 12 if device == "cuda" else 4, 4 * width, batch_first=True, dropout=0.0)
    model = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False), torch.nn.Linear(width, 1))
    return model, torch.randn(BATCH if device == "cuda" else 2, LENGTH if device == "cuda" else 8, width), device


def hugging_face(seconds, options):
    import torch
    from hypermile.integrations.transformers import HypermileCallback
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Wrapped(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, inputs):
            return {"loss": self.model(inputs).square().mean()}

    class Until(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            control.should_training_stop = time.monotonic() > end

    model, inputs, _ = model_and_data()
    callback = HypermileCallback(observe_only=True, **options)
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(folder, max_steps=10**6, per_device_train_batch_size=len(inputs), report_to=[], save_strategy="no",
                                      disable_tqdm=True, logging_strategy="no", dataloader_pin_memory=False)
        trainer = Trainer(Wrapped(model), arguments, train_dataset=[{"inputs": each} for each in inputs] * 4, callbacks=[callback, Until()])
        end = time.monotonic() + seconds
        trainer.train()
    return callback.result, trainer.state.global_step


def lightning(seconds, options):
    import logging
    import warnings

    import torch
    import lightning.pytorch as pl
    from hypermile.integrations.lightning import HypermileCallback

    logging.getLogger("lightning").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    model, inputs, device = model_and_data()

    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = model

        def training_step(self, batch, index):
            return self.model(batch[0]).square().mean()

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-5)

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs.repeat(64, 1, 1)), batch_size=len(inputs))
    callback = HypermileCallback(observe_only=True, **options)
    trainer = pl.Trainer(max_time={"seconds": seconds}, max_epochs=-1, logger=False, enable_checkpointing=False, devices=1,
                         accelerator="gpu" if device == "cuda" else "cpu", enable_progress_bar=False, enable_model_summary=False,
                         callbacks=[callback])
    trainer.fit(Model(), data)
    return callback.result, trainer.global_step


def accelerate(seconds, options):
    import hypermile
    import torch
    from accelerate import Accelerator

    accelerator = Accelerator()
    model, inputs, _ = model_and_data()
    model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=1e-5))
    inputs, steps = inputs.to(accelerator.device), 0
    with hypermile.observe(**options) as run:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            hypermile.step("train")
            optimizer.zero_grad()
            loss = model(inputs).square().mean()
            accelerator.backward(loss)
            optimizer.step()
            loss.item()
            steps += 1
    return run.result, steps


def jax(seconds, options):
    import hypermile
    import jax as library
    import jax.numpy as jnp

    size = 4096 if library.default_backend() == "gpu" else 128

    @library.jit
    def update(weights, inputs):
        return weights - 1e-6 * library.grad(lambda w: jnp.mean((jnp.tanh(inputs @ w) @ w) ** 2))(weights)

    weights, inputs, steps = jnp.ones((size, size)), jnp.ones((size, size)), 0
    update(weights, inputs).block_until_ready()
    with hypermile.observe(**options) as run:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            hypermile.step("train")
            weights = update(weights, inputs).block_until_ready()
            steps += 1
    return run.result, steps


def one(name, seconds):
    with tempfile.TemporaryDirectory() as folder:
        from hypermile.trackers import Csv

        table = os.path.join(folder, "energy.csv")
        result, steps = globals()[name](seconds, {"track": [Csv(table)], "log": os.path.join(folder, "log.jsonl")})
        rows = []
        if os.path.exists(table):
            with open(table, encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
    counted = result.totals.get("iterations", 0.0)
    baseline = result.baseline
    print(json.dumps({
        "part": name, "version": importlib.import_module(PARTS[name]).__version__, "python": sys.version.split()[0], "steps": steps,
        "counted": counted, "joules": result.totals.get("joules"), "seconds": result.totals.get("seconds"), "windows": len(result.windows),
        "baseline": baseline and baseline.text, "line": result.line, "rows": len(rows), "last_row": rows[-1] if rows else None,
        "good": abs(counted - steps) <= 2 and baseline is not None and bool(rows)}))


def main():
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], float(sys.argv[3]))
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 25.0
    good = True
    for name in sys.argv[2:] or PARTS:
        if importlib.util.find_spec(PARTS[name]) is None:
            print(json.dumps({"part": name, "missing": PARTS[name]}), flush=True)
            continue
        # A process each, because a library that was loaded changes the next.
        done = subprocess.run([sys.executable, __file__, "--one", name, str(seconds)], capture_output=True, text=True, check=False)
        line = done.stdout.splitlines()[-1] if done.stdout else ""
        good &= done.returncode == 0 and json.loads(line)["good"]
        print(line if done.returncode == 0 else json.dumps({"part": name, "problem": done.stderr.splitlines()[-12:]}), flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

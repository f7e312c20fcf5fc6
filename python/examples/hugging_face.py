# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's Trainer with a callback. It only observes; remove observe_only to save energy.

    python hugging_face.py [STEPS]"""

import sys
import tempfile

import torch
from hypermile.integrations.transformers import HypermileCallback
from simulated_gpu import SimulatedGpu
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
torch.set_num_threads(1)
model = BertForSequenceClassification(BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                                                 intermediate_size=64, vocab_size=100))
data = [{"input_ids": torch.randint(0, 100, (16,)), "labels": i % 2} for i in range(64)]


class SimulatedTrainer(Trainer):
    def training_step(self, *arguments, **named):
        gpu.work()
        return super().training_step(*arguments, **named)


with SimulatedGpu() as gpu, tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(folder, max_steps=steps, per_device_train_batch_size=4, report_to=[], save_strategy="no",
                                  disable_tqdm=True)
    callback = HypermileCallback(observe_only=True)
    SimulatedTrainer(model, arguments, train_dataset=data, callbacks=[callback]).train()

print(callback.result)
print(f"{len(callback.result.windows)} windows, {callback.result.totals.get('iterations', 0):.0f} iterations")

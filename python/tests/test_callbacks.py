# SPDX-License-Identifier: Apache-2.0
"""The callbacks of trainers where training does not simply run to its end: exceptions, resumed runs, several runs of one shell."""

import pytest
from conftest import answer

pytest.importorskip("torch")

# A Trainer whose data fail at a given step.
HUGGING_FACE = """
    import json, os, sys, tempfile, time
    import torch
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
    from hypermile.integrations import _watching
    from hypermile.integrations.transformers import HypermileCallback

    torch.set_num_threads(1)

    class Data(torch.utils.data.Dataset):
        fail_at, given = 10**9, 0
        def __len__(self):
            return 1000
        def __getitem__(self, i):
            Data.given += 1
            if Data.given > 4 * Data.fail_at:
                raise KeyError("mine")
            time.sleep(0.005)
            return {"input_ids": torch.arange(16), "labels": i % 2}

    def trainer(callback, steps, **more):
        model = BertForSequenceClassification(BertConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                                                         intermediate_size=16, vocab_size=20))
        arguments = TrainingArguments(folder, max_steps=steps, per_device_train_batch_size=4, report_to=[], disable_tqdm=True,
                                      **{"save_strategy": "no", **more})
        return Trainer(model, arguments, train_dataset=Data(), callbacks=[callback])

    def train(trainer, **how):
        try:
            trainer.train(**how)
        except KeyError as problem:
            return str(problem)

    folder = tempfile.mkdtemp()
"""
LIGHTNING = """
    import json, sys, warnings
    import torch
    if sys.version_info >= (3, 11) and torch.__version__.startswith("1."):
        torch.distributed.is_available = lambda: False
    try:
        import lightning.pytorch as pl
    except ImportError:
        import pytorch_lightning as pl
    from hypermile.integrations import _watching
    from hypermile.integrations.lightning import HypermileCallback
    warnings.filterwarnings("ignore")

    class Model(pl.LightningModule):
        def __init__(self, fail_at=10**9):
            super().__init__()
            self.layer, self.fail_at = torch.nn.Linear(16, 1), fail_at
        def training_step(self, batch, index):
            if self.global_step >= self.fail_at:
                raise KeyError("mine")
            return self.layer(batch[0]).square().mean()
        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=1e-2)

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(400, 16)), batch_size=4)

    def trainer(callback, steps):
        return pl.Trainer(max_steps=steps, logger=False, enable_checkpointing=False, accelerator="cpu", devices=1,
                          enable_progress_bar=False, enable_model_summary=False, callbacks=[callback])
"""
# Notes what the callback asks for, instead of starting a controller.
NOTED = """
    noted = []
    real = _watching.optimize
    def optimize(**options):
        noted.append(options)
        return real(**options)
    _watching.optimize = optimize
"""


@pytest.fixture(autouse=True)
def trainers(request):
    if "hugging_face" in request.node.name:
        pytest.importorskip("transformers", reason="transformers is not installed")


@pytest.mark.parametrize("name", ["max_slodown", "policies"])
def test_an_option_that_does_not_exist_fails_where_it_was_typed(name):
    from hypermile.integrations._watching import Watching

    Watching(max_slowdown="2%", quiet=False)
    Watching(observe_only=True, log="run.jsonl")
    with pytest.raises(TypeError, match=name):
        Watching(**{name: 1})
    with pytest.raises(TypeError, match="max_slowdown"):
        Watching(observe_only=True, max_slowdown=0.05)


def test_hugging_face_stops_on_an_exception(machine):
    job = machine.train(HUGGING_FACE + """
    Data.fail_at = 80
    callback = HypermileCallback(policy="fixed:sm=1500")
    problem = train(trainer(callback, 1000))
    from hypermile.program import find_program
    import subprocess
    status = json.loads(subprocess.run([str(find_program()), "simulate", "--status", "--json"], capture_output=True).stdout)
    print(json.dumps({"problem": problem, "watching": callback._watch is not None, "reason": callback.result.reason,
                      "lock": status["gpus"][0]["sm_lock_mhz"]}))
    """)
    told = answer(job)
    assert told["problem"] == "'mine'"
    assert not told["watching"] and told["reason"] != "training has not ended yet"
    assert told["lock"] is None


def test_hugging_face_asks_for_the_steps_that_are_left(machine):
    told = answer(machine.train(HUGGING_FACE + NOTED + """
    Data.fail_at = 6
    train(trainer(HypermileCallback(), 10, save_strategy="steps", save_steps=4))
    Data.fail_at = 10**9
    train(trainer(HypermileCallback(), 10), resume_from_checkpoint=os.path.join(folder, "checkpoint-4"))
    print(json.dumps([[each["iterations"], each["first_step"]] for each in noted]))
    """))
    assert told == [[10, 0], [6, 4]]


def test_hugging_face_trainings_of_one_shell_are_two_jobs(machine):
    """transformers 4.57 has local_rank 0 in every process. This test is the parent of both."""
    script = """
        import json, os
        from types import SimpleNamespace
        from hypermile.integrations.transformers import HypermileCallback
        callback = HypermileCallback(observe_only=True, quiet=True)
        callback.on_train_begin(SimpleNamespace(local_rank=0), SimpleNamespace(max_steps=10, global_step=0), None)
        print(json.dumps(os.environ["HYPERMILE_RING_DIR"]))
        callback.on_train_end(None, None, None)
    """
    first, second = answer(machine.train(script)), answer(machine.train(script))
    assert first != second


@pytest.mark.parametrize("quiet", [False, True])
def test_hugging_face_ends_with_one_line(machine, quiet):
    job = machine.train(HUGGING_FACE + f"""
    train(trainer(HypermileCallback(observe_only=True, quiet={quiet}), 200))
    """)
    _, said = job.communicate(timeout=300)
    lines = [line for line in said.splitlines() if line.startswith("hypermile: ")]
    assert job.returncode == 0, said
    assert len(lines) == (0 if quiet else 1), said
    assert quiet or "an iteration" in lines[0]


def test_lightning_stops_on_an_exception_and_asks_for_its_steps(machine):
    told = answer(machine.train(LIGHTNING + NOTED + """
    callback, problem = HypermileCallback(quiet=True), None
    try:
        trainer(callback, 50).fit(Model(fail_at=20), data)
    except KeyError as mine:
        problem = str(mine)
    print(json.dumps({"problem": problem, "watching": callback._watch is not None, "iterations": noted[0]["iterations"]}))
    """))
    assert told == {"problem": "'mine'", "watching": False, "iterations": 50}

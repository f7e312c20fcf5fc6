# SPDX-License-Identifier: Apache-2.0
"""Trackers get every window, through the real libraries and without a network. One that fails costs nobody anything."""

import csv
import glob
import json
import os
import struct

import pytest
from conftest import answer
from hypermile.following import Following
from hypermile.trackers import Csv, Row, TensorBoard, Wandb

ROWS = [Row(step=30, seconds=4.0, joules_per_step=20.0, seconds_per_step=0.1, watts=200.0, sm_mhz=1900.0, mem_mhz=5000.0),
        Row(step=60, seconds=8.0, gpu=1, joules_per_step=16.0, seconds_per_step=0.1, watts=160.0, sm_mhz=1500.0),
        Row(step=60, seconds=9.0, saved_percent=12.5)]


def window(t, iterations, gpu="GPU-a", **more):
    return {"v": 1, "type": "window", "t": t, "gpu": gpu, "setting": {}, "iterations": 30.0, "job_iterations": iterations,
            "time_per_iteration_s": 0.1, "energy_per_iteration_j": 20.0, "power_w": 200.0, "sm_mhz": 1900.0, "mem_mhz": 5000.0,
            "phase": 0, **more}


def write(path, *events):
    with open(path, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)


def test_a_growing_log_becomes_rows_and_the_last_says_what_was_saved(tmp_path):
    log, rows = tmp_path / "log.jsonl", []
    following = Following(log, 0, [rows.append], 1000, lambda: None)
    write(log, {"v": 1, "type": "sample"}, window(4.0, 30.0), window(5.0, 60.0, unusable="a stranger"), window(6.0, 60.0, gpu="GPU-b"))
    with open(log, "a", encoding="utf-8") as file:
        file.write('{"v": 1, "type": "wind')
    following.stop(saved_percent=12.5)
    assert [(row.step, row.gpu) for row in rows] == [(1030, 0), (1060, 1), (1060, 0)]
    assert rows[0].joules_per_step == 20.0 and rows[0].watts == 200.0 and rows[0].sm_mhz == 1900.0
    assert rows[2].saved_percent == 12.5 and rows[2].watts is None


def test_a_tracker_that_fails_is_named_once_and_the_others_go_on(tmp_path, capsys):
    rows = []

    def broken(row):
        raise OSError("the disk is full")

    following = Following(tmp_path / "log.jsonl", 0, [broken, rows.append], 0, lambda: None)
    write(tmp_path / "log.jsonl", window(4.0, 30.0), window(6.0, 60.0))
    following.stop(saved_percent=None)
    assert len(rows) == 2
    assert capsys.readouterr().err.count("the tracker broken failed and gets no more rows: the disk is full") == 1


def test_a_csv_file_is_continued_by_the_next_run(tmp_path):
    for _ in range(2):
        tracker = Csv(tmp_path / "energy.csv")
        for row in ROWS:
            tracker(row)
        tracker.close()
    with open(tmp_path / "energy.csv", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    assert len(read) == 6
    assert read[0]["joules_per_step"] == "20.0" and read[0]["saved_percent"] == "" and read[2]["saved_percent"] == "12.5"


def test_tensorboard_reads_what_was_written(tmp_path):
    pytest.importorskip("torch")
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator", reason="TensorBoard is not installed")
    tracker = TensorBoard(tmp_path)
    for row in ROWS:
        tracker(row)
    tracker.close()
    events = accumulator.EventAccumulator(str(tmp_path))
    events.Reload()
    assert [(each.step, each.value) for each in events.Scalars("hypermile/joules_per_step")] == [(30, 20.0)]
    assert [each.value for each in events.Scalars("hypermile/gpu1/watts")] == [160.0]
    assert [each.value for each in events.Scalars("hypermile/saved_percent")] == [12.5]


def records(path):
    """The records of W&B's file, which has the format of LevelDB's log: blocks of 32 kB, records in parts that fit into them."""
    with open(path, "rb") as file:
        data, at, record = file.read(), 7, b""
    while at < len(data):
        if 32768 - at % 32768 < 7:  # no header fits into the rest of the block
            at += 32768 - at % 32768
            continue
        length, kind = struct.unpack_from("<HB", data, at + 4)
        record += data[at + 7:at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield record
            record = b""


def recorded(folder):
    """The history of the only offline run in a folder, as W&B will upload it."""
    import wandb
    from wandb.proto import wandb_internal_pb2

    wandb.teardown()  # waits until its service has written the file
    history = []
    for data in records(glob.glob(os.path.join(folder, "wandb", "offline-run-*", "*.wandb"))[0]):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") == "history":
            history.append({item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item})
    return history


def test_wandb_records_rows_and_never_moves_your_step(tmp_path):
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    with wandb.init(mode="offline", dir=tmp_path, project="test", settings=wandb.Settings(silent=True)) as run:
        tracker = Wandb()
        for step in range(3):
            for row in ROWS[:2]:
                tracker(row)
            run.log({"loss": 1.0 - step}, step=step)
        tracker.close()
    history = [row for row in recorded(tmp_path) if "loss" in row]
    assert [row["loss"] for row in history] == [1.0, 0.0, -1.0]
    assert history[0]["hypermile/joules_per_step"] == 20.0 and history[0]["hypermile/gpu1/watts"] == 160.0


def test_wandb_with_commit_records_every_row(tmp_path):
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    with wandb.init(mode="offline", dir=tmp_path, project="test", settings=wandb.Settings(silent=True)) as run:
        tracker = Wandb(run, commit=True)
        for row in ROWS:
            tracker(row)
    history = recorded(tmp_path)
    assert [row["hypermile/step"] for row in history] == [30, 60, 60]
    assert history[2]["hypermile/saved_percent"] == 12.5


def test_wandb_without_a_run_says_so():
    pytest.importorskip("wandb", reason="wandb is not installed")
    tracker = Wandb()
    tracker(ROWS[0])
    with pytest.raises(RuntimeError, match="no run of W&B was active"):
        tracker.close()


def test_a_watched_loop_fills_a_table_with_what_was_saved(machine):
    script = """
        import json, sys, time
        import hypermile
        from hypermile.trackers import Csv
        from stand_in import Job
        with Job("dcgan") as job, hypermile.optimize(policy="fixed:sm=1500", track=[Csv(sys.argv[1])], first_step=500) as run:
            for _ in range(450):
                hypermile.step("train")
                job.step()
        print(json.dumps({"saved": run.result.saved_percent, "windows": [w.unusable for w in run.result.windows].count(None)}))
    """
    told = answer(machine.train(script, machine.path("energy.csv")))
    with open(machine.path("energy.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == told["windows"] + 1
    assert float(rows[-1]["saved_percent"]) == pytest.approx(told["saved"])
    assert 500 < int(rows[0]["step"]) <= 950
    assert {float(row["sm_mhz"]) for row in rows[:-1]} >= {1500.0}

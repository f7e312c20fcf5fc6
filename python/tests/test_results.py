# SPDX-License-Identifier: Apache-2.0
"""Results are read from an event log alone, and their figures are the program's."""

import json
import os
import re
import subprocess

import hypermile
import pytest

HYPERMILE = os.environ["HYPERMILE"]


@pytest.fixture(autouse=True)
def the_built_program(monkeypatch):
    monkeypatch.setenv("HYPERMILE_BIN", HYPERMILE)


def event(kind, t, **more):
    return {"v": 1, "type": kind, "t": t, **more}


def start(t, run="1"):
    return event("run_start", t, run=run, unix_time=1.7e9, program="hypermile", command=["hypermile", "run"],
                 environment={}, gpus=[])


def window(t, setting, time, energy, **more):
    return event("window", t, **{"gpu": "GPU-a", "setting": setting, "begin_s": t - 30 * time, "duration_s": 30 * time,
                                 "first_iteration": 0.0, "iterations": 30.0, "time_per_iteration_s": time,
                                 "energy_per_iteration_j": energy, "power_w": energy / time, "phase": 0, "level": 0,
                                 "gpu_timed": True, "process": 1, **more})


def decision(t, setting, reason, exploring, gpu="GPU-a"):
    return event("decision", t, gpu=gpu, policy="hypermile", setting=setting, reason=reason, confidence=0.9,
                 numbers={"exploring": exploring})


LOW = {"sm_mhz": 1500.0}

RUN = [
    start(0.0),
    event("state", 1.0, state="baseline", reason="what the default costs", numbers={}),
    decision(1.0, {}, "what the default costs", 1),
    window(4.0, {}, 0.100, 20.0),
    window(8.0, {}, 0.102, 20.4),
    window(9.0, {}, 9.9, 99.0, unusable="a stranger used the GPU"),
    decision(9.5, LOW, "kept", 0),
    event("state", 9.5, state="hold", reason="kept", numbers={}),
    window(13.0, LOW, 0.103, 16.0),
    window(17.0, LOW, 0.105, 16.2),
    event("state", 18.0, state="released", reason="the job has ended", numbers={}),
    event("run_end", 18.0, exit_code=0, reason="the job ended",
          totals={"iterations": 120.0, "seconds": 18.0, "joules": 2500.0}),
]


@pytest.fixture
def log(tmp_path):
    def write(events, more=""):
        path = tmp_path / "log.jsonl"
        path.write_text("\n".join(json.dumps(each) for each in events) + "\n" + more)
        return path

    return write


def test_a_mix_of_settings_is_named_as_one(log):
    lower = {"sm_mhz": 1200.0}
    events = RUN[:5]
    for t, setting, time, energy in ((9.5, LOW, 0.1, 16.0), (13.0, lower, 0.15, 15.0)):
        held = decision(t, setting, "kept", 0)
        held["numbers"]["share"] = 0.5
        events += [held, window(t + 3, setting, time, energy)]
    result = hypermile.read_log(log(events + RUN[-1:]))
    assert result.mix == "60 % of the time at 1200 MHz, 40 % at 1500 MHz"
    assert f"{result.mix}: " in str(result) and "at that mix, per iteration: " in str(result)
    assert "kept setting" not in str(result)
    assert hypermile.read_log(log(RUN)).mix == ""


def test_baseline_final_and_saving_with_their_intervals(log):
    result = hypermile.read_log(log(RUN))
    assert result.baseline.energy_per_iteration_j == pytest.approx(20.2)
    assert result.baseline.windows == 2
    assert result.final.setting == LOW
    assert result.saving.energy == pytest.approx(1 - 16.1 / 20.2)
    assert result.saving.slowdown == pytest.approx(0.104 / 0.101 - 1)
    # Two windows on either side: 12.7 standard errors of one degree of freedom.
    assert result.baseline.energy_interval95_j == pytest.approx(12.706 * 0.2, rel=1e-4)
    assert result.reason == ""
    assert result.totals["iterations"] == 120.0
    assert "sm=1500MHz" in str(result)


def test_the_whole_job_comes_first(log):
    result = hypermile.read_log(log(RUN))
    saved, lost = 60 * (20.2 - 16.1), 60 * (0.104 - 0.101)
    assert result.job.joules == 2500.0
    assert result.job.default_joules == pytest.approx(2500 + saved)
    assert result.job.energy_change == pytest.approx(2500 / (2500 + saved) - 1)
    assert result.job.time_change == pytest.approx(18 / (18 - lost) - 1)
    assert str(result).startswith("the whole job, search included, against the default: 9.0 ± ")


def several_gpus():
    for each in RUN:
        yield each
        if each.get("gpu"):
            yield {**each, "gpu": "GPU-b"}


def several_phases():
    for each in RUN:
        yield each
        if each["type"] == "window":
            yield {**each, "phase": 1, "time_per_iteration_s": 0.01}


@pytest.mark.parametrize("events", [RUN, RUN[:-2], list(several_gpus()), list(several_phases())],
                         ids=["whole", "cut off", "several GPUs", "several phases"])
def test_object_text_and_json_agree_to_the_last_digit(log, events):
    path = log(events)
    result = hypermile.read_log(path)
    report = [HYPERMILE, "report", str(path)]
    run = json.loads(subprocess.run([*report, "--json"], capture_output=True, check=True).stdout)["runs"][-1]
    text = subprocess.run([*report, "--text"], capture_output=True, check=True, encoding="utf-8").stdout
    assert result.job.energy_change == run["job"]["energy_change"]
    assert result.saving.energy == -run["phases"][0]["kept"]["energy_change"]
    for words in (result.job.text, result.baseline.text, result.final.text, result.saving.text):
        assert words and words in text, text
    assert f"{100 * abs(result.job.energy_change):.1f} ± {100 * result.job.energy_change_interval95:.1f} %" in result.job.text
    assert re.search(r"\d+\.\d+ ± \d+\.\d+ ms and \d+\.\d+ ± \d+\.\d+ J an iteration", result.baseline.text)


def test_a_log_that_counts_from_the_machines_start_counts_from_the_runs(log):
    late = [{**each, **{key: each[key] + 86400 for key in ("t", "begin_s") if key in each}} for each in RUN]
    result = hypermile.read_log(log(late))
    assert result.windows[0].t == pytest.approx(4.0)
    assert result.job.time_change == pytest.approx(hypermile.read_log(log(RUN)).job.time_change)


def test_without_the_program_it_says_so(log, monkeypatch):
    path = log(RUN[:6])
    monkeypatch.setenv("HYPERMILE_BIN", "/nowhere")
    result = hypermile.read_log(path)
    assert result.job is None and result.baseline is None
    assert len(result.windows) == 3


def test_broken_and_foreign_lines_are_passed_over(log):
    result = hypermile.read_log(log(RUN, more='{"v": 1, "type": "wind'))
    assert len(result.windows) == 5
    assert hypermile.read_log(log([{"hello": 1}], more="\x00\n[]\n")).reason


def test_of_several_runs_the_last_counts(log):
    result = hypermile.read_log(log(RUN + RUN[:4]))
    assert len(result.windows) == 1
    assert result.final is None
    assert "not over" in result.reason


def test_a_refusal_is_the_reason_of_the_result(log):
    result = hypermile.read_log(log([RUN[0], event("state", 1.0, state="refused", reason="GPU 0 is kept by somebody", numbers={})]))
    assert result.reason == "refused: GPU 0 is kept by somebody"
    assert str(result).startswith("nothing measured")


def test_frames(log):
    pytest.importorskip("pandas")
    result = hypermile.read_log(log(RUN))
    windows = result.frame()
    assert list(windows["setting"].unique()) == ["default", "sm=1500MHz"]
    assert windows.groupby("setting")["energy_per_iteration_j"].min()["sm=1500MHz"] == 16.0
    assert list(result.frame("decisions")["reason"]) == ["what the default costs", "kept"]
    assert list(result.frame("state")["state"]) == ["baseline", "hold", "released"]
    assert len(result.frame("settings")) == 2

# SPDX-License-Identifier: Apache-2.0
"""Results are read from an event log alone."""

import json

import hypermile
import pytest


def event(kind, t, **more):
    return {"v": 1, "type": kind, "t": t, **more}


def window(t, setting, time, energy, **more):
    return event("window", t, **{"gpu": "GPU-a", "setting": setting, "duration_s": 30 * time, "iterations": 30.0,
                                 "time_per_iteration_s": time, "energy_per_iteration_j": energy, "phase": 0,
                                 "process": 1, **more})


RUN = [
    event("run_start", 0.0, run="1"),
    event("state", 1.0, state="baseline", reason="what the default costs"),
    event("decision", 1.0, gpu="GPU-a", policy="hypermile", setting={}, reason="what the default costs", confidence=1.0),
    window(2.0, {}, 0.100, 20.0),
    window(3.0, {}, 0.102, 20.4),
    window(3.5, {}, 9.9, 99.0, unusable="a stranger used the GPU"),
    event("decision", 4.0, gpu="GPU-a", policy="hypermile", setting={"sm_mhz": 1500.0}, reason="kept", confidence=0.9),
    event("state", 4.0, state="hold", reason="kept"),
    window(5.0, {"sm_mhz": 1500.0}, 0.103, 16.0),
    window(6.0, {"sm_mhz": 1500.0}, 0.105, 16.2),
    event("state", 7.0, state="released", reason="the job has ended"),
    event("run_end", 7.0, exit_code=0, reason="the job ended", totals={"iterations": 120.0}),
]


@pytest.fixture
def log(tmp_path):
    def write(events, more=""):
        path = tmp_path / "log.jsonl"
        path.write_text("\n".join(json.dumps(each) for each in events) + "\n" + more)
        return path

    return write


def test_baseline_final_and_saving_with_their_errors(log):
    result = hypermile.read_log(log(RUN))
    assert result.baseline.energy_per_iteration_j == pytest.approx(20.2)
    assert result.baseline.windows == 2
    assert result.final.setting == {"sm_mhz": 1500.0}
    assert result.saving.energy == pytest.approx(1 - 16.1 / 20.2)
    assert result.saving.slowdown == pytest.approx(0.104 / 0.101 - 1)
    assert 0 < result.saving.energy_error < 0.02
    assert result.reason == ""
    assert result.totals == {"iterations": 120.0}
    assert "sm=1500MHz" in str(result)


def test_broken_and_foreign_lines_are_skipped(log):
    result = hypermile.read_log(log(RUN, more='{"v": 1, "type": "wind'))
    assert len(result.windows) == 5
    assert hypermile.read_log(log([{"hello": 1}], more="\x00\n[]\n")).reason


def test_of_several_runs_the_last_counts(log):
    result = hypermile.read_log(log(RUN + RUN[:4]))
    assert len(result.windows) == 1
    assert result.final is None
    assert "not over" in result.reason


def test_a_refusal_is_the_reason_of_the_result(log):
    result = hypermile.read_log(log([RUN[0], event("state", 1.0, state="refused", reason="GPU 0 is kept by somebody")]))
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

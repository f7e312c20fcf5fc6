# SPDX-License-Identifier: Apache-2.0
"""optimize() and observe() beside a process that ticks, in real time."""

import os
import signal

from conftest import answer
from world import wait_for

# Each iteration waits for one iteration of the job on the simulated GPU, so that it takes as long
# as that GPU's clocks allow.
# Trains until the log has a usable window, or for 200 iterations after it shows a changed clock, or
# for `seconds`.
TRAINING = """
    import json, os, sys, time
    import hypermile
    from stand_in import Job

    how, log, until, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    if how == "optimize":
        watch = hypermile.optimize(max_slowdown=0.05, policy="fixed:sm=1500", log=log)
    else:
        watch = hypermile.observe(log=log, price="0.30EUR/kWh", carbon="56g/kWh")

    def told():
        if not os.path.exists(log):
            return False
        with open(log) as file:
            events = [json.loads(line) for line in file if line.endswith("\\n")]
        return any(event["type"] == until and event.get("unusable") is None for event in events)

    with Job("dcgan") as job:
        with watch as run:
            end = time.monotonic() + seconds
            count, last = 0, None
            while time.monotonic() < end and count != last:
                hypermile.step("train")
                job.step()
                count += 1
                if last is None and count % 25 == 0 and told():
                    last = count + (200 if until == "setting" else 1)
    result = run.result
    print(json.dumps({
        "count": count, "reason": result.reason, "windows": len(result.windows), "decisions": len(result.decisions),
        "final": result.final and dict(result.final.setting), "saving": result.saving and result.saving.energy,
        "baseline_s": result.baseline and result.baseline.time_per_iteration_s,
        "baseline_j": result.baseline and result.baseline.energy_per_iteration_j,
        "job": result.job and [result.job.kwh, result.job.cost, result.job.currency, result.job.co2e_g],
        "iterations": result.totals.get("iterations"), "text": str(result)}))
"""


def train(machine, how, until, seconds=90, **variables):
    return machine.train(TRAINING, how, machine.path("log.jsonl"), until, seconds, **variables)


def test_optimize_moves_the_clock_gives_it_back_and_says_what_it_saved(machine):
    job = train(machine, "optimize", "setting")
    machine.wait_until_changed()
    assert machine.locks() == [1500]
    told = answer(job)
    assert not machine.changed()
    assert told["final"] == {"sm_mhz": 1500.0}
    assert told["reason"] == ""
    assert 0.1 < told["saving"] < 0.5  # of a simulated card: checks that a saving is reported, not its size
    assert told["decisions"] >= 1 and told["windows"] >= 2
    assert abs(told["iterations"] - told["count"]) <= 3
    assert "% energy saved" in told["text"]


def test_observe_measures_and_changes_nothing(machine):
    told = answer(train(machine, "observe", "window"))
    assert told["reason"] == "observed only"
    assert told["final"] is None and told["saving"] is None
    assert abs(told["baseline_s"] / 0.0427 - 1) < 0.1
    assert told["baseline_j"] > 10
    kwh, cost, currency, grams = told["job"]
    assert abs(cost / kwh - 0.3) < 1e-9 and currency == "EUR" and abs(grams / kwh - 56) < 1e-9
    assert not machine.changed()


def test_a_job_that_is_killed_gives_its_gpu_back(machine):
    job = train(machine, "optimize", "never", 600)
    machine.wait_until_changed()
    job.send_signal(signal.SIGKILL)
    machine.wait_until_restored()


def test_without_the_program_training_goes_on_and_the_result_says_why(machine):
    told = answer(train(machine, "optimize", "window", 1, HYPERMILE_BIN="/nowhere"))
    assert told["count"] > 5
    assert "was not found" in told["reason"]


def test_without_rights_it_observes_and_says_so(machine):
    told = answer(train(machine, "optimize", "window", HYPERMILE_READ_ONLY="1"))
    assert told["baseline_s"] > 0
    assert "HYPERMILE_READ_ONLY" in told["reason"]


def test_a_program_that_fails_is_a_reason_and_nothing_else(machine):
    told = answer(train(machine, "optimize", "window", 2, HYPERMILE_BIN="/bin/false"))
    assert told["count"] > 5
    assert "ended with 1" in told["reason"]


def test_a_bound_that_could_mean_two_things_starts_no_controller(machine):
    told = answer(machine.train("""
        import json, time, hypermile
        reasons = {}
        for bound in (1, 2, 1.0, "2"):
            with hypermile.optimize(max_slowdown=bound) as run:
                while run.running:
                    time.sleep(0.01)
            reasons[repr(bound)] = run.result.reason
        for bound in (0.05, "5%", 1.05):
            with hypermile.optimize(max_slowdown=bound) as run:
                time.sleep(1)
                assert run.running, bound
            assert "slowdown" not in run.result.reason, (bound, run.result.reason)
        print(json.dumps(reasons))
    """))
    assert "write 2% for 2 percent" in told["2"] and told["2"] == told["'2'"]
    assert "is no clear slowdown" in told["1"] and "is no clear slowdown" in told["1.0"]


def test_under_hypermile_run_the_ticks_go_there_and_no_second_controller_starts(machine):
    script = """
        import hypermile, json, time
        with hypermile.optimize() as run:
            for _ in range(100):
                hypermile.step()
                time.sleep(0.02)
        print(json.dumps({"reason": run.result.reason, "listening": hypermile.listening()}))
    """
    import sys
    import textwrap
    job = machine.run([sys.executable, "-c", textwrap.dedent(script)], "--observe")
    told = answer(job)
    assert told["listening"]
    assert "already" in told["reason"]
    assert machine.summary()["processes"][0]["phases"][0]["iterations"] >= 98


def test_a_decorated_function_returns_what_it_returns_and_keeps_its_result(machine):
    script = """
        import hypermile, json, time

        @hypermile.observe
        def train(count):
            for _ in range(count):
                hypermile.step()
                time.sleep(0.02)
            return count

        @hypermile.optimize(max_slowdown=0.02, policy="fixed:sm=1500")
        def fail():
            raise KeyError("mine")

        answers = [train(100), train(50)]
        try:
            fail()
        except KeyError as mine:
            answers.append(str(mine))
        print(json.dumps({"answers": answers, "events": len(train.result.events),
                          "iterations": train.result.totals["iterations"]}))
    """
    told = answer(machine.train(script))
    assert told["answers"] == [100, 50, "'mine'"]
    assert told["events"] > 3
    assert told["iterations"] >= 48


def test_ranks_of_one_node_are_one_job(two_gpus):
    launcher = """
        import json, os, subprocess, sys
        rank = '''
        import json, os, sys, time
        import hypermile
        from stand_in import Job
        with Job("dcgan", gpu=int(os.environ["LOCAL_RANK"])) as job:
            with hypermile.optimize(policy="fixed:sm=1500", log=sys.argv[1]) as run:
                for _ in range(350):
                    hypermile.step()
                    job.step()
        print(json.dumps({"reason": run.result.reason, "gpus": sorted({w.gpu for w in run.result.windows})}))
        '''
        import textwrap
        ranks = [subprocess.Popen([sys.executable, "-c", textwrap.dedent(rank), sys.argv[1]], stdout=subprocess.PIPE,
                                  text=True, env={**os.environ, "RANK": str(i), "WORLD_SIZE": "2", "LOCAL_RANK": str(i),
                                                  "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500",
                                                  "HYPERMILE_SIM_GROUP": "job:2"}) for i in range(2)]
        print(json.dumps([json.loads(rank.communicate()[0]) for rank in ranks]))
    """
    job = two_gpus.train(launcher, two_gpus.path("log.jsonl"))
    wait_for("both GPUs are changed", lambda: two_gpus.locks() == [1500, 1500])
    first, second = answer(job)
    assert not two_gpus.changed()
    assert len(first["gpus"]) == 2
    assert "first rank" in second["reason"]
    processes = {event["process"] for event in two_gpus.log() if event["type"] == "process"}
    assert len(processes) == 2


def test_a_child_of_a_watched_process_belongs_to_its_job(machine):
    script = """
        import hypermile, json, os, time
        with hypermile.observe(log=__import__("sys").argv[1]) as run:
            hypermile.step()
            child = os.fork()
            with hypermile.observe() as inner:
                for _ in range(60):
                    hypermile.step()
                    time.sleep(0.02)
            if child == 0:
                assert "already" in inner.result.reason
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        print(json.dumps(len({e["process"] for e in run.result.events if e["type"] == "process"})))
    """
    assert answer(machine.train(script, machine.path("log.jsonl"))) == 2


def test_what_a_killed_job_left_is_removed_by_the_next(machine):
    script = """
        import json, os, sys
        from hypermile import rings
        folder = rings.listen(rings.Rank())
        print(json.dumps(str(folder)), flush=True)
        if sys.argv[1] == "die":
            os.kill(os.getpid(), 9)
        assert folder.is_dir()
    """
    died = machine.train(script, "die")
    left = died.communicate()[0].strip().strip('"')
    assert os.path.isdir(left)
    gone = answer(machine.train(script, "live"))
    assert not os.path.exists(left)
    assert not os.path.exists(gone)

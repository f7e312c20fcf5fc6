# SPDX-License-Identifier: Apache-2.0
"""Which processes are ranks of one job: what a launcher told them decides, never a common parent."""

import json
import os

import pytest
from conftest import answer
from hypermile.rings import Rank

TORCHRUN = {"WORLD_SIZE": "4", "RANK": "1", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "node7",
            "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "none"}
SLURM = {"SLURM_JOB_ID": "71", "SLURM_STEP_ID": "0", "SLURM_PROCID": "3", "SLURM_LOCALID": "1", "SLURM_STEP_NUM_TASKS": "4",
         "SLURM_STEP_TASKS_PER_NODE": "2(x2)"}


def without(told, *names):
    return {name: value for name, value in told.items() if name not in names}


def test_ranks_of_torchrun_share_the_rendezvous():
    first = Rank.here(told={**TORCHRUN, "RANK": "0", "LOCAL_RANK": "0"})
    second = Rank.here(told=TORCHRUN)
    assert (first.local, second.local) == (0, 1)
    assert first.job == second.job != ""
    assert Rank.here(told={**TORCHRUN, "MASTER_PORT": "29501"}).job != second.job


def test_tasks_of_a_slurm_step_share_the_step():
    assert Rank.here(told=SLURM).local == 1
    assert Rank.here(told=SLURM).job == Rank.here(told={**SLURM, "SLURM_LOCALID": "0", "SLURM_PROCID": "2"}).job
    assert Rank.here(told={**SLURM, "SLURM_STEP_ID": "1"}).job != Rank.here(told=SLURM).job
    # torchrun inside of a step of one task a node
    inside = {**SLURM, "SLURM_STEP_TASKS_PER_NODE": "1(x2)", **TORCHRUN}
    assert Rank.here(told=inside) == Rank.here(told=TORCHRUN)


@pytest.mark.parametrize("told", [
    {},
    without(TORCHRUN, "WORLD_SIZE"),
    without(TORCHRUN, "RANK"),
    without(TORCHRUN, "MASTER_ADDR", "MASTER_PORT"),
    {**TORCHRUN, "WORLD_SIZE": "1"},
    {**TORCHRUN, "LOCAL_WORLD_SIZE": "1"},
    {"LOCAL_RANK": "0"},
    {**SLURM, "SLURM_STEP_TASKS_PER_NODE": "1"},
    without(SLURM, "SLURM_STEP_TASKS_PER_NODE"),
], ids=lambda told: " ".join(told) or "nothing")
def test_everything_else_is_a_job_of_its_own(told):
    assert Rank.here(told=told) == Rank()


def test_a_trainer_knows_its_rank_but_only_the_launcher_knows_the_job():
    lightning = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "40001"}  # its own launcher sets no RANK
    assert Rank.here(1, told=lightning).local == 1 and Rank.here(1, told=lightning).shared
    assert Rank.here(0, told={}) == Rank()


FOLDER = """
    import json, os, sys
    from hypermile import rings
    folder = rings.listen(rings.Rank.here(0 if sys.argv[1] == "told" else None))
    print(json.dumps(str(folder)), flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("told", ["told", "not told"])
def test_two_trainings_from_one_shell_are_two_jobs(machine, told):
    """transformers 4.57 has local_rank 0 in every process; this test is the parent of both."""
    folders = [answer(machine.train(FOLDER, told)) for _ in range(2)]
    assert folders[0] != folders[1]


def test_what_killed_ranks_left_is_removed_by_the_next(machine):
    script = """
        import json, os, sys
        from hypermile import rings
        folder = rings.listen(rings.Rank.here())
        if sys.argv[1] == "die":
            print(json.dumps(str(folder)), flush=True)
            os.kill(os.getpid(), 9)
        print(json.dumps([str(folder), os.path.exists(sys.argv[1])]))
    """
    told = {**TORCHRUN, "RANK": "0", "LOCAL_RANK": "0", "MASTER_PORT": "29511"}
    left = machine.train(script, "die", **told).communicate()[0].strip().strip('"')
    assert os.path.isdir(left)
    mine, still = answer(machine.train(script, left, **{**told, "MASTER_PORT": "29512"}))
    assert mine != left and not still
    assert not os.path.exists(mine)


def test_ranks_that_join_a_folder_which_killed_ranks_left_remove_only_what_those_left(machine):
    """Two ranks of a job whose rendezvous was used before: one removed the folder while the other had already joined it."""
    script = """
        import json, os, signal, sys
        from hypermile import rings, step
        folder = rings.listen(rings.Rank.here())
        step()
        (folder / "of somebody who is joining").touch()
        print(json.dumps([str(folder), sorted(each.name for each in folder.iterdir())]), flush=True)
        if sys.argv[1] == "die":
            os.kill(os.getpid(), signal.SIGKILL)
    """
    told = {**TORCHRUN, "RANK": "0", "LOCAL_RANK": "0", "MASTER_PORT": "29513"}
    left, before = json.loads(machine.train(script, "die", **told).communicate()[0])
    os.rename(os.path.join(left, "of somebody who is joining"), os.path.join(left, "kept"))
    folder, after = answer(machine.train(script, "live", **told))
    assert folder == left
    assert len(before) == 3  # a member, a ring and the other
    assert len(after) == 4 and "kept" in after and not set(before) & set(after) - {"of somebody who is joining"}

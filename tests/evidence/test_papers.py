#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/evidence/papers reads what scripts/evidence/suite and `simulate --log` write."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "evidence"
sys.dont_write_bytecode = True


def script(name):
    loader = importlib.machinery.SourceFileLoader(name, str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


PAPERS = script("papers")
SUITE = script("suite")


def runs(policies):
    """One job of each policy; the n-th policy saves n % and takes n/10 % longer."""
    return [{"policy": policy, "workload": "resnet50", "energy_change_pct": -n, "saved_pct": n, "slowdown_pct": n / 10,
             "final_saved_pct": n, "final_slowdown_pct": n / 10, "final_setting": "sm=1500MHz", "violated_job": False, "probes": 7,
             "settled_s": 60.0} for n, policy in enumerate(policies)]


def page(cards, policies=tuple(SUITE.POLICIES)):
    table = SUITE.COLUMNS + SUITE.policy_rows(runs(policies))
    return ("# The suite\n" + "".join(f"\n## {card}\n{table}" for card in cards)
            + f"\n## Only the groups of the paper's suites, first table's GPU\n{table}\n## By suite, first table's GPU\n")


class Papers(unittest.TestCase):
    def test_it_finds_every_policy_in_the_suites_table(self):
        text = page(["RTX 3080 Ti", "H200"])
        for n, policy in enumerate(SUITE.POLICIES):
            self.assertEqual(PAPERS.suite_row(text, policy), (n, round(n / 10, 2), 1), policy)

    def test_it_takes_no_figure_of_another_card_for_the_papers(self):
        self.assertIsNone(PAPERS.suite_row(page(["H200", "RTX 3080 Ti"]), "gpoeo"))

    def test_a_policy_that_was_not_played_has_no_row(self):
        self.assertIsNone(PAPERS.suite_row(page(["RTX 3080 Ti"], ["default", "gpoeo", "oracle"]), "gpoeo-published"))

    def test_events_of_the_default_run_are_not_the_policys(self):
        log = [{"type": kind, "n": n} for n, kind in enumerate(["run_start", "features", "run_end", "run_start", "features", "run_end"])]
        self.assertEqual([event["n"] for event in PAPERS.last_run(log)], [3, 4, 5])


if __name__ == "__main__":
    unittest.main()

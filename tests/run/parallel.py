# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a module in parallel, as they spend most of their time waiting for a simulated job."""

import concurrent.futures
import sys
import time
import unittest

AT_ONCE = 8


def flatten(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flatten(test)
        else:
            yield test


def run_one(test):
    result, begin = unittest.TestResult(), time.monotonic()
    test.run(result)
    return test, result, time.monotonic() - begin


def main(module="__main__"):
    tests = list(flatten(unittest.defaultTestLoader.loadTestsFromName(module)))
    if len(sys.argv) > 1:
        tests = [test for test in tests if any(word in test.id() for word in sys.argv[1:])]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run_one, test) for test in tests]):
            test, result, seconds = done.result()
            problems = result.failures + result.errors
            skipped = result.skipped[0][1] if result.skipped else ""
            verdict = "FAILED" if problems else f"skipped: {skipped}" if skipped else "ok"
            print(f"{test.id()}  {seconds:.1f} s  {verdict}", flush=True)
            for _, text in problems:
                print(text, flush=True)
            failed += bool(problems)
    print(f"{len(tests)} tests, {failed} failed")
    sys.exit(1 if failed or not tests else 0)

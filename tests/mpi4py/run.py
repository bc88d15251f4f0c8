"""Runs mpi4py's own tests: `run.py MAIN ARGUMENT...`, where MAIN is the program in mpi4py's folder of tests.

A test may be skipped for the reasons in REASONS, which lie outside of the MPI library, and if skipped.tsv lists it for this
number of ranks; each other one that is skipped is a failure. The last line of each process counts its tests, failed tests and skipped tests; the tests that failed are named before.
"""
import pathlib
import re
import runpy
import sys
import unittest

# A number of processes for which a test is meaningless; packages of Python that are not installed; functions for
# faulty processes that no version of the standard has.
REASONS = re.compile(r"mpi-world-size|comm\.size|numpy|numba|cupy|cffi|yaml|dill|mpi-comm_revoke$")

result = None
run = unittest.TextTestRunner.run


def run_and_keep(self, test):
    global result
    result = run(self, test)
    return result


unittest.TextTestRunner.run = run_and_keep
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit:
    pass
if result is None:
    sys.exit("mpi4py's tests did not run")
from mpi4py import MPI

ranks = "1" if MPI.COMM_WORLD.size == 1 else "more"
listed = set()
for line in pathlib.Path(__file__).with_name("skipped.tsv").read_text().splitlines():
    if not line.startswith("#"):
        test, on, reason = line.split("\t")
        if on in (ranks, "all"):
            listed.add((test, reason))


def may_be_skipped(test, reason):
    return REASONS.match(reason) and (test.id(), reason) in listed


failed = [test.id() for test, _ in result.failures + result.errors]
failed += [f"{test.id()}: skipped: {reason}" for test, reason in result.skipped if not may_be_skipped(test, reason)]
for test in failed:
    print("failed:", test, flush=True)
print(f"tests: {result.testsRun} failed: {len(failed)} skipped: {len(result.skipped)}", flush=True)
sys.exit(bool(failed))

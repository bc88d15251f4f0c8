"""Runs mpi4py's own tests: `run.py MAIN ARGUMENT...`, where MAIN is the program in mpi4py's folder of tests.

A function that the MPI library does not have raises NotImplementedError in mpi4py, and a collective operation on an
intercommunicator raises an exception with the sentence in INTER. A test that ends so is counted as skipped, not as
failed. The last line of each process counts its tests, failed tests and tests without a function; the tests that failed
are named before.
"""
import runpy
import sys
import unittest

LACKS = "the library lacks a function"
# A collective operation on an intercommunicator, which the library does not have yet.
INTER = "is an intercommunicator, and this version has the call for intracommunicators only"

result = None
run = unittest.TextTestRunner.run
add_error = unittest.TextTestResult.addError
add_sub_test = unittest.TextTestResult.addSubTest


def is_lacking(error):
    return issubclass(error[0], NotImplementedError) or INTER in str(error[1])


def add_error_or_skip(self, test, error):
    if is_lacking(error):
        self.addSkip(test, LACKS)
    else:
        add_error(self, test, error)


def add_sub_test_or_skip(self, test, part, error):
    if error is not None and is_lacking(error):
        self.addSkip(part, LACKS)
    else:
        add_sub_test(self, test, part, error)


def run_and_keep(self, test):
    global result
    result = run(self, test)
    return result


unittest.TextTestResult.addError = add_error_or_skip
unittest.TextTestResult.addSubTest = add_sub_test_or_skip
unittest.TextTestRunner.run = run_and_keep
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit:
    pass
if result is None:
    sys.exit("mpi4py's tests did not run")
failed = result.failures + result.errors
for test, _ in failed:
    print("failed:", test.id(), flush=True)
lacking = sum(reason == LACKS for _, reason in result.skipped)
print(f"tests: {result.testsRun} failed: {len(failed)} lacking: {lacking}", flush=True)
sys.exit(bool(failed))

"""matrix_test.py MATRIX WITHOUT_HOOKS: runs the two programs and judges what they say.

Every case of the matrix runs in a process of its own and must end as its name says; then all of
those that pass run together, at every verbosity, in several orders and with every reporter. What
fails must be counted by doctest as an assertion that failed: by the exit code, --abort-after, the
summary, the JUnit report and the XML report.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

MATRIX, WITHOUT_HOOKS = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
LEAK = r"(?:CHECK|REQUIRE)\( no leaks \) is NOT correct!"
PLACE = r"matrix\.cpp:\d+: "
LEAKED = PLACE + r"{} objects? of int, {} bytes, in [^\n]*leak_one"

# Of each case that must fail: how many assertions fail, and what the report says.
FAILS = {
    "fail: more than the suite expects": (1, r"2 objects with 8 bytes [^\n]*exactly 1"),
    "fail: leak": (1, LEAKED.format(1, 4)),
    "fail: leak in a fixture": (1, LEAKED.format(1, 4) + r"[^\n]*\n *called from [^\n]*fixture"),
    "fail: leak in one subcase": (1, r"\n  leaks\n(?s:.*)" + LEAKED.format(1, 4)),
    "fail: leak in two subcases": (2, r"\n  first\n(?s:.*)\n  second\n(?s:.*)"
                                   + LEAKED.format(1, 4)),
    "fail: leak in another thread": (1, LEAKED.format(1, 4)),
    "fail: leak through a static": (1, LEAKED.format(1, 4)),
    "fail: leak in four threads at a time": (1, LEAKED.format(4, 16)),
    "fail: cache filled at first use": (1, r"1 object of int, 4000 bytes"),
    "fail: template<double>": (1, r"1 object(?: of double)?, 8 bytes"),
    "fail: twice but expected once": (2, r"Didn't fail exactly 1 times"),
    "fail: cache of this thread": (1, r"1 object of int, 1200 bytes"),
    "fail: an older object keeps a new one": (1, r"1 object of char, \d+ bytes"),
    "fail: leak when printed": (1, LEAKED.format(2, 8)),
    "fail: leak when compared": (1, LEAKED.format(1, 4)),
    "fail: leak when compared in an assertion": (1, LEAKED.format(1, 4)),
    # An empty case: exactly nothing.
    "fail: nothing of what is expected": (1, r"0 objects with 0 bytes [^\n]*expected exactly 1"),
    "fail: fewer than expected": (1, r"1 object with 4 bytes [^\n]*expected exactly 2"),
    "fail: more than expected": (1, r"3 objects with 12 bytes [^\n]*allowed exactly 2"),
    "fail: expected elsewhere": (1, LEAKED.format(1, 4)),
    "fail: less than nothing is expected": (0, r"THREW exception: [^\n]* is -1; [^\n]*give 0"),
    "fail: at least more than at most": (0, r"THREW exception: [^\n]* is 3, [^\n]*exchange"),
    "fail: no pattern": (0, r"THREW exception: [^\n]*'leak_one' is not a pattern; write leak:"),
    "fail: leak at each run": (1, r"each of 3 runs left at least 1 object with 4 bytes"),
    # Failed already: nothing is said about leaks.
    "fail: assertion and a leak": (1, r"CHECK\( sink == nullptr \) is NOT correct!"),
    "fail: exception and a leak": (0, r"THREW exception: thrown"),
    "fail: required and a leak": (1, r"REQUIRE\( sink == nullptr \) is NOT correct!"),
    "fail: assertion in another thread and a leak": (1, r"CHECK\( sink == nullptr \)"),
    "fail: should fail and does not": (0, r"Should have failed but didn't!"),
    "fail: block leaks": (1, LEAKED.format(1, 4) + r"(?s:.*)MESSAGE: reached"),
    "fail: required block leaks": (1, r"FATAL ERROR: REQUIRE\( no leaks \)"),
    "fail: block allocates": (1, r"CHECK\( no allocations \) is NOT(?s:.*)MESSAGE: reached"),
    "fail: block allocates too much": (1, r"REQUIRE\( allocations at most 3 \) is NOT"),
    "fail: block left by return": (1, r"REQUIRE\( no allocations \) is NOT"),
    "fail: block left by an exception": (0, r"THREW exception: thrown"),
    "fail: block with less than nothing": (0, r"THREW exception: [^\n]* is -2; [^\n]*give 0"),
}
NO_LEAK_IS_TOLD = [name for name in FAILS if name.endswith("and a leak")]
NOT_REACHED = ["fail: required block leaks", "fail: block allocates too much"]
FAILURES_IN_ALL = sum(count for count, _ in FAILS.values())
REPORTERS = ("console", "junit", "xml")


def run(program, *arguments, **environment):
    done = subprocess.run([program, "--no-version", *arguments], timeout=600, text=True,
                          env={**os.environ, **environment}, capture_output=True)
    return done


class Matrix(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, "evidence")

    def run_matrix(self, *arguments, options=""):
        return run(MATRIX, *arguments, ALLOCSCOPE_EVIDENCE_DIR=str(self.folder),
                   MATRIX_OPTIONS=options)

    def names(self):
        listed = self.run_matrix("--list-test-cases").stdout
        return re.findall(r"^((?:pass|fail): .*)$", listed, re.MULTILINE)

    def assert_summary(self, report, cases_failed, assertions_failed):
        self.assertRegex(report, rf"test cases: +\d+ \| +\d+ passed \| +{cases_failed} failed")
        self.assertRegex(report, rf"assertions: +\d+ \| +\d+ passed \| +{assertions_failed} failed")

    def test_each_case_ends_as_its_name_says(self):
        names = self.names()
        self.assertEqual(sorted(set(FAILS)), sorted(n for n in names if n.startswith("fail")))
        for name in names:
            with self.subTest(name):
                done = self.run_matrix("--test-case=" + name)
                self.assertEqual(done.returncode, 1 if name in FAILS else 0, done.stdout[:3000])
                self.assertEqual(done.stderr, "")
                if name in FAILS:
                    count, pattern = FAILS[name]
                    self.assert_summary(done.stdout, 1, count)
                    self.assertRegex(done.stdout, pattern)
                if name in NO_LEAK_IS_TOLD:
                    self.assertNotRegex(done.stdout, LEAK)
                if name in NOT_REACHED:
                    self.assertNotIn("reached", done.stdout.split("is NOT correct")[1])

    def test_what_passes_passes_together(self):
        for reporter in REPORTERS:
            for more in ([], ["--success"], ["--order-by=rand", "--rand-seed=7"],
                         ["--duration=true"], ["--no-path-filenames=true"]):
                with self.subTest(reporter=reporter, more=more):
                    done = self.run_matrix("--test-case=pass*", "--reporters=" + reporter, *more)
                    self.assertEqual(done.returncode, 0, done.stdout[-3000:])
                    # may_fail, should_fail and expected_failures: the leak is there, and allowed.
                    if reporter == "console":
                        self.assert_summary(done.stdout, 0, 3)

    def test_a_skipped_case_that_is_run_is_judged(self):
        done = self.run_matrix("--test-case=pass: skipped", "--no-skip")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, LEAK)

    def test_a_leak_ends_the_run_as_abort_after_says(self):
        done = self.run_matrix("--test-case=fail: leak*", "--abort-after=1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(re.findall(LEAK, done.stdout)), 1, done.stdout)
        self.assertRegex(done.stdout, r"(?i)aborting - too many failed asserts")

    def test_no_exitcode(self):
        done = self.run_matrix("--test-case=fail: leak", "--no-exitcode")
        self.assertEqual(done.returncode, 0)

    def test_junit_has_a_failure_for_each(self):
        done = self.run_matrix("--test-case=fail*", "--reporters=junit")
        self.assertEqual(done.returncode, 1)
        suite = ElementTree.fromstring(done.stdout).find("testsuite")
        failures = suite.findall("testcase/failure")
        self.assertEqual(len(failures), FAILURES_IN_ALL)
        self.assertEqual(int(suite.get("failures")), FAILURES_IN_ALL)
        leak = suite.find("testcase[@name='fail: leak']/failure")
        self.assertRegex(leak.get("message"), LEAKED.format(1, 4))
        self.assertRegex(leak.text, r"matrix\.cpp[:(]\d+")

    def test_xml_has_a_failed_expression_for_each(self):
        done = self.run_matrix("--test-case=fail*", "--reporters=xml")
        self.assertEqual(done.returncode, 1)
        root = ElementTree.fromstring(done.stdout)
        failed = root.findall(".//Expression[@success='false']")
        self.assertEqual(len([e for e in failed if e.find("Exception") is None]), FAILURES_IN_ALL)
        self.assertEqual(int(root.find("OverallResultsTestCases").get("failures")), len(FAILS))
        leak = next(case for case in root.iter("TestCase") if case.get("name") == "fail: leak")
        self.assertEqual(leak.find("Expression/Original").text.strip(), "no leaks")
        self.assertRegex(leak.find("Expression/Expanded").text, LEAKED.format(1, 4))

    def test_the_evidence_is_where_the_report_says(self):
        done = self.run_matrix("--test-case=fail: leak")
        saved = pathlib.Path(re.search(r"saved in (\S+)", done.stdout).group(1))
        self.assertEqual(saved.parent, self.folder)
        self.assertIn("leak_one", saved.read_text())

    def test_nothing_is_saved_for_what_passes(self):
        self.assertEqual(self.run_matrix("--test-case=pass: caches*,pass: two*,pass: subcases")
                         .returncode, 0)
        self.assertFalse(self.folder.exists())

    def test_options_for_every_case(self):
        for options, name, exit_code in (
                ("current", "fail: leak in another thread", 0),
                ("current", "fail: leak", 1),
                ("tolerant", "fail: leak", 0),
                ("tolerant", "pass: expected by the suite", 0),  # 1 and not 1 or 2
                ("tolerant", "fail: more than the suite expects", 1),
                ("repeated", "fail: cache of this thread", 0),
                ("repeated", "fail: leak", 1),
                ("tolerant", "fail: leak when printed", 1),
                ("pattern", "fail: leak when printed", 0),
                ("pattern", "fail: cache of this thread", 1),
                ("pattern", "pass: two are expected", 1),
                ("function", "fail: cache of this thread", 0)):
            with self.subTest(options=options, name=name):
                done = self.run_matrix("--test-case=" + name, options=options)
                self.assertEqual(done.returncode, exit_code, done.stdout)


class WithoutHooks(unittest.TestCase):
    SENTENCE = ("nothing is being recorded: the operator new that is called here is not"
                " allocscope's.")

    def test_it_is_said_once_and_fails(self):
        done = run(WITHOUT_HOOKS, "--test-case-exclude=blocks")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.count(self.SENTENCE), 1, done.stdout)
        self.assertIn("define_once/operator_new_delete.hpp", done.stdout)
        self.assertRegex(done.stdout, r"test cases: +3 \| +2 passed \| +1 failed")

    def test_also_when_the_only_case_may_fail(self):
        done = run(WITHOUT_HOOKS, "--test-case=may fail")
        self.assertEqual(done.returncode, 1)
        self.assertIn(self.SENTENCE, done.stderr)

    def test_every_block_fails(self):
        done = run(WITHOUT_HOOKS, "--test-case=blocks")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"assertions: +4 \| +0 passed \| +4 failed")

    def test_nothing_to_run_is_no_failure(self):
        for arguments in (["--test-case=none"], ["--count"], ["--list-test-cases"], ["--no-run"]):
            with self.subTest(arguments):
                self.assertEqual(run(WITHOUT_HOOKS, *arguments).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

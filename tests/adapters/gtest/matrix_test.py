"""matrix_test.py MATRIX WITHOUT_HOOKS

Runs the two programs made of matrix.cpp in many ways. What a test must come to is said by the name
of its suite; what GoogleTest made of it is read from console, XML and the exit code.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

MATRIX, WITHOUT_HOOKS = sys.argv[1:3]
PASSES = "passes*:*/passes*"
LEAKS = "leaks*:*/leaks*"
problems = []


def expect(holds, what, text=""):
    if not holds:
        problems.append(f"{what}\n{text[-3000:]}")


def run(*arguments, program=MATRIX, folder=None, evidence=""):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=600,
                          cwd=folder, env={**os.environ, "ALLOCSCOPE_EVIDENCE_DIR": evidence})
    return done.returncode, done.stdout + done.stderr


def expect_run(code, *arguments, **others):
    seen, text = run(*arguments, **others)
    expect(seen == code, f"{' '.join(arguments)}: exit code {seen}, not {code}", text)
    return text


def results(*arguments, code):
    """{full name of a test: (result, list of failures)} from XML."""
    with tempfile.TemporaryDirectory() as folder:
        expect_run(code, *arguments, "--gtest_output=xml:a.xml", folder=folder)
        root = xml.etree.ElementTree.parse(pathlib.Path(folder) / "a.xml").getroot()
    found = {}
    for suite in root:
        for test in suite:
            name = f"{suite.get('name')}.{test.get('name')}"
            failures = [each.get("message") for each in test.findall("failure")]
            skipped = test.get("result") == "skipped"
            found[name] = ("skipped" if skipped else "failed" if failures else "passed", failures)
    failed = sum(result == "failed" for result, _ in found.values())
    expect(int(root.get("failures")) == failed, f"{arguments}: XML counts other failures")
    return found


def leaks_in(text):
    return text.count("leak check \"")


def must_pass():
    found = results(f"--gtest_filter={PASSES}", code=0)
    expect(len(found) == 28, f"{len(found)} tests must pass, not 28: change this number too")
    for name, (result, failures) in found.items():
        wanted = "skipped" if "skipped" in name else "passed"  # one is not run: it is disabled
        expect(result == wanted, f"{name}: {result}, not {wanted}", "\n".join(failures))
    for more in (["--gtest_shuffle", "--gtest_repeat=3"], ["--gtest_brief=1"],
                 ["--gtest_death_test_style=threadsafe"], ["--gtest_color=yes"]):
        text = expect_run(0, f"--gtest_filter={PASSES}", *more)
        expect(leaks_in(text) == 0, f"{more}: a false leak", text)
    # Nothing of GoogleTest is in an empty test, whether it is the first or not.
    for more in ([], ["--gtest_print_time=0"], ["--gtest_output=xml:/dev/null"]):
        text = expect_run(0, "--gtest_filter=passes.empty", "--print", "--gtest_repeat=2", *more)
        expect(text.count("measured empty: 0 alive") == 2, "an empty test is not zero", text)


def must_fail():
    found = results(f"--gtest_filter={LEAKS}", code=1)
    expect(len(found) == 15, f"{len(found)} tests must leak, not 15: change this number too")
    for name, (result, failures) in found.items():
        expect(result == "failed" and len(failures) == 1, f"{name}: {result} {len(failures)} times")
        text = "\n".join(failures)
        # By a tail call the body may be gone from the stack.
        pattern = r"leak check \"" + re.escape(name) + r"\": \d+ objects? with \d+ bytes? (is|are) "
        place = r"still alive, [^\n]+\n  (?! )"
        place += "" if "thread_local" in name else r"[^\n]*matrix.cpp:\d+"
        expect(re.search(pattern + place, text), f"{name}: the message is not right", text)
    # The failure stands before the verdict, and in its test.
    text = expect_run(1, "--gtest_filter=leaks.in_the_body:passes.empty")
    expect(re.search(r"RUN +\] leaks.in_the_body.*matrix.cpp:\d+: Failure.*FAILED +\]"
                     r" leaks.in_the_body", text, re.DOTALL), "not in its test", text)
    line = next(number for number, line in
                enumerate(pathlib.Path(__file__).with_name("matrix.cpp").open(), 1)
                if "line of leaks.in_the_body" in line)
    expect(f"matrix.cpp:{line}: 1 object of (anonymous namespace)::thing, 4 bytes" in text
           or f"matrix.cpp:{line}: 1 object of thing, 4 bytes" in text,
           "line and type are not named", text)
    expect("OK ] passes.empty" in text, "a good test fails beside one that leaks", text)
    text = expect_run(1, "--gtest_filter=leaks.*", "--gtest_fail_fast")
    expect(leaks_in(text) == 1, "--gtest_fail_fast goes on after a leak", text)
    # However the tests are run, each tells its leak once. A cache is filled by the first round.
    caches = ":-leaks.in_a_cache*:leaks.in_a_static:leaks.in_a_thread_local*"
    for more, count in ((["--gtest_shuffle", "--gtest_random_seed=7"], 12),
                        (["--gtest_repeat=2"], 24), (["--gtest_repeat=2", "--gtest_shuffle"], 24),
                        (["--gtest_death_test_style=threadsafe"], 12), (["--gtest_brief=1"], 12),
                        (["--gtest_catch_exceptions=0"], 12)):
        text = expect_run(1, f"--gtest_filter={LEAKS}{caches}", *more)
        expect(leaks_in(text) == count, f"{more}: {leaks_in(text)} leaks, not {count}", text)
    text = expect_run(1, "--gtest_filter=leaks_DeathTest.*")
    expect("1 object with" in text and leaks_in(text) == 1, "a child's leaks are told", text)
    text = expect_run(1, "--gtest_filter=leaks.in_four_threads*")
    expect("4 objects with 16 bytes" in text, "leaks of four threads are not told together", text)
    text = expect_run(1, "--gtest_filter=*DISABLED*", "--gtest_also_run_disabled_tests")
    expect(leaks_in(text) == 1, "a disabled test that is run is not judged", text)
    # The evidence is where the message says.
    with tempfile.TemporaryDirectory() as folder:
        text = expect_run(1, "--gtest_filter=leaks.in_the_body", evidence=folder)
        saved = re.search(r"saved in (\S+)", text)
        expect(saved and "thing" in pathlib.Path(saved.group(1)).read_text(), "no evidence", text)


def must_fail_otherwise():
    for name, (result, failures) in results("--gtest_filter=fails.*", code=1).items():
        text = "\n".join(failures)
        expect(result == "failed" and leaks_in(text) == 0 and len(failures) == 1,
               f"{name}: more than its own failure is told", text)
    text = expect_run(1, "--gtest_filter=fails.by_a_negative_number")
    expect("expect_leaks is -2" in text, "a negative number is not named", text)


def blocks():
    found = results("--gtest_filter=blocks.*", code=1)
    for name, (result, failures) in found.items():
        expect(result == "failed" and len(failures) == 1, f"{name}: {result}", str(failures))
    wanted = {"expect_goes_on": "leak check \"block\": 1 object with 4 bytes is still alive",
              "assert_returns": "leak check \"block\"",
              "no_allocations": "no_allocation_guard \"block\"",
              "at_most": "allocations is 3, allowed at most 2",
              "at_least": "allocations is 1, allowed at least 2",
              "left_by_return": "leak check \"block\"", "negative": "allocations is -1"}
    for name, part in wanted.items():
        text = "\n".join(found.get(f"blocks.{name}", ("", []))[1])
        expect(part in text, f"blocks.{name} does not say: {part}", text)
    text = expect_run(1, "--gtest_filter=blocks.expect_goes_on")
    expect("went on" in text, "EXPECT does not go on", text)
    text = expect_run(1, "--gtest_filter=blocks.assert_returns")
    expect("went on" not in text, "ASSERT goes on", text)


def suites_and_repetition():
    text = expect_run(1, "--gtest_filter=suite_that*", "--per-suite")
    expect(leaks_in(text) == 1 and "leak check \"suite_that_leaks\": 1 object" in text,
           "the leak of SetUpTestSuite is not told once", text)
    text = expect_run(1, "--gtest_filter=suite_that_leaks*", "--per-suite", "--no-tests")
    expect(leaks_in(text) == 1, "checks_tests = false", text)
    expect_run(0, "--gtest_filter=suite_that_expects*", "--per-suite")
    expect_run(0, f"--gtest_filter={PASSES}", "--per-suite")
    # A test that was told is not told again with its suite.
    text = expect_run(1, "--gtest_filter=leaks.in_the_body", "--per-suite")
    expect(leaks_in(text) == 1, "a test's leak is told twice", text)
    expect_run(1, "--gtest_filter=first_time.*", "--gtest_repeat=2")
    expect_run(0, "--gtest_filter=first_time.*", "--gtest_repeat=2", "--warm-up")
    expect_run(1, "--gtest_filter=leaks.in_the_body", "--gtest_repeat=2", "--warm-up")
    expect_run(0, "--gtest_filter=leaks.in_another_thread", "--expect-thing")


def run_again():
    expect_run(0, "--gtest_filter=*repeated*:-*one_at_each*")
    text = expect_run(1, "--gtest_filter=repeated_leaks.one_at_each_run")
    expect("each of 3 runs left at least 1 object with 4 bytes" in text and leaks_in(text) == 1,
           "a test that leaks at each run", text)
    expect_run(0, "--gtest_filter=first_time.*", "--repeated", "--per-suite")
    text = expect_run(1, "--gtest_filter=leaks.in_the_body", "--repeated")
    expect("each of 3 runs" in text, "the option for all tests", text)


def without_hooks():
    text = expect_run(1, "--gtest_filter=passes.*:-passes.blocks*:passes.block_*:passes.expected*",
                      program=WITHOUT_HOOKS)
    remedy = "#include <allocscope/define_once/operator_new_delete.hpp>"
    expect(text.count("nothing is being recorded") == 1 and remedy in text,
           "missing hooks are not told exactly once, with the remedy", text)
    expect("[       OK ] passes.empty" in text, "tests do not run without the hooks", text)
    expect_run(0, "--gtest_list_tests", program=WITHOUT_HOOKS)
    text = expect_run(1, "--gtest_filter=passes.blocks", program=WITHOUT_HOOKS)
    expect(text.count("nothing is being recorded") > 1, "a block passes without the hooks", text)


def main():
    for part in (must_pass, must_fail, must_fail_otherwise, blocks, suites_and_repetition,
                 run_again, without_hooks):
        part()
    if problems:
        sys.exit("\n\n".join(problems))
    print("GoogleTest reports what the tests do")


if __name__ == "__main__":
    main()

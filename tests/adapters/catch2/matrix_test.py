"""matrix_test.py MATRIX WITHOUT_HOOKS

Runs the two programs made of matrix.cpp in many ways. What a test case must come to is said by its
tag; what Catch2 made of it is read from console, JUnit, XML and the exit code.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

MATRIX, WITHOUT_HOOKS = sys.argv[1:3]
problems = []


def expect(holds, what, text=""):
    if not holds:
        problems.append(f"{what}\n{text[-1500:]}")


def run(*arguments, program=MATRIX, evidence="", **environment):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=600,
                          errors="replace",
                          env={**os.environ, "ALLOCSCOPE_EVIDENCE_DIR": evidence, **environment})
    return done.returncode, done.stdout + done.stderr


def expect_run(passes, *arguments, **others):
    code, text = run(*arguments, **others)
    expect((code == 0) == passes, f"{' '.join(arguments)}: exit code {code}", text)
    return text


def report(reporter, *arguments, passes):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.xml"
        expect_run(passes, "-r", reporter, "-o", str(path), *arguments)
        return xml.etree.ElementTree.parse(path).getroot()


def in_one_line(text):
    """Catch2 breaks lines to the width of a terminal, also inside a name."""
    return re.sub(r"\s+", " ", text)


def leaks_in(text):
    return in_one_line(text).count("leak check \"")


def junit(*arguments, passes):
    """(failures in all, {test case: [failures]}); a section's name stands behind its case's."""
    root = report("junit", *arguments, passes=passes)
    suite = next(root.iter("testsuite"))
    found = {}
    for case in root.iter("testcase"):
        failures = ["".join(each.itertext()) for kind in ("failure", "error")
                    for each in case.findall(kind)]
        found.setdefault(case.get("name").split("/")[0], []).extend(failures)
    return int(suite.get("failures")) + int(suite.get("errors")), found


def in_xml(*arguments, passes):
    """{test case: (success, [failures])}"""
    root = report("xml", *arguments, passes=passes)
    return {case.get("name"): (case.find("OverallResult").get("success") == "true",
                               ["".join(each.itertext()) for each in case.iter("Failure")])
            for case in root.iter("TestCase")}


def must_pass():
    for more in ([], ["-s"], ["-r", "compact"], ["-r", "compact", "-s"], ["--order", "rand"],
                 ["-r", "junit"], ["-r", "junit", "-s"], ["-r", "xml"], ["-r", "xml", "-s"],
                 ["-b"], ["-d", "yes"]):
        text = expect_run(True, "[passes]", *more)
        expect(leaks_in(text) == 0, f"{more}: a false leak", text)
        # Alone: nothing of Catch2 is in an empty test case, though it is the first to run.
        text = expect_run(True, "empty", *more)
        expect(leaks_in(text) == 0, f"{more}: an empty test case leaks", text)


def must_fail():
    failures, found = junit("[leaks]", passes=False)
    told = in_xml("[leaks]", passes=False)
    expect(len(found) == 14, f"{len(found)} test cases must leak, not 14: change this number too")
    expect(failures == sum(map(len, found.values())), "JUnit counts other failures than it lists")
    for name, messages in found.items():
        # One for each pass.
        wanted = 2 if name in ("in a generated value", "in a section made by a loop") else 1
        expect(len(messages) == wanted, f"{name}: {len(messages)} failures", str(messages))
        for text in messages:
            pattern = (r"leak check \"" + re.escape(name) + r"\": \d+ objects? with \d+ bytes?"
                       r" (is|are) still alive, .* \S*matrix.cpp:\d+: \d+ object")
            expect(re.search(pattern, in_one_line(text)), f"{name}: the message is not right", text)
        success, in_case = told.get(name, (True, []))
        expect(not success and len(in_case) == wanted, f"{name}: XML tells it otherwise")
    text = in_one_line(expect_run(False, "in the body"))
    line = next(number for number, line in
                enumerate(pathlib.Path(__file__).with_name("matrix.cpp").open(), 1)
                if "line of \"in the body\"" in line)
    expect(re.search(f"matrix.cpp:{line}: 1 object of [^,]*thing, 4 bytes", text),
           "line and type are not named", text)
    expect(f"matrix.cpp:{line - 1}: FAILED" in text, "the place is not that of the case", text)
    expect(leaks_in(expect_run(False, "[leaks]", "-a")) == 1, "--abort goes on after a leak")
    expect(leaks_in(expect_run(False, "[leaks]", "-x", "3")) == 3, "--abortx 3 counts otherwise")
    for more in (["--order", "rand", "--rng-seed", "5"], ["-d", "yes"], ["-s"], ["-r", "compact"],
                 ["-w", "NoAssertions"]):
        text = expect_run(False, "[leaks]", *more)
        expect(leaks_in(text) == 16, f"{more}: {leaks_in(text)} leaks are told, not 16", text)
    expect("4 objects with 16 bytes" in in_one_line(expect_run(False, "in four threads*")),
           "the leaks of four threads are not told together")
    expect_run(True, "in another thread", EXPECT_LEAK_ONE="1")
    with tempfile.TemporaryDirectory() as folder:
        text = expect_run(False, "in the body", "-r", "xml", evidence=folder)
        saved = re.search(r"saved in (\S+)", text)
        expect(saved and "thing" in pathlib.Path(saved.group(1)).read_text(), "no evidence", text)


def sections_and_tags():
    text = in_one_line(expect_run(False, "[some]"))
    expect(leaks_in(text) == 1 and "in section: bad / inner" in text,
           "one pass of two is not what is told", text)
    expect(re.search(r"test cases: 1 \| 1 failed assertions: 1 \| 1 failed", text),
           "the totals are not right", text)
    text = in_one_line(expect_run(False, "[story]"))
    expect(leaks_in(text) == 1 and re.search(r"in section: Given: a thing / +When: it is forgotten",
                                             text), "one way through a story of two", text)
    expect(leaks_in(expect_run(False, "in one section of two", "-c", "bad")) == 1, "-c bad")
    expect(leaks_in(expect_run(True, "in one section of two", "-c", "good")) == 0, "-c good")
    expect(leaks_in(expect_run(False, "[hidden]")) == 1, "a hidden test case that is named")
    for tag in ("[may]", "[should]"):
        text = expect_run(True, tag)
        expect(leaks_in(text) == 1 and "1 failed as expected" in text, f"{tag} is not obeyed", text)


def run_again():
    text = in_one_line(expect_run(True, "[repeated]"))
    expect("each of 3 runs left at least 1 object with 4 bytes" in text, "not run again", text)
    expect("a cache beside generators" not in text, "a cache is told", text)


def must_fail_otherwise():
    _, found = junit("[fails]", passes=False)
    for name, messages in found.items():
        text = "\n".join(messages)
        expect(len(messages) == 1 and leaks_in(text) == 0, f"{name}: more than its failure", text)
    expect("expect_leaks is -2" in in_one_line(expect_run(False, "by a negative number")),
           "a negative number is not named")
    code, text = run("[skips]")  # from version 3 on; else there is no such test case
    expect(leaks_in(text) == 0, "a skipped test case is judged", text)


def blocks():
    _, found = junit("[blocks]", passes=False)
    wanted = {"check goes on": "leak check \"block\": 1 object with 4 bytes is still alive",
              "require ends": "leak check \"block\"",
              "no allocations": "no_allocation_guard \"block\"",
              "at most": "allocations is 3, allowed at most 2",
              "left early": "leak check \"block\"", "leak scope": "leak check \"scope\"",
              "negative": "allocations is -1"}
    expect(set(found) == set(wanted), "other test cases than wanted", str(set(found)))
    for name, part in wanted.items():
        text = "\n".join(found.get(name, []))
        expect(len(found.get(name, [])) == 1 and part in in_one_line(text),
               f"{name} does not say: {part}", text)
    expect("went on" in expect_run(False, "check goes on"), "CHECK does not go on")
    expect("went on" not in expect_run(False, "require ends"), "REQUIRE goes on")
    for name in ("check goes on", "left early", "leak scope"):  # nothing throws out of a destructor
        expect(leaks_in(expect_run(False, name, "-a")) == 1, f"{name} with --abort")


def without_hooks():
    text = in_one_line(expect_run(False, "empty,sections,types*", program=WITHOUT_HOOKS))
    remedy = "#include <allocscope/define_once/ operator_new_delete.hpp>"
    expect(text.count("nothing is being recorded") == 1, "missing hooks are not told once", text)
    expect(remedy.replace(" ", "") in text.replace(" ", ""), "without the remedy", text)
    expect(re.search(r"test cases: 4 \| 3 passed \| 1 failed", text), "tests do not run", text)
    # No failure of this one counts, so the exit code is all that is left.
    text = in_one_line(expect_run(False, "may fail", program=WITHOUT_HOOKS))
    expect(text.count("nothing is being recorded") == 1, "missing hooks are not told", text)
    text = expect_run(False, "blocks that hold", program=WITHOUT_HOOKS)
    expect(text.count("nothing is being") > 1, "a block passes without the hooks", text)


def main():
    for part in (must_pass, must_fail, sections_and_tags, must_fail_otherwise, blocks,
                 run_again, without_hooks):
        part()
    if problems:
        sys.exit("\n\n".join(problems))
    print("Catch2 reports what the tests do")


if __name__ == "__main__":
    main()

"""compare_test.py PROGRAM

`allocscope compare`: tables, exit codes, and what it says about every kind of bad input.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]


def run(*words, code):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=600)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    assert (done.stderr != "") == (code == 2), (words, done.stdout, done.stderr)
    return done.stderr if code == 2 else done.stdout


def lines_of(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def expect_lines(text, *expected):
    found = lines_of(text)
    for line in expected:
        assert line in found, (line, text)


def baselines(path, **results):
    columns = ("allocations", "bytes")
    lines = [["name", *columns], *([name, *(str(numbers.get(column, "")) for column in columns)]
                                   for name, numbers in results.items())]
    path.write_text("allocscope baselines 2\n" + "".join("\t".join(line) + "\n"
                                                         for line in lines))
    return path


def benchmarks(path, *entries, text=None):
    path.write_text(text or json.dumps({"context": {}, "benchmarks": list(entries)}))
    return path


def entry(name, **more):
    return {"name": name, "run_name": name, "run_type": "iteration", "real_time": 1.5, **more}


def counted(name, allocations, live=0, **more):
    return entry(name, **{"allocs/op": allocations, "bytes/op": 8 * allocations, "peak": 64,
                          "live": live, **more})


def compares_baselines(folder):
    old = baselines(folder / "old.tsv", same={"allocations": 3, "bytes": 100},
                    more={"allocations": 100, "bytes": 1000}, less={"allocations": 10},
                    gone={"allocations": 1})
    new = baselines(folder / "new.tsv", same={"allocations": 3, "bytes": 100},
                    more={"allocations": 104, "bytes": 1000}, less={"allocations": 8},
                    fresh={"allocations": 1})
    text = run("compare", old, new, code=1)
    expect_lines(text, "name old new change", "more allocations 100 104 +4.0 % MORE",
                 "less allocations 10 8 -20.0 % less", "fresh only in NEW", "gone only in OLD",
                 "5 numbers compared, 1 increased beyond 0 %")
    assert "same" not in text, text
    text = run("compare", "--tolerance", "4%", old, new, code=0)
    expect_lines(text, "more allocations 100 104 +4.0 % more, accepted",
                 "5 numbers compared, 0 increased beyond 4 %")
    run("compare", "--tolerance=3.99", old, new, code=1)
    assert lines_of(run("compare", old, old, code=0)) == ["6 numbers compared, 0 increased beyond"
                                                          " 0 %"]
    expect_lines(run("compare", "--all", old, old, code=0), "same bytes 100 100")
    zero = baselines(folder / "zero.tsv", same={"allocations": 0})
    one = baselines(folder / "one.tsv", same={"allocations": 1})
    expect_lines(run("compare", "--tolerance=1000", zero, one, code=1),
                 "same allocations 0 1 new MORE")
    run("compare", one, zero, code=0)


def compares_benchmarks(folder):
    old = benchmarks(folder / "a.json", counted("parse", 2), counted("amortised", 0.001),
                     counted("once_failed", 1), counted("fails", 1),
                     entry("managed", allocs_per_iter=1.5, max_bytes_used=7), entry("plain"))
    new = benchmarks(folder / "b.json", counted("parse", 3), counted("amortised", 0.00101),
                     counted("once_failed", 1),
                     entry("fails", error_occurred=True, error_message="leak: x"),
                     entry("managed", allocs_per_iter=1.5, max_bytes_used=9), entry("plain"))
    text = run("compare", "--tolerance=2", old, new, code=1)
    expect_lines(text, "parse allocs/op 2 3 +50.0 % MORE", "parse bytes/op 16 24 +50.0 % MORE",
                 "amortised allocs/op 0.001 0.00101 +1.0 % more, accepted",
                 "managed max_bytes_used 7 9 +28.6 % MORE", "fails FAILED: leak: x",
                 "14 numbers compared, 3 increased beyond 2 %, 1 benchmarks failed")
    run("compare", "--tolerance=100", old, new, code=1)  # the failure stays one
    # Repetitions: the smallest; aggregates alone: the median. NaN is what older releases write.
    repeated = benchmarks(folder / "r.json", counted("parse", 5), counted("parse", 2),
                          counted("parse_mean", 3.5, run_type="aggregate", aggregate_name="mean"))
    assert "parse" not in run("compare", old, repeated, code=0).split("\n")[0]
    aggregates = benchmarks(folder / "g.json", *[
        counted(f"parse_{name}", value, run_name="parse", run_type="aggregate", aggregate_name=name)
        for name, value in (("mean", 9), ("median", 4), ("cv", 0))])
    expect_lines(run("compare", old, aggregates, code=1), "parse allocs/op 2 4 +100.0 % MORE")
    nan = benchmarks(folder / "n.json", text=(folder / "a.json").read_text().replace(
        '"live": 0', '"live": NaN').replace('"peak": 64', '"peak": -Infinity'))
    run("compare", nan, nan, code=0)
    run("compare", nan, old, code=0)


def page_shows_the_truth(folder):
    names = ["parse_document", "tokenize", "a", "b", "c", "d"]
    old = benchmarks(folder / "old.json", *[counted(name, 2, peak=512) for name in names])
    new = benchmarks(folder / "new.json", *[
        counted(name, 2 + (name == "parse_document"), peak=256 if name == "tokenize" else 512)
        for name in names])
    text = run("compare", old, new, code=1)
    page = pathlib.Path("docs/how_to/baselines.md").read_text()
    assert f"```text\n{text}```" in page, f"docs/how_to/baselines.md does not show\n{text}"


def reads_json_as_others_do(folder):
    dice = random.Random(4)
    names = ["", "a/b:1", "\"quoted\"", "back\\slash", "tab\tline\nend", "\u00e9\u4e2d\U0001f600",
             "\x01", "</>"]
    for number in range(30):
        name = dice.choice(names[1:]) + dice.choice(names)
        value = dice.choice([0, 1, 123456789012, 0.5, 1e-7, 2.5e10, 1e15 / 3, 7e200])
        nested = {"deep": [[{"x": [1, "]", {}]}], [], {}, True, False, None, -1.5e-3]}
        path = benchmarks(folder / f"j{number}.json", text=json.dumps(
            {"context": nested, "benchmarks": [counted(name, value), nested | entry("x")]},
            ensure_ascii=dice.random() < 0.5, indent=dice.choice([None, 2])))
        more = benchmarks(folder / "more.json", counted(name, value * 1.001 + 1))
        run("compare", path, path, code=0)
        text = run("compare", path, more, code=1)
        shown = re.sub("[\x00-\x1f]", lambda byte: f"\\x{ord(byte[0]):02x}", name)
        assert shown in text, (name, text)
        run("compare", "--tolerance=0.0000001", path, benchmarks(
            folder / "same.json", counted(name, value)), code=0)


def shows_no_control_bytes(folder):
    """Names and messages are those of any program: a terminal must not obey them."""
    name = "a\x1b[2Jb\nc"
    old = benchmarks(folder / "old.json", counted(name, 1), counted("x\x1b", 1))
    new = benchmarks(folder / "new.json", counted(name, 2), counted("y\r", 1),
                     entry("z", error_occurred=True, error_message="bad\nline\x07"))
    text = run("compare", old, new, code=1)
    expect_lines(text, r"a\x1b[2Jb\x0ac allocs/op 1 2 +100.0 % MORE", r"y\x0d only in NEW",
                 r"x\x1b only in OLD", r"z FAILED: bad\x0aline\x07")


def refuses_bad_input(folder):
    good = baselines(folder / "good.tsv", a={"allocations": 1})
    bench = benchmarks(folder / "bench.json", counted("a", 1))
    bad = {
        "": "is empty", "\n \n": "is empty",
        "allocscope snapshot\n\x01": "is a saved snapshot; allocscope diff compares two of those",
        "not JSON": "is neither a file of allocscope::baselines nor JSON: line 1, column 1",
        '{"benchmarks": [\n{"name": "a",': "nor JSON: line 2, column 14",
        '{"a": 1} x': "more text follows the end", '{"a": "b': "inside quotation marks",
        '{"a": "\\q"}': "no escape", '{"a": "\\ud800"}': "half of a pair",
        "[1, 2": "']' is missing",
        "{'a': 1}": "a name in quotation marks", '{"a" 1}': "':' is missing", "[1.]": "a digit",
        "[1e]": "a digit is missing", "[" * 5000: "too deeply",
        "[]": "is JSON, but not what Google Benchmark writes", "3": "is JSON, but not what",
        '{"benchmarks": []}': "has no counts of allocations: use a benchmark_scope",
        '{"benchmarks": [{"name": "a", "real_time": 2}]}': "has no counts of allocations",
        '{"benchmarks": [{"allocs/op": 2}]}': "a benchmark has no name",
        '{"allocscope": "baselines", "version": 1, "results": {}}':
            "has the format of version 1, this is version 2",
        "allocscope baselines 7\n": "has the format of version 7, this is version 2",
        "allocscope baselines 2\nname\tbytes\na\t3": "ends within a line",
        "allocscope baselines 2\nname\tbytes\na\tx\n": "line 3: bytes is \"x\"",
    }
    for content, message in bad.items():
        path = folder / "bad.json"
        path.write_text(content)
        for words in ([path, good], [good, path]):
            text = run("compare", *words, code=2)
            assert message in text and str(path) in text, (content, text)
    missing = folder / "missing.json"
    assert f"{missing} cannot be read: No such file" in run("compare", good, missing, code=2)
    assert "cannot be read: Is a directory" in run("compare", folder, good, code=2)
    assert "give two of one kind" in run("compare", good, bench, code=2)
    other = baselines(folder / "other.tsv", b={"allocations": 1})
    done = subprocess.run([PROGRAM, "compare", good, other], capture_output=True, text=True)
    assert done.returncode == 2 and "no name in common" in done.stderr, done
    for words, message in (([], "0 files were given; write: allocscope compare"),
                           ([good], "1 file was"),
                           ([good, good, good], "3 files were"), (["--frob", good, good], "--frob"),
                           (["--tolerance"], "--tolerance needs a value"),
                           *((["--tolerance", value, good, good], f"is \"{value}\"; it must be")
                             for value in ("-1", "", "%", "x", "5x", "0x5", "nan", "inf",
                                           "1e400"))):
        assert message in run("compare", *words, code=2), words
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "compare", good, good], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "cannot be written" in done.stderr, done


def helps():
    assert "compare OLD NEW" in run("--help", code=0)
    assert "exit code: 0" in run("compare", "--help", code=0)
    assert run("--version", code=0).startswith("allocscope 0.")
    assert "usage:" in run(code=2)
    assert "there is no verb \"frob\"" in run("frob", code=2)


def main():
    for check in (compares_baselines, compares_benchmarks, page_shows_the_truth,
                  reads_json_as_others_do, shows_no_control_bytes, refuses_bad_input):
        with tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder))
    helps()
    print("compared and refused as it should")


if __name__ == "__main__":
    main()

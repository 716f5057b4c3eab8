"""baselines_test.py KEEPS_BASELINES ALLOCSCOPE

Baselines are written on request, compared otherwise, and everything that is wrong with a file or a
setting is said with the name and what to do.
"""
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

PROGRAM, ALLOCSCOPE = sys.argv[1:]
ODD = "b\ttab \\ line\n"
HEAD = "allocscope baselines 2\nname\tallocations\tbytes\n"


def start(path, *words, update=None, tolerance=0, most_bytes=None):
    def limit():
        if most_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    environment = {name: value for name, value in os.environ.items() if "BASELINES" not in name}
    if update is not None:
        environment["ALLOCSCOPE_UPDATE_BASELINES"] = update
    return subprocess.Popen([PROGRAM, str(path), str(tolerance), *map(str, words)], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                            preexec_fn=limit)


def run(path, *words, code, **more):
    process = start(path, *words, **more)
    text = process.communicate(timeout=600)[0]
    assert process.returncode == code, (words, more, process.returncode, text)
    assert "charged" not in text, text
    return text


def keeps_and_compares(folder):
    path = folder / "baselines.tsv"
    text = run(path, "a", 3, code=1)
    assert f"\"a\" has no baseline in {path} (there is no such file)" in text, text
    assert "ALLOCSCOPE_UPDATE_BASELINES=1" in text, text
    run(path, "a", 3, ODD, 100, code=0, update="1")
    assert path.read_text() == (
        "allocscope baselines 2\n"
        "name\tallocations\tbytes\tpeak_bytes\tlive_objects\tlive_bytes\n"
        "a\t3\t30\t20\t1\t10\n"
        "b tab \\ line \t100\t1000\t20\t1\t10\n"), path.read_text()
    run(path, "a", 3, ODD, 100, code=0)
    run(path, "a", 2, code=0)  # less is no failure
    text = run(path, "a", 4, code=1, update="0")
    assert "\"a\" allocates more than its baseline" in text, text
    assert "allocations 3 -> 4 (+33.3 %), bytes 30 -> 40 (+33.3 %);" in text, text
    assert "peak_bytes" not in text and "if that is meant" in text, text
    run(path, "a", 4, code=0, tolerance=34)
    run(path, ODD, 105, code=0, tolerance=5)
    run(path, ODD, 106, code=1, tolerance=5)
    text = run(path, "c", 1, code=1)
    assert "\"c\" has no baseline in" in text and "no such file" not in text, text

    as_written = path.read_bytes()
    path.write_bytes(as_written.replace(b"\n", b"\r\n"))
    run(path, "a", 3, ODD, 100, code=0)
    run(path, "a", 3, code=0, update="1")
    assert path.read_bytes() == as_written

    text = run(path, "a", 4, code=1, update="1", most_bytes=50)  # as on a full disk
    assert f"{path}.new cannot be written: File too large" in text, text
    assert path.read_bytes() == as_written
    assert [entry.name for entry in folder.iterdir()] == [path.name]

    before = folder / "before.tsv"
    before.write_bytes(path.read_bytes())
    run(path, "a", 5, code=0, update="1")  # others stay
    assert "\nb tab \\ line \t100\t" in path.read_text()
    done = subprocess.run([ALLOCSCOPE, "compare", before, path], capture_output=True, text=True)
    assert done.returncode == 1, done
    assert [line.split() for line in done.stdout.splitlines() if line.startswith("a ")] == [
        ["a", "allocations", "3", "5", "+66.7", "%", "MORE"],
        ["a", "bytes", "30", "50", "+66.7", "%", "MORE"]], done.stdout


def refuses_counts_that_are_too_low(folder):
    path = folder / "lost.tsv"
    run(path, "a", 3, code=0, update="1")
    before = path.read_bytes()
    for update in (None, "1"):
        text = run(path, "a", "lost", code=1, update=update)
        assert text == ("allocscope: \"a\": 1 event was not recorded, so nothing is certain;"
                        " stats() tells why\n"), text
        assert path.read_bytes() == before
    run(path, "a", "lost", "a", 3, code=1)


def processes_update_together(folder):
    path = folder / "together.tsv"
    running = [start(path, *sum(([f"{number}.{part}", 2] for part in range(5)), []), update="1")
               for number in range(8)]
    assert [process.wait(timeout=600) for process in running] == [0] * 8
    for process in running:
        process.stdout.close()
    assert len(path.read_text().splitlines()) == 2 + 40
    assert [entry.name for entry in folder.iterdir()] == ["together.tsv"]


def refuses_bad_input(folder):
    path = folder / "bad.tsv"
    for content, message in (
            ("", "is empty"), ("{", "is not a file of baselines"),
            ('{"allocscope": "baselines", "version": 1, "results": {}}',
             "has the format of version 1, this is version 2"),
            ("allocscope baselines 3\n", "has the format of version 3, this is version 2"),
            (HEAD + "a\t1\t2", "ends within a line: it was cut off"),
            (HEAD + "a\t1\t2\nb\t1\tx\n", "line 4: bytes is \"x\", which is not a count"),
            (HEAD + "a\t-1\t2\n", "line 3: allocations is \"-1\""),
            (HEAD + "a\t1\t2\t3\n", "line 3: it has more cells"),
            (HEAD + "a\t1\t2\t\n", "line 3: it has more cells"),
            (HEAD + "a\t1\n", "line 3: it has fewer cells"),
            (HEAD + "<<<<<<< HEAD\na\t1\t2\n=======\n", "line 3: it has fewer cells"),
            (HEAD + "a\t1\t2\na\t3\t4\n", "line 4: there is another line for \"a\""),
            (HEAD.replace("name", "nane"), "line 2: its first column is not \"name\""),
            (HEAD.replace("bytes", "allocations"), "line 2: it has the column \"allocations\" tw")):
        path.write_text(content)
        for update in (None, "1"):  # a file that is not understood is never overwritten
            text = run(path, "a", 1, code=1, update=update)
            assert message in text and str(path) in text, text
            assert path.read_text() == content
    path.write_text(HEAD + "a\t9\t99\n")
    text = run(path, "a", 1, code=1)
    assert f"\"a\" has no baseline for peak_bytes in {path}" in text, text
    text = run("/dev/zero", "a", 1, code=1)
    assert "/dev/zero is larger than 256 MiB" in text, text
    text = run(folder / "none" / "x.tsv", "a", 1, code=1, update="1")
    assert "none/ cannot be opened: No such file or directory; make the folder" in text, text
    text = run(folder, "a", 1, code=1, update="1")
    assert f"{folder} cannot be read: Is a directory" in text, text
    text = run(path, "a", 1, code=1, update="yes")
    assert "ALLOCSCOPE_UPDATE_BASELINES is \"yes\"; 1 updates" in text, text
    for tolerance in ("-5", "nan"):
        text = run(path, "a", 1, code=1, tolerance=tolerance)
        assert "the tolerance of baselines is" in text and "must be 0 or more" in text, text


def main():
    for check in (keeps_and_compares, refuses_counts_that_are_too_low, processes_update_together,
                  refuses_bad_input):
        with tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder))
    print("baselines are kept")


if __name__ == "__main__":
    main()

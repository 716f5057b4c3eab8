"""`show`, `diff` and `histogram` with --format json: the numbers that they print as text.

usage: show_json_test.py PROGRAM COMPILER
"""
import json
import pathlib
import subprocess
import sys

from known_heap import known_heap

SCHEMA = pathlib.Path(__file__).parents[2] / "include/allocscope/report/json_report.schema.json"


def fits_schema(document):
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError:
        return  # formats/json_schema is skipped then, and says so
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)


class Shown:
    """Verbs of the program; what they print is read as JSON."""

    def __init__(self, program):
        self.program = program

    def run(self, *words):
        return subprocess.run([self.program, *map(str, words), "--format", "json"],
                              capture_output=True, text=True, timeout=60, check=False)

    def __call__(self, *words):
        done = self.run(*words)
        assert (done.returncode, done.stderr) == (0, ""), (words, done)
        document = json.loads(done.stdout)
        fits_schema(document)
        return document

    def refused(self, *words):
        done = self.run(*words)
        assert (done.returncode, done.stdout) == (2, ""), (words, done)
        return done.stderr


def numbers(rows, name="function"):
    """What each function of the program keeps and has allocated."""
    return {row[name].rstrip("()"): (row["objects"], row["bytes"], row["allocations"],
                                     row["bytes_allocated"]) for row in rows}


def callers(row):
    return [frame["function"].rstrip("()") for frame in row["frames"][:2]]


NODES, LARGE, CHURN = (10, 1000, 10, 1000), (1, 5000, 1, 5000), (0, 0, 70, 70000)


def shows_rows(shown, old, new, folder):
    whole = shown("show", old)
    assert numbers(whole["rows"]) == {"make_node": NODES, "make_large": LARGE}, whole
    assert numbers(whole["freed_rows"]) == {"churn": CHURN}, whole
    assert callers(whole["rows"][0]) == ["make_node", "main"], whole["rows"][0]
    converted = folder / "old.json"
    subprocess.run([shown.program, "convert", old, converted], check=True)
    assert json.loads(converted.read_text()) == whole

    part = shown("show", "--only", "make_large", old)
    assert part["is_filtered"] and numbers(part["rows"]) == {"make_large": LARGE}, part
    assert part["rows"][0]["frames"] == whole["rows"][1]["frames"], part
    both = shown("show", old, new)
    assert both["merged_windows"] == 2 and both["totals"]["live_objects"] == 32, both
    assert callers(both["rows"][0]) == ["make_node", "main"], both["rows"][0]


def shows_differences(shown, old, new):
    change = shown("diff", old, new)
    assert change["is_difference"], change
    assert callers(change["rows"][0]) == ["make_node", "main"], change
    assert numbers(change["rows"]) == {"make_node": NODES}, change
    part = shown("diff", "--only", "make_node", old, new)
    assert numbers(part["rows"]) == {"make_node": NODES}, part
    assert callers(part["rows"][0]) == ["make_node", "main"], part
    change = shown("diff", new, old)
    assert callers(change["rows"][0]) == ["make_node", "main"], change
    assert numbers(change["rows"]) == {"make_node": (-10, -1000, -10, -1000)}, change


def shows_groups(shown, old, new):
    document = shown("show", "--by", "function", old)
    assert document["by"] == "function" and "rows" not in document, document
    assert document["totals"]["allocations"] == 81, document
    assert numbers(document["groups"], "name") == {
        "make_large": LARGE, "make_node": NODES, "churn": CHURN}, document
    allocated = shown("show", "--by", "function", "--sort", "allocated", "--rows", 1, old)
    assert numbers(allocated["groups"], "name") == {"churn": CHURN}, allocated
    # A histogram has only what is alive.
    alive = shown("histogram", "--by", "function", old)
    assert [group["name"].rstrip("()") for group in alive["groups"]] == ["make_large", "make_node"]
    assert [each["name"] for each in shown("histogram", old)["groups"]] == ["?", "node"]
    change = shown("histogram", "--by", "function", old, new)
    assert numbers(change["groups"], "name") == {"make_node": NODES}, change


def knows_details(recorder, shown, folder, known):
    path = folder / "details.allocscope"
    recorder.run([known], "--details", "--output", path)
    groups = shown("show", "--by", "function", path)["groups"]
    churn = [each for each in groups if each["name"].startswith("churn")]
    assert [each["temporary"] for each in churn] == [70], groups


def shows_counters(recorder, shown, folder, known):
    path = folder / "counters.allocscope"
    recorder.run([known], "--record", "counters", "--output", path)
    document = shown("show", path)
    assert document["rows"] == [] and document["totals"]["live_bytes"] == 6000, document
    assert "recorded counters only" in shown.refused("histogram", path)


def refuses(shown, old):
    """What JSON does not have is refused, not ignored."""
    for words in (["--tree"], ["--callers"], ["--frames", 3]):
        assert "leave --tree, --callers and --frames out" in shown.refused("show", *words, old)
    for words in (["--rows", 3], ["--sort", "bytes"]):
        assert "leave --rows and --sort out" in shown.refused("diff", *words, old, old), words
    error = shown.refused("show", "--format", "html", old)
    assert '--format is "html"; it must be text or json; allocscope convert' in error, error


def main():
    with known_heap(*sys.argv[1:]) as heap:
        shown, old, new = Shown(heap.recorder.program), heap.old, heap.new
        shows_rows(shown, old, new, heap.folder)
        shows_differences(shown, old, new)
        shows_groups(shown, old, new)
        knows_details(heap.recorder, shown, heap.folder, heap.known)
        shows_counters(heap.recorder, shown, heap.folder, heap.known)
        refuses(shown, old)


if __name__ == "__main__":
    main()

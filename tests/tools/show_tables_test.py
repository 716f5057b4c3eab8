"""The tables and trees of one snapshot, and what they refuse.

usage: show_tables_test.py PROGRAM COMPILER
"""
import os
import re
import subprocess
import sys

from known_heap import known_heap, table
from recorded_programs import compiled


def shows_rows(show, old):
    text = show("show", old)
    assert "allocated          81 objects" in text, text
    assert "alive              11 objects        6000 B" in text, text
    rows = text[text.index("\nobjects "):].splitlines()[1:]
    assert re.match(r" +10 +1000 B +16\.7% +\S*:5:\S+ +make_node", rows[1]), text
    assert re.match(r" +1 +5000 B +83\.3% +\S*:6:\S+ +make_large", rows[2]), text
    by_bytes = show("show", "--sort", "bytes", "--rows=1", old).splitlines()
    assert any(re.match(r" +1 +5000 B", line) for line in by_bytes), by_bytes
    for order, function in (("objects", "make_node"), ("bytes", "make_large")):
        framed = show("show", "--rows=1", "--sort", order, "--frames=5", old)
        assert re.search(rf"\n +at {function}\(\) .*\n +at main ", framed), framed
    assert any("and 1 more place" in line for line in by_bytes), by_bytes


def shows_groups(show, old):
    by_function = table(show("show", "--by", "function", old))
    assert [line[-1] for line in by_function] == ["make_large()", "make_node()", "churn()"] or \
        [line[-1] for line in by_function] == ["make_large", "make_node", "churn"], by_function
    assert by_function[2][:2] == ["0", "B"], by_function
    allocated = table(show("show", "--sort", "allocated", old))
    assert allocated[0][:7] == ["0", "B", "0.0%", "0", "68.4", "KiB", "70"], allocated
    by_size = table(show("show", "--by=size", "--sort=allocations", old))
    assert [line[-2] for line in by_size] == ["513..1024", "65..128", "4097..8192"], by_size
    modules = table(show("show", "--by", "module", old))
    assert len(modules) == 1 and modules[0][-1] == "known", modules
    for least in ("2K", "2k", "2KiB", "2kib", "2048", "4K"):
        small = show("show", "--by", "place", "--min-bytes", least, old)
        assert len(table(small)) == 1 and "5000 B" in small, small
    many = show("show", "--min-objects", "2", old)
    assert "make_node" in many and "make_large" not in many, many
    only = show("show", "--only", "make_large", old)
    assert "make_large" in only and "make_node" not in only, only
    assert "no row matches the request" in show("show", "--only", "nobody", old)
    assert "no row matches" in show("show", "--module", "libnowhere", old)
    assert show("show", "--by", "type", "--only", "nobody", old) == \
        "there are no stacks to add up\n"


def shows_trees(show, old):
    tree = show("show", "--tree", old)
    lines = tree.splitlines()
    assert re.match(r" *6000 B +100\.0% +11 +74\.2 KiB +81 +\(all\)$", lines[1]), tree
    depth = {name: next(len(re.search(r"\d( +)" + name, line).group(1)) for line in lines
                        if re.search(r"\d +" + name, line))
             for name in ("main", "make_node", "make_large", "churn")}
    assert depth["make_node"] == depth["make_large"] == depth["churn"] == depth["main"] + 1, depth
    callers = show("show", "--callers", "--sort", "allocations", old).splitlines()
    assert re.match(r" *0 B +0\.0% +0 +68\.4 KiB +70   churn", callers[2]), "\n".join(callers)
    assert len(show("show", "--tree", "--rows", "3", old).splitlines()) <= 5


def limits_trees(show, old):
    """A tree has no more calls in each other than asked for; sums have no stacks to show."""
    deepest = max(len(line) - len(line.lstrip()) for line in names(show("show", "--tree", old)))
    assert deepest > 3, deepest
    for option in ("--tree", "--callers"):
        for most in (1, 2, 3):
            shown = names(show("show", option, "--frames", most, old))
            assert max(len(line) - len(line.lstrip()) for line in shown) == most, shown
        assert show("show", option, "--frames", 0, old) == show("show", option, old)
    shown = names(show("show", "--callers", "--frames=1", old))
    assert [line.split()[0].rstrip("()") for line in shown] == \
        ["(all", "make_large", "make_node", "churn"], shown
    for options in (["--by", "type"], ["--sort", "allocated"], ["--sort=allocations"]):
        error = show("show", *options, "--frames", 2, old, code=2)
        assert "--frames" in error and "--tree" in error, error


def refuses_two_tables(show, old):
    """One would be shown, and the other ignored."""
    for options in (["--tree", "--callers"], ["--tree", "--by", "type"], ["--by=type", "--tree"]):
        assert "--by, --tree and --callers" in show("show", *options, old, code=2), options
    assert show("show", "--tree", "--tree", old) == show("show", "--tree", old)


def names(tree):
    """The calls of a tree, each with a blank for each call around it."""
    lines = tree.splitlines()
    at = lines[0].index("call")
    return [line[at:] for line in lines[1:]]


def shows_histograms(show, old, new):
    lines = show("histogram", old).splitlines()
    assert lines[0].split() == ["objects", "bytes", "type"], lines
    assert sum(int(line.split()[0]) for line in lines[1:]) == 11, lines
    assert sum(int(line.split()[1]) for line in lines[1:]) == 6000, lines
    assert show("histogram", "--sort", "allocated", old).startswith(lines[0])
    change = show("histogram", "--by", "function", old, new).splitlines()
    assert [line.split()[:2] for line in change[1:]] == [["10", "1000"]], change


def marks_estimates(recorder, show, folder, known):
    sampled = folder / "sampled.allocscope"
    recorder.run([known], "--record", "sampled", "--sample-bytes", "8", "--output", sampled)
    lines = show("histogram", sampled).splitlines()[1:]
    assert lines and all(re.match(r" +~\d+ +~\d+  ", line) for line in lines), lines


TYPED = """struct plain { long numbers[4]; };
void* volatile kept;
int main() {
    kept = new plain;
    kept = new int[3];
}
"""


def shows_how_types_are_known(recorder, show, folder, compiler):
    typed = folder / "typed.allocscope"
    recorder.run([compiled(folder, "typed", TYPED, compiler)], "--output", typed)
    names = ["--only", "typed.cpp", "--by", "type"]
    def types(which):
        return sorted(line[7] if len(line) == 8 else " ".join(line[7:])
                      for line in table(show("show", *names, "--types", which, typed)))
    assert types("all") == ["int", "plain"], types("all")
    assert types("source") == ["int [source]", "plain [source]"], types("source")
    assert types("proven") == ["?"], types("proven")
    text = show("show", "--types", "source", typed)
    assert "typed.cpp:4:plain [source]" in text, text
    assert "it must be all, proven or source" in show("show", "--types", "some", typed, code=2)


def says_what_could_name_rows(recorder, show, folder, known):
    bare = folder / "bare"
    def said(*command, **more):
        if command:
            subprocess.run(list(map(str, command)), check=True)
        saved = folder / "bare.allocscope"
        seen = recorder.run([bare], **more).stderr
        recorder.run([bare], "--output", saved, **more)
        head = "what could name the rows without a line:\n"
        shown = show("show", saved)
        assert (head in seen) == (head in shown), (seen, shown)
        if head not in seen:
            return ""
        assert seen.split(head)[1] == shown.split(head)[1], (seen, shown)
        return shown.split(head)[1]
    bare.write_bytes(known.read_bytes())
    bare.chmod(0o755)
    assert said() == ""
    assert said("strip", "-g", bare) == "  bare: no debug information; compile it with -g\n"
    link = folder / "away.debug"
    link.write_bytes(b"nothing")
    assert "was put into the file away.debug" in said("objcopy", f"--add-gnu-debuglink={link}",
                                                      bare)


def refuses(show, folder, old):
    assert "0 files were given; write: allocscope show [options] FILE..." in show("show", code=2)
    assert "3 files were given; write: allocscope diff " in show("diff", old, old, old, code=2)
    assert "write: allocscope histogram " in show("histogram", code=2)
    assert "--help takes no value" in show("show", "--help=3", old, code=2)
    assert 'there is no option "--bye"' in show("show", "--bye", old, code=2)
    assert '--by is "color"; it must be place, type' in show("show", "--by", "color", old, code=2)
    assert '--rows is "-1"; it must be a whole number' in show("show", "--rows=-1", old, code=2)
    assert '--min-bytes is "5TB"; it must be a whole number, such as 4096, 64K, 10MiB' in \
        show("show", "--min-bytes", "5TB", old, code=2)
    for beyond in ("16777216T", "18446744073709551616"):
        assert show("show", "--min-bytes", beyond, old) == \
            show("show", "--min-bytes", "18446744073709551615", old), beyond
    assert "--rows needs a value" in show("show", old, "--rows", code=2)
    for option in (["--tree"], ["--callers"], ["--frames", "2"]):
        assert "a histogram has no trees" in show("histogram", *option, old, code=2)
    assert "--tree" not in show("histogram", "--help") and "--tree" in show("diff", "--help")
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    for words in (["show"], ["diff", old], ["convert"]):
        def refused(path):
            last = ["x.json"] if words == ["convert"] else []
            return show(*words, path, *last, code=2)
        assert "there is no such file" in refused(folder / "none.allocscope")
        assert "it is a folder" in refused(folder)
        assert "it is a pipe" in refused(pipe)
    damaged = folder / "damaged.allocscope"
    damaged.write_bytes(old.read_bytes()[:-9])
    assert "it is damaged at byte" in show("show", damaged, code=2)
    for verb in ("show", "diff", "histogram", "convert"):
        assert f"usage: allocscope {verb} " in show(verb, "--help")


def main():
    with known_heap(*sys.argv[1:]) as heap:
        show, old = heap.show, heap.old
        shows_rows(show, old)
        shows_groups(show, old)
        shows_trees(show, old)
        limits_trees(show, old)
        refuses_two_tables(show, old)
        shows_histograms(show, old, heap.new)
        marks_estimates(heap.recorder, show, heap.folder, heap.known)
        shows_how_types_are_known(heap.recorder, show, heap.folder, heap.compiler)
        says_what_could_name_rows(heap.recorder, show, heap.folder, heap.known)
        refuses(show, heap.folder, old)


if __name__ == "__main__":
    main()

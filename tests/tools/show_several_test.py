"""Several snapshots: what has changed between two, and sums of windows and processes.

usage: show_several_test.py PROGRAM COMPILER
"""
import re
import sys

from known_heap import known_heap, table
from recorded_programs import compiled


def shows_differences(show, old, new):
    text = show("diff", old, new)
    assert "allocscope difference" in text, text
    assert re.search(r"\+10 +\+1000 B +100\.0% +\S*:5:", text), text
    assert re.search(r"-10 +-1000 B", show("diff", new, old)), text
    # The windows of two processes may have one number.
    assert "attention: the two snapshots are of different windows" in text, text
    assert "no row has changed" in show("diff", old, old)
    assert "0 ns apart" in show("diff", old, old)
    tree = show("diff", "--tree", old, new)
    assert re.search(r"\+1000 B +100\.0% +\+10 +\+1000 B +\+10 +make_node", tree), tree
    assert "churn" not in tree, tree


def merges(show, folder, old, new):
    text = show("show", old, new)
    assert "allocscope report of 2 windows" in text, text
    assert re.search(r"alive +32 objects +13000 B", text) or \
        re.search(r"alive +32 objects +12\.7 KiB", text), text
    by_function = table(show("show", "--by", "function", old, new))
    numbers = {line[-1].rstrip("()"): line for line in by_function}
    assert numbers["make_node"][3] == "30" and numbers["make_large"][3] == "2", numbers
    assert numbers["churn"][-2] == "140", numbers
    merged = folder / "merged.allocscope"
    show("convert", old, new, merged)
    assert show("show", merged) == text
    by_thread = show("show", "--by", "thread", merged)
    assert len(table(by_thread)) == 2 and by_thread.count("thread 1 of process") == 2, by_thread
    message = show("show", old, old, code=2)
    assert "are of one process and were open at the same time" in message, message
    one = show("show", "--thread", "1", "--by", "function", old)
    assert one == show("show", "--by", "function", old), one
    assert "no row matches" in show("show", "--thread", "77", old)
    only = show("diff", "--thread", "1", old, new)
    assert re.search(r"\+10 +\+1000 B", only), only
    by_thread = show("diff", "--by", "thread", old, new).splitlines()
    assert len(by_thread) == 2 and "thread 1" in by_thread[1], by_thread
    assert by_thread[1].strip().startswith("+1000 B"), by_thread


# Between its places and operator new are frames of the library.
CONTAINERS = """#include <vector>
std::vector<int>* kept[4];
int main() {
    kept[0] = new std::vector<int>(100);
    kept[1] = new std::vector<int>(200);
}
"""


def shows_frames_of_several_files(recorder, show, folder, old, new, compiler):
    """The frames of the rows that are shown, as of one file that has all rows."""
    merged = folder / "merged.allocscope"
    program = compiled(folder, "containers", CONTAINERS, compiler)
    both = [folder / "first.allocscope", folder / "second.allocscope"]
    for path in both:
        recorder.run([program], "--output", path)
    show("convert", *both, merged)
    text = show("show", "--frames=5", *both)
    assert text == show("show", "--frames=5", merged), text
    for line in (4, 5):
        place = rf"containers\.cpp:{line}"
        assert re.search(rf"{place}:int .*\n +at main.*{place}\)", text), text
    show("convert", old, new, merged)
    for order, function in (("objects", "make_node"), ("bytes", "make_large")):
        for most in ("1", "50"):
            words = ["show", "--rows", most, "--sort", order, "--frames=5"]
            text = show(*words, old, new)
            assert text == show(*words, merged), text
            first = text[text.index("\nobjects "):].splitlines()[3:5]
            assert re.match(rf" +at {function}\(\) ", first[0]), first
            assert re.match(" +at main ", first[1]), first
    for sides in ((old, new), (new, old)):
        changed = show("diff", "--frames=5", *sides)
        assert re.search(r"\n +at make_node\(\) .*\n +at main ", changed), changed
        assert "make_large" not in changed, changed


def merges_processes(recorder, show, folder, known):
    """What a program and those that it starts have allocated, each in a file of its own."""
    command = ["/bin/sh", "-c", f"{known}; {known} more; {known} two more; true"]
    recorder.run(command, "--children", "follow", "--output", folder / "all.%n.%p.allocscope")
    files = sorted(folder.glob("all.*.allocscope"))
    assert len(files) == 4, files
    rows = table(show("show", "--by", "function", "--only", "make_", *files))
    objects = {row[-1].rstrip("()"): int(row[3]) for row in rows}
    assert objects == {"make_node": 60, "make_large": 3}, rows
    by_program = [table(show("show", "--by", "function", "--only", "make_node", file))
                  for file in files if "known" in file.name]
    assert sorted(int(row[0][3]) for row in by_program) == [10, 20, 30], by_program


def main():
    with known_heap(*sys.argv[1:]) as heap:
        show, old, new = heap.show, heap.old, heap.new
        shows_differences(show, old, new)
        merges(show, heap.folder, old, new)
        shows_frames_of_several_files(heap.recorder, show, heap.folder, old, new, heap.compiler)
        merges_processes(heap.recorder, show, heap.folder, heap.known)


if __name__ == "__main__":
    main()

"""`allocscope show`, `diff`, `histogram` and `convert` on snapshots of a known heap.

usage: show_test.py PROGRAM COMPILER
"""
import json
import os
import re
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import time

from recorded_programs import Recorder, WITHOUT_CXX, compiled

# Keeps `kept` objects of 100 bytes and one of 5,000, and allocates 70 of 1,000 that it frees.
SOURCE = """#include <stdlib.h>
struct node { char bytes[100]; };
static void* kept[1000];
template <class T> T seen(T p) { asm volatile("" : "+r"(p)); return p; }
__attribute__((noinline)) void* make_node() { return seen(malloc(sizeof(node))); }
__attribute__((noinline)) void* make_large() { return seen(malloc(5000)); }
__attribute__((noinline)) void churn() { free(seen(malloc(1000))); asm volatile(""); }
int main(int count, char**) {
    for (int i = 0; i < count * 10; ++i) kept[i] = make_node();
    kept[999] = make_large();
    for (int i = 0; i < 70; ++i) churn();
    asm volatile("" : : "m"(kept));
}
"""


# Thread k of two allocates 100 k times 10 k bytes from one place, the first thread 7 bytes there.
THREADS = """#include <pthread.h>
#include <stdlib.h>
static void* kept[3000];
template <class T> T seen(T p) { asm volatile("" : "+r"(p)); return p; }
__attribute__((noinline)) void* make(size_t bytes) { return seen(malloc(bytes)); }
static void* work(void* at) {
    const long k = reinterpret_cast<long>(at);
    for (long i = 0; i < 100 * k; ++i) kept[k * 1000 + i] = make(static_cast<size_t>(10 * k));
    return nullptr;
}
int main() {
    pthread_t made[2];
    for (long k = 1; k < 3; ++k) {
        pthread_create(&made[k - 1], nullptr, work, reinterpret_cast<void*>(k));
        pthread_join(made[k - 1], nullptr);
    }
    kept[0] = make(7);
    asm volatile("" : : "m"(kept));
}
"""
PPROF = "/usr/lib/go-1.19/pkg/tool/linux_amd64"


class Shown:
    """Verbs of the program, and what they print."""

    def __init__(self, program):
        self.program = program

    def __call__(self, *words, code=0):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True,
                              timeout=60, check=False)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        if code == 0:
            assert done.stderr == "", (words, done.stderr)
            return done.stdout
        assert done.stdout == "", (words, done.stdout)
        return done.stderr


def table(text):
    """The lines of a table as lists of words, without its title."""
    return [line.split() for line in text.splitlines()[1:]]


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


def knows_details(recorder, show, folder, known):
    path = folder / "details.allocscope"
    recorder.run([known], "--details", "--output", path)
    by_temporary = table(show("show", "--sort", "temporary", path))
    assert by_temporary[0][-1].split(":")[-2] == "7", by_temporary  # churn
    assert " 70 " in " ".join(by_temporary[0]), by_temporary
    by_peak = show("show", "--by", "function", "--sort", "peak", path).splitlines()
    assert re.search(r"at peak +of peak +temporary +mean life +function", by_peak[0]), by_peak
    # 10 of 100 bytes and one of 5,000 are kept before the first 1,000 bytes come on top.
    assert re.search(r"5000 B +71\.4% +0 +\S+ \S+ +make_large", by_peak[1]), by_peak
    assert "what was alive at the peak of 7000 B" in show("show", path)
    written = folder / "details.json"
    show("convert", path, written)
    rows = json.loads(written.read_text())
    assert sum(row["details"]["peak_bytes"] for row in rows["rows"] + rows["freed_rows"]) == 7000
    plain = folder / "old.allocscope"
    refused = show("show", "--sort", "peak", plain, code=2)
    assert "record it with allocscope run --details" in refused, refused
    # It is the file that lacks something which is named, whichever side of a difference it is.
    assert "old.allocscope does not know" in show("diff", "--sort", "peak", path, plain, code=2)
    assert "old.allocscope does not know" in show("diff", "--sort", "peak", plain, path, code=2)
    counted = folder / "counted.allocscope"
    recorder.run([known], "--record", "counters", "--output", counted)
    for files in ((plain, counted), (counted, plain)):
        refused = show("histogram", *files, code=2)
        assert "counted.allocscope has no stacks" in refused, refused
    refused = recorder.run([known], "--details", "--record", "counters", code=2)
    assert "--details needs every allocation" in refused.stderr, refused.stderr


def unpacked(packed):
    """The numbers of a list in the page: five bits in each character, the lowest first."""
    alphabet = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    numbers, number, weight = [], 0, 1
    for digit in map(alphabet.index, packed):
        number += digit % 32 * weight
        weight *= 32
        if digit < 32:
            numbers.append(number)
            number, weight = 0, 1
    return numbers


def knows_threads(recorder, show, folder, compiler):
    """What each thread has allocated, in the table, the page and pprof."""
    program = compiled(folder, "threads", THREADS, compiler, *WITHOUT_CXX, "-pthread")
    path = folder / "threads.allocscope"
    recorder.run([program], "--details", "--output", path)
    truth = {"thread 1": (1, 7), "thread 2": (100, 1000), "thread 3": (200, 4000)}
    places = [show("show", "--by", "place", "--only", "make", "--thread", number, path)
              for number in "123"]
    for text, (count, size) in zip(places, truth.values()):
        assert table(text)[0][:4] == [str(size), "B", "100.0%", str(count)], text

    nothing = folder / "nothing.allocscope"
    recorder.run([compiled(folder, "nothing", "int main() {}", compiler, *WITHOUT_CXX)],
                 "--output", nothing)
    assert "nothing is alive" in show("show", nothing)
    assert "no row matches" in show("show", "--thread", "1", nothing)

    page = folder / "threads.html"
    show("convert", path, page)
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S).group(1))
    width = 7 + 1 + 3  # with a thread and details
    numbers = unpacked(data["stacks"])
    assert len(numbers) % width == 0 and data["thread_names"] == list(truth), data
    stacks = [numbers[at:at + width] for at in range(0, len(numbers), width)]
    for number, (name, (count, size)) in enumerate(truth.items()):
        # Behind the path: place, frames above; live bytes, objects, allocated, allocations; thread;
        # bytes at the peak, temporary.
        at = [stack for stack in stacks if stack[7] == number and stack[3:7] == [size, count] * 2]
        assert len(at) == 1 and at[0][8:10] == [size, 0], (name, stacks)

    tool = shutil.which("pprof", path=PPROF)
    if tool is None:
        return
    profile = folder / "threads.pb.gz"
    show("convert", path, profile)
    for name, (count, size) in truth.items():
        for value, wanted in (("inuse_space", size), ("alloc_objects", count),
                              ("peak_space", size)):
            top = subprocess.run([tool, "-top", "-unit=B", "-focus=make", f"-sample_index={value}",
                                  f"-tagfocus=thread={name}", profile], capture_output=True,
                                 text=True, check=True).stdout
            assert f"Showing nodes accounting for {wanted}B, " in top, (name, value, top)


AGES = r"""
#include <cstdlib>
#include <poll.h>
#include <unistd.h>
static void* kept[1000];
template <class T> T seen(T p) { asm volatile("" : "+r"(p)); return p; }
__attribute__((noinline)) void* make(size_t bytes) { return seen(malloc(bytes)); }
__attribute__((noinline)) void churn() { free(seen(malloc(50))); asm volatile(""); }
int main() {
    for (int i = 0; i < 100; ++i) kept[i] = make(10);
    if (write(1, "begun\n", 6) != 6) abort();
    pollfd input = {0, POLLIN, 0};
    while (poll(&input, 1, 1) == 0) churn();
    for (int i = 100; i < 107; ++i) kept[i] = make(10);
    asm volatile("" : : "m"(kept));
}
"""


def knows_ages(recorder, show, folder, old, compiler):
    """A program waits between old and young objects until a report on request says that two age
    marks lie behind the old ones."""
    program = compiled(folder, "ages", AGES, compiler, *WITHOUT_CXX)
    saved = folder / "ages.allocscope"

    def ages_now():
        return json.loads(show("show", "--format=json", saved))["ages"]

    def objects(ages):
        return sum(each["objects"] for each in ages)

    with subprocess.Popen([recorder.program, "run", "--age-step", "10ms", "--on-signal", "USR1",
                           "--output", saved, "--", program], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as started:
        assert started.stdout.readline() == b"begun\n"
        is_behind = False
        for _ in range(3000):
            started.send_signal(signal.SIGUSR1)
            time.sleep(0.02)
            is_behind = saved.exists() and objects(ages_now()[:-2]) == 100
            if is_behind:
                break
        assert is_behind, saved.exists() and ages_now()
        started.stdin.close()
        assert started.wait(60) == 0

    report = json.loads(show("show", "--format=json", saved))
    ages = report["ages"]
    assert 3 <= len(ages) <= 65, ages
    assert ages[0]["most_ns"] == report["duration_ns"] and ages[-1]["least_ns"] == 0, ages
    for older, younger in zip(ages, ages[1:]):
        assert younger["least_ns"] <= older["least_ns"] <= younger["most_ns"], ages
    assert sum(each["allocations"] for each in ages) == report["totals"]["allocations"], ages
    between = [at for at in range(len(ages)) if objects(ages[:at]) == 100]
    assert between and objects(ages) == 107, ages
    text = show("show", saved)
    assert re.search(r"\n  ages known to [0-9.]+ m?s, from \d+ age marks\n", text), text

    def chosen(*words):
        only = json.loads(show("show", *words, "--format=json", saved))
        assert only["is_filtered"], words
        return sum(row["objects"] for row in only["rows"])

    at = between[0]
    assert chosen("--older", f"{ages[at - 1]['least_ns']}ns") == 100, ages
    assert chosen("--younger", f"{ages[at]['most_ns'] + 1}ns", "--only", "make") == 7, ages
    assert chosen("--older", "1d") == 0 and chosen("--younger", "1d") == 107
    assert "no row matches" in show("show", "--older", "2h", saved)
    groups = table(show("show", "--by", "age", "--only", "make", saved))
    assert sum(int(line[3]) for line in groups) == 107, groups
    assert all(re.fullmatch(r"[0-9.]+\.\.[0-9.]+", line[-2]) for line in groups), groups
    again = folder / "ages-again.allocscope"
    show("convert", saved, again)
    assert saved.read_bytes() == again.read_bytes()

    for words in (["--older", "5s"], ["--younger", "1min"], ["--by", "age"]):
        refused = show("show", *words, old, code=2)
        assert "does not know how old its objects are; record it with allocscope run --age-step" \
            in refused, refused
        refused = show("diff", *words, saved, saved, code=2)
        assert "a difference does not know how old objects are" in refused, refused
    for value in ("", "5 s", "0", "-1s", "1y", "s", "nan", "1e30", "0x10s"):
        refused = show("show", f"--older={value}", saved, code=2)
        assert f'--older is "{value}"; it must be a time above 0, such as 500ms' in refused, refused


def converts(show, folder, old):
    saved = folder / "again.allocscope"
    show("convert", old, saved)
    assert saved.read_bytes() == old.read_bytes()
    written = folder / "heap.json"
    show("convert", old, written)
    report = json.loads(written.read_text())
    assert report["totals"]["live_bytes"] == 6000, report["totals"]
    assert sum(row["bytes_allocated"] for row in report["rows"] + report["freed_rows"]) == 76000
    assert "its ending must be .txt, " in show("convert", old, folder / "heap.foo", code=2)
    assert "two files are needed" in show("convert", old, code=2)
    assert "is not a saved snapshot" in show("convert", written, saved, code=2)


def refuses(show, folder, old):
    assert "0 files were given" in show("show", code=2)
    assert "3 files were given" in show("diff", old, old, old, code=2)
    assert 'there is no option "--bye"' in show("show", "--bye", old, code=2)
    assert '--by is "color"; it must be place, type' in show("show", "--by", "color", old, code=2)
    assert '--rows is "-1"; it must be a whole number' in show("show", "--rows=-1", old, code=2)
    assert '--min-bytes is "5TB"; it must be a whole number, such as 4096, 64K, 10MiB' in \
        show("show", "--min-bytes", "5TB", old, code=2)
    for beyond in ("16777216T", "18446744073709551616"):
        assert "it must be a whole number" in show("show", "--min-bytes", beyond, old, code=2)
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


def number(data, at):
    """A LEB128 number and where it ends; docs/snapshot_format.md."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at


def knows_the_modules_of_the_program(old, known):
    data = old.read_bytes()
    at = len(b"allocscope snapshot\n") + 1
    texts, modules = [b""], []
    while at < len(data):
        tag, (size, at) = data[at:at + 1], number(data, at + 1)
        payload, at = data[at:at + size], at + size
        if tag == b"t":
            texts.append(payload[:-1])
        elif tag == b"m":
            path, end = number(payload, 0)
            build_id, end = number(payload, end)
            modules.append((texts[path].decode(), texts[build_id].decode()))
    note = subprocess.run(["readelf", "-n", known], capture_output=True, text=True, check=True)
    wanted = re.search(r"Build ID: (\w+)", note.stdout)
    assert modules[0] == (str(known), wanted.group(1) if wanted else ""), modules
    assert any("libc.so.6" in path and build_id for path, build_id in modules), modules


def keeps_a_time_series(recorder, show, folder):
    path = folder / "series.allocscope"
    recorder.run(["/bin/sh", "-c", "sleep 0.5"], "--every", "0.05", "--output", path)
    written = folder / "series.json"
    show("convert", path, written)
    document = json.loads(written.read_text())
    moments = document["moments"]
    assert len(moments) >= 4, moments
    assert moments[-1]["at_ns"] == document["duration_ns"], document
    times = [moment["at_ns"] for moment in moments]
    assert times == sorted(times), times
    assert moments[-1]["allocations"] > 0, moments
    assert "alive over time" in show("show", path)
    change = show("diff", path, path)
    assert "alive over time  " not in change, change
    remark = f"a difference has no line of what was alive over time; allocscope show {path} has one"
    assert remark in change, change


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        recorder = Recorder(program, name)
        folder = recorder.folder
        known = compiled(folder, "known", SOURCE, compiler, *WITHOUT_CXX)
        old, new = folder / "old.allocscope", folder / "new.allocscope"
        recorder.run([known], "--output", old)
        recorder.run([known, "more"], "--output", new)
        show = Shown(program)
        shows_rows(show, old)
        shows_groups(show, old)
        shows_trees(show, old)
        limits_trees(show, old)
        refuses_two_tables(show, old)
        shows_differences(show, old, new)
        shows_histograms(show, old, new)
        marks_estimates(recorder, show, folder, known)
        merges(show, folder, old, new)
        shows_frames_of_several_files(recorder, show, folder, old, new, compiler)
        merges_processes(recorder, show, folder, known)
        knows_details(recorder, show, folder, known)
        knows_threads(recorder, show, folder, compiler)
        knows_ages(recorder, show, folder, old, compiler)
        converts(show, folder, old)
        says_what_could_name_rows(recorder, show, folder, known)
        shows_how_types_are_known(recorder, show, folder, compiler)
        refuses(show, folder, old)
        knows_the_modules_of_the_program(old, known)
        keeps_a_time_series(recorder, show, folder)


if __name__ == "__main__":
    main()

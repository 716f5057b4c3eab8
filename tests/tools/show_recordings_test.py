"""What only some recordings know: details, threads, ages, a time series.

usage: show_recordings_test.py PROGRAM COMPILER
"""
import json
import re
import shutil
import signal
import string
import subprocess
import sys
import time

from known_heap import known_heap, table
from recorded_programs import WITHOUT_CXX, compiled


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


# Of each thread nothing stays, so its stack may be forgotten.
PASSING_THREADS = """#include <pthread.h>
#include <stdlib.h>
template <class T> T seen(T p) { asm volatile("" : "+r"(p)); return p; }
__attribute__((noinline)) void make_and_free() { free(seen(malloc(64))); asm volatile(""); }
static void* work(void*) { return make_and_free(), nullptr; }
int main() {
    for (int i = 0; i < 3000; ++i) {
        pthread_t made;
        pthread_create(&made, nullptr, work, nullptr);
        pthread_join(made, nullptr);
    }
}
"""


def sums_of_ended_threads(recorder, show, folder, compiler):
    """Sums of stacks have what threads that have ended allocated. With details they lack some of
    it, and say how much."""
    program = compiled(folder, "passing", PASSING_THREADS, compiler, *WITHOUT_CXX, "-pthread")
    for options in [], ["--details"]:
        path = folder / "passing.allocscope"
        recorder.run([program], *options, "--output", path)
        answer = json.loads(show("show", "--by", "function", "--format", "json", path))
        missing = [answer["totals"][name] - sum(group[name] for group in answer["groups"])
                   for name in ("allocations", "bytes_allocated")]
        assert answer["totals"]["allocations"] >= 3000, answer["totals"]
        made = [group["allocations"] for group in answer["groups"]
                if group["name"].startswith("make_and_free")]
        assert (missing == [0, 0]) == (made == [3000]) == (options == []), (missing, made)
        wanted = (f"\n{missing[0]} allocations of {missing[1]} bytes are in the totals alone:"
                  " their stacks are not kept\n") if options else ""
        for how in ("--by", "function"), ("--tree",), ("--callers",):
            shown = show("show", *how, path)
            assert shown.endswith(wanted) and (options or "totals alone" not in shown), shown
        only = show("show", "--by", "function", "--only", "make_and_free", path)
        assert "totals alone" not in only, only  # nobody knows whose they were
        assert "totals alone" not in show("show", path)  # its rows are of live objects


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
    for value in ("", "5 s", "0", "-1s", "1y", "s", "nan", "0x10s"):
        refused = show("show", f"--older={value}", saved, code=2)
        assert f'--older is "{value}"; it must be a time above 0, such as 500ms' in refused, refused


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
    with known_heap(*sys.argv[1:]) as heap:
        show, folder = heap.show, heap.folder
        knows_details(heap.recorder, show, folder, heap.known)
        knows_threads(heap.recorder, show, folder, heap.compiler)
        sums_of_ended_threads(heap.recorder, show, folder, heap.compiler)
        knows_ages(heap.recorder, show, folder, heap.old, heap.compiler)
        keeps_a_time_series(heap.recorder, show, folder)


if __name__ == "__main__":
    main()

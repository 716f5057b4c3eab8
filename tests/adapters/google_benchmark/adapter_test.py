"""adapter_test.py GATED OWN_MAIN WITHOUT_HOOKS

What the three programs of cases.cpp report: in console, CSV and JSON, with threads, repetitions and
aggregates, and with which exit code. Works with any release of Google Benchmark from 1.7.1 on.
"""
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

OURS = ("allocs/op", "bytes/op", "live", "peak")
ZEROS = dict.fromkeys(OURS, 0)
GATED, OWN_MAIN, WITHOUT_HOOKS = sys.argv[1:]


class Failed(Exception):
    pass


def expect(holds, *what):
    if not holds:
        raise Failed(" ".join(str(part) for part in what))


def run(program, benchmarks, *flags, code=None, **environment):
    """(exit code, stdout, stderr). Benchmarks are named by the start of their names."""
    plain = {name: value for name, value in os.environ.items()
             if not name.startswith(("BENCHMARK_", "WITH_"))}
    plain["ALLOCSCOPE_EVIDENCE_DIR"] = ""
    done = subprocess.run(
        [program, f"--benchmark_filter=^({'|'.join(benchmarks)})", "--benchmark_min_time=0.001",
         *flags], env={**plain, **environment}, capture_output=True, text=True, timeout=600)
    expect(code is None or done.returncode == code, "exit code", done.returncode, "instead of",
           code, "\n", done.stdout[-2000:], done.stderr[-2000:])
    return done.returncode, done.stdout, done.stderr


def json_runs(program, benchmarks, *flags, **more):
    """The entries of the JSON output, by name; of equal names a list."""
    text = run(program, benchmarks, "--benchmark_format=json", *flags, **more)[1]
    return by_name(json.loads(text, parse_constant=lambda found: sys.exit(f"{found} in JSON")))


def by_name(document):
    found = {}
    for entry in document["benchmarks"]:
        found.setdefault(entry["name"], []).append(entry)
    return found


def ours(entry):
    return {name: entry[name] for name in OURS}


def an_empty_loop_is_zero():
    names = ["empty"]
    for flags in ([], ["--v=9"], ["--benchmark_repetitions=2"],
                  ["--benchmark_enable_random_interleaving=true", "--benchmark_repetitions=2"]):
        runs = json_runs(GATED, names, *flags, code=0)
        expect(len(runs) >= 5, runs.keys())
        for entries in runs.values():
            for entry in entries:
                expect(ours(entry) == ZEROS, flags, entry)
    for tabular in ("false", "true"):
        text = run(GATED, names, f"--benchmark_counters_tabular={tabular}", "--v=9", code=0)[1]
        expect("allocscope/" not in text, text)
        lines = [line for line in text.splitlines() if line.startswith("empty")]
        pattern = (r" 0 +0 +0 +0$" if tabular == "true"
                   else r" allocs/op=0 bytes/op=0 live=0 peak=0$")
        expect(len(lines) == 5 and all(re.search(pattern, line) for line in lines), text)
    runs = json_runs(OWN_MAIN, names, code=0)
    expect(all(ours(entry) == ZEROS for entries in runs.values() for entry in entries), runs)


def numbers_are_exact_in_every_format():
    names = ["two_blocks/", "two_blocks_threads/"]
    text = run(GATED, names, code=0)[1]
    expect(re.search(r"two_blocks/.* allocs/op=2 bytes/op=56 live=0 peak=56 a label", text), text)
    expect(re.search(r"two_blocks_threads/.* 400 allocs/op=2 bytes/op=56 live=0 peak=224 ", text),
           text)
    rows = list(csv.DictReader(io.StringIO(run(GATED, names, "--benchmark_format=csv", code=0)[1])))
    expect([[row[name] for name in OURS] for row in rows]
           == [["2", "56", "0", "56"], ["2", "56", "0", "224"]], rows)
    for repetitions in (1, 3):
        runs = json_runs(GATED, names, f"--benchmark_repetitions={repetitions}", code=0)
        single = [entry for entry in sum(runs.values(), []) if entry["run_type"] == "iteration"]
        expect(len(single) == 2 * repetitions, runs.keys())
        for entry in single:
            expect((entry["allocs/op"], entry["bytes/op"], entry["live"]) == (2, 56, 0), entry)
            # Google Benchmark's documented fields, of all threads and in each repetition.
            expect(entry["allocs_per_iter"] == 2, entry)
            expect(entry["max_bytes_used"] == 56 * entry["threads"], entry)
            expect(entry["total_allocated_bytes"] == 56 * 100 * entry["threads"], entry)
            expect(entry["net_heap_growth"] == 0, entry)
    runs = json_runs(GATED, ["two_blocks_converging", "own_counters", "one_of_four", "handed_over",
                             "frees_older", "without_scope"], code=0)
    expect(ours(runs["two_blocks_converging"][0])["allocs/op"] == 2, runs)
    expect(ours(runs["own_counters/0/iterations:100"][0]) == ZEROS, runs)
    one = runs["own_counters/1/iterations:100"][0]
    expect(ours(one) == {"allocs/op": 1, "bytes/op": 4, "live": 0, "peak": 4}, one)
    for name, entries in json_runs(GATED, ["long_label", "label_among"], code=0).items():
        expect(entries[0]["live"] == 0 and "too long" in entries[0]["label"], name, entries)
    one = runs["one_of_four/iterations:50/threads:4"][0]
    expect(ours(one) == {"allocs/op": 0.25, "bytes/op": 256, "live": 0, "peak": 1024}, one)
    one = runs["handed_over/iterations:20/threads:2"][0]
    expect((one["allocs/op"], one["live"]) == (0.5, 0), one)
    expect(ours(runs["frees_older/iterations:100"][0]) == ZEROS, runs)
    expect("allocs/op" not in runs["without_scope/iterations:10"][0], runs)
    expect("allocs_per_iter" not in runs["without_scope/iterations:10"][0], runs)


def leaks_fail():
    names = ["leaks", "keeps_ten", "empty/"]
    text = run(GATED, names, code=1)[1]
    for benchmark, message in (
            ("leaks/iterations:1 ", "leak: still alive: 1 object of 32 bytes; after 1"
                                    " iteration: 1 x cases.cpp:"),
            ("leaks_often ", "; after 1 iteration: 1 x cases.cpp:"),
            ("leaks_in_threads/", "leak: still alive: 10 objects of 320 bytes"),
            ("keeps_ten/9/", "leak: still alive: 10 objects of 40 bytes, 9 are allowed")):
        line = next((line for line in text.splitlines() if line.startswith(benchmark)), "")
        expect("ERROR OCCURRED: 'allocscope: " in line and message in line, benchmark, text)
    expect(re.search(r"keeps_ten/10/.* allocs/op=1 bytes/op=4 live=40 peak=40", text), text)
    expect(re.search(r"empty/.* allocs/op=0", text), text)

    text = run(GATED, ["leak_beside_counter"], code=1)[1]
    expect("leak: still alive: 3 objects of 12 bytes" in text, text)

    # What a label keeps is known in one thread only.
    text = run(GATED, ["leak_with_label"], code=1)[1]
    expect(re.search(r"leak_with_label/.*still alive: 1 object of 4 bytes", text), text)
    expect(re.search(r"label_in_threads/.*still alive: 3 objects of 63 bytes", text), text)

    # CSV: also when the first run fails, whose counters make the header.
    for flags in (["--benchmark_format=csv"], ["--benchmark_format=console"]):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "out")
            shown = run(GATED, ["leaks/", "fails_itself", "two_blocks/"], *flags,
                        f"--benchmark_out={path}", "--benchmark_out_format=csv", code=1)[1]
            for written in [shown, path.read_text()] if "csv" in flags[0] else [path.read_text()]:
                start = written.index("name,iterations")
                rows = {row["name"]: row for row in csv.DictReader(io.StringIO(written[start:]))}
                expect(rows["leaks/iterations:1"]["error_occurred"] == "true", written)
                expect("leak: still alive: 1 " in rows["leaks/iterations:1"]["error_message"],
                       written)
                expect(rows["fails_itself"]["error_message"] == "an error of its own", written)
                expect(rows["two_blocks/iterations:100"]["allocs/op"] == "2", written)
                expect(list(rows["two_blocks/iterations:100"])[-4:] == list(OURS), written)

    # JSON, on the display and in the file; the statistics over failed runs are left out.
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "out.json")
        runs = json_runs(GATED, ["leaks/", "two_blocks/"], "--benchmark_repetitions=2",
                         f"--benchmark_out={path}", code=1)
        for found in (runs, by_name(json.loads(path.read_text()))):
            expect(len(found["leaks/iterations:1"]) == 2, found)
            for entry in found["leaks/iterations:1"]:
                expect(entry["error_occurred"] is True, entry)
                expect("cases.cpp:" in entry["error_message"], entry)
                expect((entry["live"], entry["net_heap_growth"]) == (32, 32), entry)
                expect(not any(name.startswith("allocscope/") for name in entry), entry)
            expect("leaks/iterations:1_mean" not in found, found.keys())
            expect(found["two_blocks/iterations:100_cv"][0]["live"] == 0, found)
    runs = json_runs(GATED, ["leaks/", "two_blocks/"], "--benchmark_repetitions=2",
                     "--benchmark_report_aggregates_only=true", code=1)
    expect(runs["leaks/iterations:1_mean"][0]["error_occurred"] is True, runs)
    expect(runs["two_blocks/iterations:100_mean"][0]["allocs/op"] == 2, runs)
    expect("leaks/iterations:1_median" not in runs, runs.keys())


def caches_and_errors_of_others():
    run(GATED, ["fills_cache"], code=0)
    # Alone it is the first call, so its first repetition leaks. Each one has its own numbers.
    runs = json_runs(GATED, ["fills_cache_already_full"], "--benchmark_repetitions=2", code=1)
    used = [entry["max_bytes_used"] for entry in runs["fills_cache_already_full/iterations:1"]]
    expect(used == [133, 0], used)
    text = run(GATED, ["fails_itself"], code=1)[1]
    expect("'an error of its own'" in text, text)
    text = run(GATED, ["empty/"], "--no_such_flag", code=1)[2]
    expect("no_such_flag" in text, text)
    text = run(GATED, [".*"], "--benchmark_list_tests=true", code=0)[1]
    expect("two_blocks_converging" in text.splitlines(), text)


def limits_fail():
    runs = json_runs(GATED, ["limited", "grows", "sampled"], code=1)
    messages = {name: entries[0].get("error_message", "") for name, entries in runs.items()}
    expected = {
        "limited/kept": "",
        "limited/too_many": "allocscope: 1 allocation for each iteration, at most 0 are allowed",
        "limited/too_large": "allocscope: 4 bytes for each iteration, at most 3.5 are allowed",
        "limited/too_high": "allocscope: 4 bytes at the peak, at most 3 are allowed",
        "limited/negative": "allocscope: benchmark_limits::allocations is -1; it must be 0 or more",
        "limited/not_a_number": "allocscope: benchmark_limits::bytes is nan; it must be 0 or more",
    }
    for name, message in expected.items():
        told = messages[f"{name}/iterations:10"]  # no run of one iteration: no places
        hint = "; to see where they were allocated: benchmark_scope memory{state, allocscope::"
        expect(told.split(hint)[0] == message, name, told)
        expect((hint in told) == (name in ("limited/too_many", "limited/too_large",
                                           "limited/too_high")), name, told)
    expect("recording is sampled, which gives estimates" in messages["sampled"], messages)
    expect(messages["grows/min_time:0.050"] == "", messages)


def budgets_fail():
    runs = json_runs(GATED, ["within_budget", "may_stay_alive", "warms_up"], code=1)
    messages = {name.replace("/iterations:10", "").replace("/iterations:1", ""):
                entries[0].get("error_message", "") for name, entries in runs.items()}
    place = r"; after 1 iteration: 1 x cases\.cpp:\d+:int \(4 B\)$"
    kept = r"^$"
    expected = {
        "within_budget/kept": kept, "within_budget/kept_by_threads/threads:2": kept,
        "within_budget/too_many": r"^allocscope: 1 allocation for each iteration, at most 0 are"
                                  " allowed" + place,
        "within_budget/too_large/repeats:3": r"4 bytes for each iteration, at most 3 are allowed"
                                             + place,
        "within_budget/too_high": r"4 bytes at the peak, at most 3 are allowed" + place,
        "within_budget/too_few": r"1 allocation for each iteration, at least 2 are wanted; to see",
        "within_budget/negative": r"allocation_budget::peak_bytes is -5; it counts something",
        "within_budget/crossed": r"allocation_budget::bytes must be at least 9 and at most 3; exch",
        "may_stay_alive/0": kept, "may_stay_alive/1": kept,
        "may_stay_alive/2": r"10 objects of 40 bytes; 40 bytes alive, at most 39 are allowed",
        "may_stay_alive/3": r"still alive: 10 objects of 40 bytes; 10 objects, at least 11 are",
        "may_stay_alive/4": r"leak: still alive: 10 objects of 40 bytes;",
        "warms_up/min_time:0.050": kept,
    }
    expect(set(messages) == set(expected), "other benchmarks:", set(messages) ^ set(expected))
    for name, pattern in expected.items():
        expect(re.search(pattern, messages[name]), name, messages[name])
    expect(len(runs["within_budget/too_large/iterations:1/repeats:3"]) == 3, runs.keys())


def each_is_judged_by_its_own_limits():
    """Also when the repetitions of several benchmarks, of one function too, take turns."""
    for turn in range(3):
        runs = json_runs(GATED, ["keeps_ten", "may_stay_alive", "two_blocks/"],
                         "--benchmark_enable_random_interleaving=true",
                         "--benchmark_repetitions=3", code=1)
        for name, part in (("keeps_ten/10", ""), ("keeps_ten/9", "9 are allowed"),
                           ("may_stay_alive/0", ""), ("may_stay_alive/1", ""),
                           ("may_stay_alive/2", "at most 39"), ("may_stay_alive/3", "at least 11"),
                           ("may_stay_alive/4", "leak: still alive: 10 objects of 40 bytes")):
            entries = runs[f"{name}/iterations:10"]
            expect(len(entries) == 3, name, runs.keys())
            for entry in entries:
                message = entry.get("error_message", "")
                expect(part in message and (part == "") == (message == ""), name, turn, entry)


def a_limit_of_one_thread_is_for_all():
    for turn in range(3):
        runs = json_runs(GATED, ["limited_by_one_thread/", "kept_by_one_thread/"], code=1)
        for thread in range(5):
            entry = runs[f"limited_by_one_thread/{thread}/iterations:10/threads:4"][0]
            wanted = "at most 0.5 are allowed" if thread < 4 else ""
            message = entry.get("error_message", "")
            expect(wanted in message and (wanted == "") == (message == ""), turn, entry)
        for thread in range(4):
            entry = runs[f"kept_by_one_thread/{thread}/iterations:10/threads:4"][0]
            expect("error_occurred" not in entry and entry["live"] == 4, turn, entry)


def a_second_scope_is_an_error():
    runs = json_runs(GATED, ["two_scopes", "a_scope_in_a_scope"], code=1)
    for name in ("two_scopes", "a_scope_in_a_scope"):
        entry = runs[f"{name}/iterations:10"][0]
        expect("the second benchmark_scope in one run" in entry.get("error_message", ""), entry)


def the_evidence_is_where_the_message_says():
    for names, program, files in ((["within_budget/too_many", "within_budget/kept"], GATED, 1),
                                  (["within_budget/too_large"], GATED, 1),  # of three repetitions
                                  (["leaks_often"], GATED, 1), (["leaks_often"], OWN_MAIN, 1),
                                  (["fails_itself"], OWN_MAIN, 0),  # of an error of its own: none
                                  (["within_budget/kept", "warms_up"], GATED, 0)):
        with tempfile.TemporaryDirectory() as folder:
            code = 0 if files == 0 or program == OWN_MAIN else 1
            text = run(program, names, f"--benchmark_out={folder}/out.json", code=code,
                       ALLOCSCOPE_EVIDENCE_DIR=f"{folder}/saved")[1]
            saved = set(re.findall(r"; saved in ([^\s']+)", text))
            there = {str(path) for path in pathlib.Path(folder).glob("saved/*")}
            expect(saved == there and len(saved) == files, names, saved, there, text)
            for path in saved:
                shown = pathlib.Path(path).read_text()
                expect("allocscope: " in shown and "cases.cpp" in shown, names, shown)
    with tempfile.NamedTemporaryFile() as no_folder:
        text = run(GATED, ["leaks_often"], code=1, ALLOCSCOPE_EVIDENCE_DIR=no_folder.name)[1]
        expect("; not saved: cannot write '" in text and "Not a directory" in text, text)


def time_by_hand_and_pauses():
    runs = json_runs(GATED, ["by_hand", "allocates_while_paused", "empty"], code=0)
    hand = runs["by_hand/iterations:50/repeats:3/manual_time"]
    expect(len(hand) == 3, runs.keys())
    for entry in hand:
        expect(ours(entry) == {"allocs/op": 1, "bytes/op": 4, "live": 0, "peak": 4}, entry)
    one = runs["allocates_while_paused/iterations:50"][0]
    expect(ours(one) == {"allocs/op": 1, "bytes/op": 51, "live": 0, "peak": 51}, one)
    text = run(GATED, ["ends_itself"], code=1)[1]
    expect("'in the middle'" in text and "leak" not in text, text)
    # A filter that fits nothing runs nothing, and says so itself.
    expect(run(GATED, ["no_such_benchmark"], code=0)[2] != "", "a filter that fits nothing")


def a_main_of_its_own():
    text = run(OWN_MAIN, ["leaks_often", "limited", "empty/"], code=0)[1]  # as without us
    expect(re.search(r"leaks_often +ERROR OCCURRED: 'allocscope: leak: still alive: 1 object",
                     text), text)
    expect(re.search(r"limited/too_many/.*at most 0 are allowed", text), text)
    expect(re.search(r"empty/.* allocs/op=0 bytes/op=0 live=0 peak=0$", text, re.M), text)
    runs = json_runs(OWN_MAIN, ["two_blocks_threads/", "empty/", "own_counters/1"], code=0,
                     WITH_MEMORY_MANAGER="1")
    fields = ("allocs_per_iter", "max_bytes_used", "total_allocated_bytes", "net_heap_growth")
    for name, values in (("two_blocks_threads/iterations:100/threads:4", (2, 56, 16 * 56, 0)),
                         ("own_counters/1/iterations:100", (1, 4, 16 * 4, 0)),
                         ("empty/iterations:1000", (0, 0, 0, 0))):
        entry = runs[name][0]
        expect(tuple(entry[field] for field in fields) == values, entry)


def without_hooks_there_is_an_error():
    text = run(WITHOUT_HOOKS, ["empty/", "without_scope"], code=1)[1]
    expect(re.search(r"empty/.*ERROR OCCURRED: 'allocscope: nothing is being recorded: the operator"
                     r" new .*#include <allocscope/define_once/", text), text)
    expect("allocs/op" not in text, text)
    run(WITHOUT_HOOKS, ["without_scope"], code=0)


def main():
    failures = 0
    for check in (an_empty_loop_is_zero, numbers_are_exact_in_every_format, leaks_fail,
                  caches_and_errors_of_others, limits_fail, budgets_fail,
                  each_is_judged_by_its_own_limits, a_limit_of_one_thread_is_for_all,
                  a_second_scope_is_an_error,
                  the_evidence_is_where_the_message_says, time_by_hand_and_pauses,
                  a_main_of_its_own,
                  without_hooks_there_is_an_error):
        try:
            check()
        except Failed as failed:
            failures += 1
            print(f"{check.__name__}: {failed}")
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

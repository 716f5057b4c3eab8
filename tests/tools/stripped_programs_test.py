"""`allocscope run` on a stripped program: its functions are called by where they begin, and a row
is not in one that only returns what malloc returned, but in its caller.

usage: stripped_programs_test.py PROGRAM COMPILER
"""
import re
import subprocess
import sys
import tempfile

from recorded_programs import WITHOUT_CXX, Recorder, compiled

# Each function is called with sizes of its own, and its name is known before it is stripped.
SOURCE = r"""
#include <csignal>
#include <cstdlib>
#include <cstring>
#define NEVER_INLINED __attribute__((noinline)) static
[[noreturn]] __attribute__((noinline, cold)) static void fail() { abort(); }
NEVER_INLINED void* checked(size_t bytes) {
    void* made = malloc(bytes);
    if (made == nullptr) fail();
    return made;
}
NEVER_INLINED void* resized(void* old, size_t bytes) {
    void* made = realloc(old, bytes);
    if (made == nullptr && bytes != 0) fail();
    return made;
}
NEVER_INLINED void* resized_or_null(void* old, size_t bytes) {
    void* made = realloc(old, bytes);
    if (((size_t)made | bytes) == 0) fail();
    return made;
}
NEVER_INLINED void* made_or_null(size_t bytes, bool may_fail) {
    void* made = malloc(bytes);
    if (may_fail && bytes > 7 && made == nullptr) fail();
    return made;
}
NEVER_INLINED void* made_or_other(size_t bytes, void* other) {
    void* made = malloc(bytes);
    if (__builtin_expect(other != nullptr, 0)) {
        asm volatile("");  // without it there is no jump
        return other;
    }
    return made;
}
NEVER_INLINED void* other_or_made(size_t bytes, void* other) {
    void* made = malloc(bytes);
    if (__builtin_expect(other != nullptr, 1)) {
        asm volatile("");
        return other;
    }
    return made;
}
NEVER_INLINED void* checked_twice(size_t bytes) {
    void* made = checked(bytes + 1);
    asm volatile("" ::: "memory");
    return made;
}
static size_t sum;
NEVER_INLINED void* counted(size_t bytes) {
    void* made = malloc(bytes);
    if (made == nullptr) fail();
    sum += bytes;
    return made;
}
NEVER_INLINED char* copied(const char* text) {
    char* made = strdup(text);
    if (made == nullptr) fail();
    return made;
}
NEVER_INLINED void* cleared(size_t bytes) {
    void* made = malloc(bytes);
    if (made == nullptr) fail();
    memset(made, 7, bytes);
    return made;
}
// One record of .eh_frame for two functions, of which the first one has a name for others.
asm(R"(
    .text
    .globl named_half
    .type named_half, @function
named_half:
    .cfi_startproc
    ret
    .size named_half, . - named_half
nameless_half:
    push %rbx
    .cfi_adjust_cfa_offset 8
    call malloc@PLT
    mov %rax, %rbx
    mov %rbx, %rax
    addq $1, calls(%rip)
    pop %rbx
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .data
calls: .quad 0
    .text
)");
extern "C" void* nameless_half(size_t) __attribute__((visibility("hidden")));
static void* volatile kept[12];
static void* volatile of_signal;
static void handle(int) { of_signal = calloc(1, 111); }
// The compiler moves the part that ends the program away from the function.
[[noreturn]] __attribute__((noinline, cold)) static void leave() { exit(0); }
static volatile size_t last_bytes = 113;
NEVER_INLINED void last(size_t bytes) {
    if (bytes == 113) {
        kept[11] = checked(bytes);
        leave();
    }
    asm volatile("" ::: "memory");
}
NEVER_INLINED void first() {
    kept[0] = checked(101);
    kept[1] = resized(nullptr, 102);
    asm volatile("" ::: "memory");
}
NEVER_INLINED void second() {
    kept[2] = checked_twice(102);
    kept[3] = counted(104);
    kept[4] = copied("a text of thirty-four characters..");
    kept[5] = cleared(106);
    kept[6] = resized_or_null(nullptr, 107);
    kept[7] = made_or_null(108, true);
    kept[8] = made_or_other(109, kept[9]);
    kept[9] = other_or_made(110, kept[9]);
    kept[10] = nameless_half(112);
    asm volatile("" ::: "memory");
}
int main() {
    first();
    second();
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    last(last_bytes);
    return 0;
}
"""
FLAGS = ("-O2", "-Wl,--export-dynamic-symbol=named_half", "-fno-optimize-sibling-calls",
         "-fcf-protection=none", *WITHOUT_CXX)
CALLERS = {101: "first", 102: "first", 103: "second", 104: "counted", 35: "second", 106: "cleared",
           107: "second", 108: "second", 109: "made_or_other", 110: "other_or_made",
           111: "handle", 112: "nameless_half", 113: "last"}


class Functions:
    """The functions of a program before it was stripped."""

    def __init__(self, program):
        listed = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True)
        found = re.findall(r"^(\w+) (\w+) [tT] (\S+)$", listed.stdout, re.MULTILINE)
        self.all = [(int(begin, 16), int(size, 16), name) for begin, size, name in found]
        self.all += [(int(begin, 16), 1 << 6, name) for begin, name in re.findall(
            r"^(\w+) t (nameless_half)$", listed.stdout, re.MULTILINE)]

    @staticmethod
    def name_in_source(name):
        """The linker's is _ZL5firstv for first()."""
        found = re.fullmatch(r"_ZL?(\d+)(.*)", name)
        return found.group(2)[:int(found.group(1))] if found else name

    def around(self, address):
        """The name and the beginning."""
        for begin, size, name in self.all:
            if begin <= address < begin + size:
                return self.name_in_source(name), begin
        return None, None

    def begin_of(self, wanted):
        found = [begin for begin, _, name in self.all
                 if self.name_in_source(name) == wanted and not name.endswith(".cold")]
        assert len(found) == 1, (wanted, found)
        return found[0]


def stripped(folder, compiler):
    program = compiled(folder, "checks", SOURCE, compiler, *FLAGS)
    functions = Functions(program)
    subprocess.run(["strip", "--strip-all", program], check=True)
    return program, functions


def rows_by_bytes(report):
    rows = {row["bytes"]: row for row in report["rows"] if row["bytes"] in CALLERS}
    assert all(row["objects"] == 1 for row in rows.values()), rows
    return rows


def test_rows_are_in_callers(recorder, program, functions):
    rows = rows_by_bytes(recorder.report([program]))
    found = {}
    for number, row in rows.items():
        assert row["file"] == "checks", row
        assert row["function"] in [frame["function"] for frame in row["frames"]], row
        found[number] = functions.around(row["offset"])[0]
    assert found == CALLERS, found


def test_functions_are_called_by_where_they_begin(recorder, program, functions):
    report = recorder.report([program])
    frames = {}
    for row in report["rows"]:
        for frame in row["frames"]:
            if frame["module"] == str(program):
                frames[frame["offset"]] = frame["function"]
    assert len(frames) > 20, frames
    for offset, function in frames.items():
        name, begin = functions.around(offset)
        if name == "nameless_half":  # a record of two functions says nothing about the second
            assert function == "", (hex(offset), function)
        elif name is not None:  # _start may have no size
            assert function == f"checks+0x{begin:x}", (name, hex(begin), function)


def test_a_signal_frame_is_no_function(recorder, program):
    """Only the kernel calls the code that a handler returns to."""
    frames = rows_by_bytes(recorder.report([program]))[111]["frames"]
    behind = 1 + next(i for i, frame in enumerate(frames) if frame["module"] == str(program))
    assert frames[behind]["function"] == "" and "libc" in frames[behind]["module"], frames


def test_calls_of_one_function_are_one(recorder, program, functions):
    saved = recorder.folder / "saved.allocscope"
    recorder.run([program], "--output", saved)
    first = f"checks+0x{functions.begin_of('first'):x}"
    groups = re.findall(rf"^203 B .* (\d+) +203 B +(\d+)  {re.escape(first)}$",
                        shown(recorder, saved, "--by", "function"), re.MULTILINE)
    assert groups == [("2", "2")], groups
    tree = shown(recorder, saved, "--tree")
    assert len(re.findall(rf" {re.escape(first)}$", tree, re.MULTILINE)) == 1, tree
    only = shown(recorder, saved, "--only", first, "--frames", "9")
    assert re.findall(r"in rows +(\d+) objects", only) == ["2"], only
    call = re.search(rf"at {re.escape(first)} \(({re.escape(str(program))}\+0x\w+)\)", only)
    assert functions.around(int(call.group(1).rsplit("+", 1)[1], 16))[0] == "first", only
    # What is behind main() is not shown, though it has no name either.
    assert "libc.so" not in only, only


def shown(recorder, saved, *options):
    done = subprocess.run([recorder.program, "show", *options, saved], capture_output=True,
                          text=True, check=True)
    return done.stdout


def test_numbers_are_library_frames(recorder, program, functions):
    inside = rows_by_bytes(recorder.report([program]))[106]["offset"]  # of cleared()
    options = []
    for pattern in (f"checks+0x{functions.begin_of('counted'):x}", f"{program}+0x{inside:x}",
                    f"hecks+0x{functions.begin_of('first'):x}"):  # is the end of no file's name
        options += ["--library-frames", pattern]
    changed = rows_by_bytes(recorder.report([program], *options))
    found = {number: functions.around(row["offset"])[0] for number, row in changed.items()}
    assert found == {**CALLERS, 104: "second", 106: "second"}, found


def test_a_number_is_the_users(recorder, program, functions):
    """Whatever other patterns say, and though the function only returns what it allocated."""
    wrapper = f"checks+0x{functions.begin_of('checked'):x}"
    for options in ([f"!{wrapper}"], [f"!{wrapper}", wrapper], [wrapper, f"!{wrapper}"]):
        options = [word for each in options for word in ("--library-frames", each)]
        rows = recorder.report([program], *options)["rows"]
        found = [row["bytes"] for row in rows if row["function"] == wrapper]
        assert found == [101 + 103 + 113], rows


def test_a_number_without_a_function_is_remarked_on(recorder, program, functions):
    """It may be that of another build. In a program that is not there, it may fit another run."""
    there = f"checks+0x{functions.begin_of('counted'):x}"
    options = []
    for pattern in (there, "checks+0xffff1", "!checks+0xffff2", "other+0xffff3"):
        options += ["--library-frames", pattern]
    done = recorder.run([program], "--output", recorder.folder / "report.json", *options)
    wanted = [f"allocscope: --library-frames {pattern} changes nothing: no frame without a name is "
              "in a function around that number"
              for pattern in ("checks+0xffff1", "!checks+0xffff2")]
    assert done.stderr.splitlines() == wanted, done.stderr


def test_a_bad_number_is_refused(recorder, program):
    for pattern in ("checks+0x", "checks+0x12g4", "+0x1234", "!+0x1234", "checks+0x" + 17 * "1"):
        done = recorder.run([program], "--library-frames", pattern, code=2)
        assert f'--library-frames is "{pattern}"; write' in done.stderr, done.stderr


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(program, folder)
        checks, functions = stripped(folder, compiler)
        test_rows_are_in_callers(recorder, checks, functions)
        test_functions_are_called_by_where_they_begin(recorder, checks, functions)
        test_a_signal_frame_is_no_function(recorder, checks)
        test_calls_of_one_function_are_one(recorder, checks, functions)
        test_numbers_are_library_frames(recorder, checks, functions)
        test_a_number_is_the_users(recorder, checks, functions)
        test_a_number_without_a_function_is_remarked_on(recorder, checks, functions)
        test_a_bad_number_is_refused(recorder, checks)


if __name__ == "__main__":
    main()

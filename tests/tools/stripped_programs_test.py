"""`allocscope run` on a stripped program: a row is not in a function without a name that only
returns what malloc returned, but in its caller.

usage: stripped_programs_test.py PROGRAM COMPILER
"""
import re
import subprocess
import sys
import tempfile

from recorded_programs import WITHOUT_CXX, Recorder, compiled

# Each function is called with sizes of its own, and its name is known before it is stripped.
SOURCE = r"""
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
static void* volatile kept[10];
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
    asm volatile("" ::: "memory");
}
int main() {
    first();
    second();
    return 0;
}
"""
FLAGS = ("-O2", "-fno-optimize-sibling-calls", "-fcf-protection=none", *WITHOUT_CXX)
CALLERS = {101: "first", 102: "first", 103: "second", 104: "counted", 35: "second", 106: "cleared",
           107: "second", 108: "second", 109: "made_or_other",
           110: "other_or_made"}


def functions_of(program):
    """(address, bytes, name) of each function."""
    listed = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True)
    found = re.findall(r"^(\w+) (\w+) [tT] (\S+)$", listed.stdout, re.MULTILINE)
    return [(int(begin, 16), int(size, 16), name) for begin, size, name in found]


def function_at(functions, address):
    """The name in the source: the linker's is _ZL5firstv for first()."""
    for begin, size, name in functions:
        if begin <= address < begin + size:
            length, rest = re.fullmatch(r"_ZL?(\d+)(.*)", name).groups()
            return rest[:int(length)]
    return None


def test_rows_are_in_callers(recorder, folder, compiler):
    program = compiled(folder, "checks", SOURCE, compiler, *FLAGS)
    functions = functions_of(program)
    subprocess.run(["strip", "--strip-all", program], check=True)
    rows = recorder.report([program])["rows"]
    found = {}
    for row in rows:
        assert row["objects"] == 1, row
        assert row["file"] == "checks" and row["function"] == "", row
        found[row["bytes"]] = function_at(functions, row["offset"])
    assert found == CALLERS, found


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        test_rows_are_in_callers(Recorder(program, folder), folder, compiler)


if __name__ == "__main__":
    main()

"""calls_of_ours.py BUILD [--complete | --list]

No function of ours calls anything that may ask the process for memory, but for the calls that
calls_of_ours.toml lists with their reasons. This is read from the relocations of the objects that
the tests are linked from, so it holds for code that no test runs, too, and for code that never
looks at a flag of ours:

- of the objects with the hooks, and of the library that `allocscope run` loads, every call;
- of the objects of the unit tests, the calls of the functions in namespace allocscope, which the
  compiler puts into sections named after them.

A template of the standard library counts as part of the function of ours that calls it. What a
function of the C library does behind its name is written in the list, and tests/no_alloc/shadow
watches it.

--complete   the list must have nothing that is not called, if everything has been built
--list       print who calls each function outside, and judge nothing
"""
import json
import pathlib
import re
import struct
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")
SYMBOLS, RELOCATIONS = 2, 4                # types of sections
SECTION_SYMBOL, FUNCTION = 3, 2            # types of symbols
# _ZN10allocscope..., and what belongs to such a function: a local class, a lambda, a guard.
OURS = re.compile(r"_ZG?V?T?h?(?:n?\d*_)?Z*N[rVKRO]*(?:10allocscope|16allocscope_tools)"
                  r"|allocscope_engine$")
STANDARD = re.compile(r"_Z(?:Z*N[rVKRO]*(?:S[tabsiod]|9__gnu_cxx)|St|[nd][wal])")
# Operator new and delete, which the hooks define in the same object, but not the placement forms.
OPERATOR = re.compile(r"_Z(?:n[wa]m|d[la]Pv)(?!S_$|Pv\b)")
# Constants, tables of types, and references that live as long as their scope.
NO_CALL = re.compile(r"\.L|_GLOBAL_OFFSET_TABLE_$|DW\.ref\.|_ZT[ISV]|_ZGR")
NAMED_SECTION = re.compile(r"\.text(?:\.\w+)?\.(_Z.*)")


def text_at(data, offset):
    return data[offset:data.index(b"\0", offset)].decode()


class object_file:
    """Which symbols each function of a relocatable ELF file mentions."""

    def __init__(self, path):
        self.data = path.read_bytes()
        if self.data[:6] != b"\x7fELF\x02\x01":
            sys.exit(f"{path} is not an ELF object of 64 bits: was it compiled with -flto?")
        begin, = struct.unpack_from("<Q", self.data, 40)
        count, names = struct.unpack_from("<HH", self.data, 60)
        first = SECTION_HEADER.unpack_from(self.data, begin)
        count, names = count or first[5], first[6] if names == 0xffff else names
        self.sections = [SECTION_HEADER.unpack_from(self.data, begin + 64 * i)
                         for i in range(count)]
        texts = self.sections[names][4]
        self.section_names = [text_at(self.data, texts + each[0]) for each in self.sections]
        table = next(each for each in self.sections if each[1] == SYMBOLS)
        self.symbols = list(SYMBOL.iter_unpack(self.part(table)))
        self.texts_of_symbols = self.sections[table[6]][4]
        self.names = {}

    def part(self, section):
        return self.data[section[4]:section[4] + section[5]]

    def name(self, symbol):
        if symbol not in self.names:
            self.names[symbol] = text_at(self.data, self.texts_of_symbols + self.symbols[symbol][0])
        return self.names[symbol]

    def functions_in(self, section):
        """For a section with many functions: their ends, in order, with their names."""
        return sorted((each[4] + each[5], self.name(number))
                      for number, each in enumerate(self.symbols)
                      if each[3] == section and each[1] & 15 == FUNCTION)

    def calls(self, whole):
        """(caller, callee, whether the callee is defined here) for each mention. `whole`: also for
        functions and data that have no section of their own."""
        for section in self.sections:
            kind, target = section[1], section[7]
            if kind != RELOCATIONS:
                continue
            name = self.section_names[target]
            named = NAMED_SECTION.fullmatch(name)
            if not named and not (whole and name.startswith((".text", ".data", ".init_array"))):
                continue
            inside = self.functions_in(target) if not named else []
            for offset, info, _ in RELOCATION.iter_unpack(self.part(section)):
                if self.symbols[info >> 32][1] & 15 == SECTION_SYMBOL:
                    continue
                caller = named.group(1) if named else next(
                    (each for end, each in inside if offset < end), name)
                yield caller, self.name(info >> 32), self.symbols[info >> 32][3] != 0


def objects_of(build):
    """[(path, whether all of it is ours)] of what has been compiled, and whether that is all."""
    found, is_complete = [], True
    for each in json.loads((build / "compile_commands.json").read_text()):
        output = re.search(r" -o (\S+\.o) ", each["command"])
        if output is None:
            continue
        path = build / output.group(1)
        is_all_ours = re.search(r"allocscope_test(_malloc)?_hooks\.dir|/allocscope_preload\.dir",
                                str(path)) is not None
        if is_all_ours or re.search(r"/unit_\w+\.dir/", str(path)):
            is_complete = is_complete and path.exists()
            if path.exists():
                found.append((path, is_all_ours))
    return found, is_complete


def outside_calls(path, whole):
    """{(function of ours, function outside)}, with templates of the library between them."""
    callees, library, callbacks = {}, set(), set()
    for caller, callee, is_here in object_file(path).calls(whole):
        callees.setdefault(caller, set()).add(callee)
        if is_here and not OPERATOR.match(callee):
            if STANDARD.match(callee):
                library.add(callee)
            elif not whole:
                callbacks.add(callee)  # the test's own
    found = set()
    for caller in callees:
        if not (OURS.match(caller) or whole and not STANDARD.match(caller)):
            continue
        waiting, seen = [caller], {caller}
        while waiting:
            for callee in callees.get(waiting.pop(), set()) - seen:
                seen.add(callee)
                if callee in library:
                    waiting.append(callee)
                elif not (OURS.match(callee) or NO_CALL.match(callee) or callee in callbacks):
                    found.add((caller, callee))
    return found


def readable(name):
    """The name of a function as people write it, without namespace, parameters and templates."""
    begin = re.match(r"(?:\.[a-z.]+\.)?_ZG?V?T?h?(?:n?\d*_)?Z*[NL]?[rVKRO]*", name)
    if not begin:
        return name.removeprefix("__isoc23_")  # strtoull, where C23 has changed what it reads
    if OPERATOR.match(name):
        return "operator new" if name[2] == "n" else "operator delete"
    at, parts = begin.end(), []
    for short, long in (("St", "std"), ("So", "std::ostream"), ("Sa", "std::allocator")):
        if name.startswith(short, at):
            at, parts = at + 2, [long]
    while length := re.match(r"\d+", name[at:]):
        at += length.end() + int(length.group())
        parts.append(name[at - int(length.group()):at])
    if parts[:1] == ["allocscope"]:
        parts = [each for each in parts[2:] if each != "detail"]
    return "::".join(parts) or name


class call_list:
    """calls_of_ours.toml."""

    def __init__(self):
        self.groups = tomllib.loads((HERE / "calls_of_ours.toml").read_text())["calls"]
        self.used = set()

    def allows(self, callee, caller):
        for number, group in enumerate(self.groups):
            if callee in group["to"] and ("by" not in group or caller in group["by"]):
                self.used.add((number, callee))
                return True
        return False

    def unused(self):
        return [f"{name}: {group['why']}" for number, group in enumerate(self.groups)
                for name in group["to"]
                if "unused" not in group and (number, name) not in self.used]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    objects, is_complete = objects_of(pathlib.Path(sys.argv[1]))
    if not any(whole for _, whole in objects):
        sys.exit("no object with the hooks: has the build ended?")
    pairs = {(readable(callee), readable(caller))
             for path, whole in objects for caller, callee in outside_calls(path, whole)}
    if "--list" in sys.argv:
        for callee in sorted({callee for callee, _ in pairs}):
            print(callee, "<-", ", ".join(sorted(by for to, by in pairs if to == callee)))
        return
    calls = call_list()
    problems = [f"{caller} calls {callee}" for callee, caller in sorted(pairs)
                if not calls.allows(callee, caller)]
    if problems:
        sys.exit("Functions of ours call what may ask the process for memory. Take pages "
                 "(plain/arena.hpp, platform/page_memory.hpp),\nor give the reason in "
                 "calls_of_ours.toml:\n  " + "\n  ".join(problems))
    if "--complete" in sys.argv and is_complete and calls.unused():
        sys.exit("calls_of_ours.toml lists what is not called any more:\n  "
                 + "\n  ".join(calls.unused()))
    print(f"{len(pairs)} calls out of {len(objects)} objects, each of them listed")


if __name__ == "__main__":
    main()

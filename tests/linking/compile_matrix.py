"""The doors, the hooks and the adapters compile without a warning wherever they are promised to.

Compilers x language versions x the options that take language features away x standard libraries.
Besides the two usual compilers these are the oldest and the newest ones that Debian 12 has, each
where it is installed. One program of each standard library is also run. The oldest compiler is
tried with the oldest language version, the others with the newest, and the newest compiler with
both; C++20, in which the preset clang builds its programs, and all pairs are tried in a soak.
"""
import itertools
import os
import pathlib
import shutil

from toolchain import LIBRARIES, SOURCES, WARNINGS, bench, check_all, expect_in, run

DOOR = "use_everything.cpp"
EVERY_DOOR = "every_door.cpp"
HOOKS = "hooks.cpp"
QUICK_START = SOURCES.parents[1] / "examples" / "01_quick_start.cpp"
OTHER_COMPILERS = ["g++-11", "clang++-16", "clang++-19"]
NEWEST = "clang++-19"
IS_SOAK = "ALLOCSCOPE_TEST_SOAK" in os.environ
# g++ 12 crashes at many headers in a module.
WITH_MODULES = ["clang++-16", NEWEST] if IS_SOAK else [NEWEST]
STANDARDS = ["c++17", "c++2b"]
if IS_SOAK:
    STANDARDS.insert(1, "c++20")
WITHOUT = ["-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]
LIBCXX = ["-stdlib=libc++"]
# What projects ask for that are stricter than -Wall -Wextra.
STRICT_OF_GCC = [
    "-Warith-conversion", "-Wcast-align", "-Wcast-qual", "-Wctor-dtor-privacy", "-Wdate-time",
    "-Wdouble-promotion", "-Wduplicated-branches", "-Wduplicated-cond", "-Wextra-semi",
    "-Wfloat-equal", "-Wformat-signedness", "-Wformat=2", "-Wlogical-op", "-Wmismatched-tags",
    "-Wmissing-declarations", "-Wnoexcept", "-Wnon-virtual-dtor", "-Wold-style-cast",
    "-Woverloaded-virtual", "-Wredundant-decls", "-Wsign-conversion", "-Wsign-promo",
    "-Wsuggest-override",
    "-Wswitch-enum", "-Wundef", "-Wunused-macros", "-Wuseless-cast",
    "-Wzero-as-null-pointer-constant"]
# All that clang can say, but for what no C++17 program with pointers to structures could avoid, ...
EVERYTHING = ["-Weverything", "-Wno-c++98-compat", "-Wno-c++98-compat-pedantic", "-Wno-padded",
              "-Wno-unknown-warning-option", "-Wno-unsafe-buffer-usage"]
# ... and what a library of headers that hooks malloc could not. The last three are those of newer
# releases: one contradicts -Wcovered-switch-default, the second does not want each module to have a
# state of its own, and the third says where a result is moved.
OF_HEADERS = [
    "-Wno-weak-vtables", "-Wno-global-constructors", "-Wno-exit-time-destructors",
    "-Wno-reserved-identifier", "-Wno-undefined-reinterpret-cast", "-Wno-missing-noreturn",
    "-Wno-covered-switch-default", "-Wno-suggest-destructor-override",
    "-Wno-switch-default", "-Wno-unique-object-duplication", "-Wno-nrvo"]
# What does not change what the headers mean, but what they are compiled to.
ODD_FLAGS = ["-funsigned-char", "-ffast-math", "-fvisibility=hidden", "-D_FILE_OFFSET_BITS=64",
             "-D_GLIBCXX_ASSERTIONS", "-D_GLIBCXX_DEBUG"]

# What programs define before they include our headers.
NOTHING = "a macro of the program"  # an error where it is expanded
MACROS_OF_OTHERS = {
    # windows.h, and C
    "min(a, b)": "((a) < (b) ? (a) : (b))", "max(a, b)": "((a) > (b) ? (a) : (b))",
    "IN": "", "OUT": "", "OPTIONAL": "", "TRUE": "1", "FALSE": "0", "ERROR": "0", "DELETE": "5",
    "DIFFERENCE": "11", "ABSOLUTE": "1", "TRANSPARENT": "1", "interface": "struct",
    # X11
    "None": "0L", "Bool": "int", "Status": "int", "Success": "0", "Always": "2", "Complex": "0",
    "True": "1", "False": "0",
    # Qt
    "slots": "", "signals": "public", "emit": "", "foreach": NOTHING, "forever": "for (;;)",
    # kernels and firmware
    "noinline": "__attribute__((noinline))", "cold": "__attribute__((cold))",
    "always_inline": "inline __attribute__((always_inline))",
    "pure": "__attribute__((pure))", "unused": "__attribute__((unused))",
    "packed": "__attribute__((packed))", "aligned(bytes)": "__attribute__((aligned(bytes)))",
    "alias(name)": "__attribute__((alias(#name)))", "visibility(how)": NOTHING,
    # tests and tools
    "check(...)": NOTHING, "EXPECT(...)": NOTHING, "debug(...)": NOTHING, "window": "main_window",
    "verify(...)": NOTHING, "require(...)": NOTHING, "assert(...)": NOTHING,
    "U(text)": NOTHING, "_(text)": NOTHING, "index(text, character)": NOTHING, "I": NOTHING,
    "major(device)": NOTHING, "minor(device)": NOTHING, "near": "", "far": "", "small": "char",
    "unix": "1", "linux": "1",
    "likely(x)": "__builtin_expect(!!(x), 1)", "unlikely(x)": "__builtin_expect(!!(x), 0)",
    "VERSION": '"1.0"', "PAGE_SIZE": "4096", "BLOCK_SIZE": "512",
}


# Debian installs the headers of one libc++ at a time. test.cmake unpacks those of others here, as
# they are in the package; without them clang++-19 is tried with libstdc++ alone.
UNPACKED = os.environ.get("ALLOCSCOPE_UNPACKED_PACKAGES", "")


def unpacked_libcxx(compiler):
    """The flags for a libc++ of the compiler's own version; None when there is none."""
    version = compiler.rpartition("-")[2]
    folder = pathlib.Path(UNPACKED, "usr", "lib", f"llvm-{version}", "include", "c++", "v1")
    return [f"-stdlib++-isystem{folder}"] if UNPACKED and folder.is_dir() else None


def strict(compiler):
    return EVERYTHING + OF_HEADERS if "clang" in compiler else STRICT_OF_GCC


def check_syntax(tools, compiler, standard, flags, sources):
    for name in sources:
        run([compiler, f"-std={standard}", "-O2", "-fsyntax-only", *WARNINGS, *strict(compiler),
             *flags, f"-I{tools.include}", SOURCES / name], timeout=600)


def check_program(tools, compiler, standard, flags, source=SOURCES / EVERY_DOOR,
                  what=("-fsyntax-only",)):
    """A program with the hooks, behind every door there is."""
    doors = [f"-include{door}" for door in sorted((tools.include / "allocscope").glob("*.hpp"))]
    for each, before in ((SOURCES / DOOR, []), (source, doors)):
        run([compiler, f"-std={standard}", "-O2", *what, *WARNINGS, *strict(compiler), *flags,
             *before, f"-I{tools.include}", each], timeout=600)


def check_code(tools, compiler):
    # Some warnings are given only where code is made. -g: clang++ 14 crashes at a function that
    # has no debug information but was called before that could be known (base/compiler.hpp).
    check_program(tools, compiler, "c++17", [], QUICK_START,
                  ("-O0", "-g", "-c", "-o", "/dev/null"))


def check_fortified(tools, compiler):
    # Some distributions define it for every program. The C library then has errors that are given
    # only where code is made, and linking/flags_and_linkers sees only those of the hooks.
    run([compiler, "-std=c++17", "-O2", "-D_FORTIFY_SOURCE=3", "-Wnull-dereference", *WARNINGS,
         f"-I{tools.include}", "-c", SOURCES / "written_report.cpp", "-o", "/dev/null"],
        timeout=600)


def check_everything(tools, compiler):
    # Compiled: -fsyntax-only leaves out what is seen only where code is made.
    run([compiler, "-std=c++17", "-O2", "-Werror", *EVERYTHING, f"-I{tools.include}", "-c",
         SOURCES / DOOR, "-o", "/dev/null"], timeout=600)


def check_macros(tools, compiler):
    folder = tools.folder(f"macros {compiler}")
    lines = [f"#undef {name.partition('(')[0]}\n#define {name} {text}\n"
             for name, text in MACROS_OF_OTHERS.items()]
    (folder / "macros_of_others.hpp").write_text("".join(lines), encoding="utf-8")
    for standard in STANDARDS if IS_SOAK else ["c++17"]:
        run([compiler, f"-std={standard}", "-fsyntax-only", *WARNINGS, f"-I{tools.include}",
             f"-I{folder}", SOURCES / "under_macros.cpp"], timeout=600)


def check_libcxx_runs(tools, compiler):
    if not tools.can_link(compiler, *LIBCXX):
        return "skipped: libc++ is not installed (Debian: libc++-14-dev libc++abi-14-dev)"
    flags = ["-O0", "-g", *WARNINGS, *LIBCXX]
    program = tools.link(compiler, tools.folder("libcxx") / "probe", *LIBCXX,
                         tools.compile(compiler, "probe.cpp", *flags))
    output = run([program]).stdout
    expect_in("not recording: \"\"\n", output)
    expect_in("seen 1008 allocations, 1001 frees, 7 live, 7 in rows\n", output)
    return "ran"


def check_runs_without(tools, compiler):
    flags = ["-O0", "-g", *WITHOUT, *WARNINGS, *strict(compiler)]
    program = tools.link(compiler, tools.folder(f"bare {compiler}") / "probe",
                         tools.compile(compiler, "probe.cpp", *flags), *LIBRARIES)
    output = run([program]).stdout
    expect_in("seen 1008 allocations, 1001 frees, 7 live, 7 in rows\n", output)
    expect_in("\n0 pairs were removed", output)  # it is not optimised


def check_module(tools, compiler):
    """The doors behind a global module fragment: an `inline` or `static` that a module may not
    export, or another entity than an #include of the same header gives, is an error there."""
    folder = tools.folder(f"module {compiler}")
    flags = ["-std=c++20", "-O1", *WARNINGS, f"-I{tools.include}"]
    interface = folder / "in_a_module.pcm"
    run([compiler, *flags, "--precompile", SOURCES / "in_a_module.cppm", "-o", interface])
    run([compiler, "-std=c++20", "-c", interface, "-o", folder / "in_a_module.o"])
    hooks = tools.hooks(tools.compilers[0])
    for name, more in (("imports", []), ("includes_too", ["-DINCLUDES_TOO"])):
        run([compiler, *flags, *more, f"-fmodule-file=in_a_module={interface}", "-c",
             SOURCES / "module_user.cpp", "-o", folder / f"{name}.o"])
        program = tools.link(compiler, folder / name, folder / f"{name}.o",
                             folder / "in_a_module.o", hooks, *LIBRARIES)
        expect_in("1 inside, 1 alive, shown\n", run([program]).stdout)


def check_header_units(tools, compiler):
    """The two doors of a first program, imported. g++ 12 crashes at larger ones."""
    if tools.include.name == "single_include":
        return "skipped: its doors are parts of one file, which a header unit reads once"
    folder = tools.folder(f"header units {compiler}")
    command = [compiler, "-std=c++20", "-fmodules-ts", f"-I{tools.include}"]
    doors = ["allocscope/allocscope.hpp", "allocscope/report.hpp"]
    for door in doors:
        run([*command, "-x", "c++-system-header", door], cwd=folder)
    source = folder / "imports.cpp"
    source.write_text("".join(f"import <{door}>;\n" for door in doors) + """
        #include <iostream>
        int main() {
            const allocscope::scope window{"imported"};
            allocscope::write_text(window.stats(), std::cout);
        }""", encoding="ascii")
    run([*command, "-c", source, "-o", "/dev/null"], cwd=folder)


def versions_with(compiler, libraries):
    """In a soak each language version with each standard library. Otherwise the newest compiler has
    both versions, each with one of the libraries, and the others that which is furthest from it."""
    if IS_SOAK:
        return list(itertools.product(STANDARDS, libraries))
    if compiler == OTHER_COMPILERS[0]:
        return [(STANDARDS[0], libraries[0])]
    versions = STANDARDS if compiler == NEWEST else STANDARDS[-1:]
    return list(zip(versions, itertools.cycle(reversed(libraries))))


def main():
    tools = bench()
    cases = []
    for compiler in filter(shutil.which, OTHER_COMPILERS):
        libraries = [[]] + [flags for flags in [unpacked_libcxx(compiler)] if flags]
        for standard, flags in versions_with(compiler, libraries):
            cases.append((f"{compiler} {standard}{' with libc++' if flags else ''}",
                          lambda c=compiler, s=standard, f=flags: check_program(tools, c, s, f)))
        if compiler in WITH_MODULES:
            cases.append((f"{compiler}, in a module", lambda c=compiler: check_module(tools, c)))
        if compiler == NEWEST:
            cases.append((f"{compiler}, compiled", lambda c=compiler: check_code(tools, c)))
            if IS_SOAK:
                cases.append((f"{compiler}, odd flags",
                              lambda c=compiler: check_program(tools, c, "gnu++17", ODD_FLAGS)))
    for compiler in tools.compilers:
        # Every program of ours is compiled with the oldest one, under the plain flags.
        combinations = [(standard, [], [DOOR, HOOKS]) for standard in STANDARDS[1:]]
        # The hooks take long to compile: with one option alone they would say what all together
        # say.
        combinations += [("c++17", [flag], [DOOR]) for flag in WITHOUT]
        if "clang" in compiler:
            # The preset clang compiles its programs so, but with fewer warnings.
            if IS_SOAK:
                cases.append((f"{compiler}, compiled", lambda c=compiler: check_code(tools, c)))
            cases.append((f"{compiler} with libc++",
                          lambda c=compiler: check_libcxx_runs(tools, c)))
            cases.append((f"{compiler} -Weverything",
                          lambda c=compiler: check_everything(tools, c)))
            # What a macro breaks does not depend on the compiler.
            cases.append((f"{compiler} under macros of others",
                          lambda c=compiler: check_macros(tools, c)))
            if tools.can_link(compiler, *LIBCXX):
                tried = STANDARDS if IS_SOAK else STANDARDS[:1]
                combinations += [(standard, LIBCXX, [DOOR]) for standard in tried]
        else:
            cases.append((f"{compiler}, header units",
                          lambda c=compiler: check_header_units(tools, c)))
            cases.append((f"{compiler}, odd flags",
                          lambda c=compiler: check_program(tools, c, "gnu++17", ODD_FLAGS)))
            cases.append((f"{compiler} with _FORTIFY_SOURCE and -Wnull-dereference",
                          lambda c=compiler: check_fortified(tools, c)))
        for standard, flags, sources in combinations:
            cases.append((f"{compiler} {standard} {' '.join(flags)}",
                          lambda c=compiler, s=standard, f=flags, names=sources:
                          check_syntax(tools, c, s, f, names)))
        cases.append((f"{compiler} without exceptions and the like, run",
                      lambda c=compiler: check_runs_without(tools, c)))
    check_all(cases)


if __name__ == "__main__":
    main()

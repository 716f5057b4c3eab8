"""Several copies of the headers in one process are one recorder.

An executable with the hooks and two plugins loaded RTLD_LOCAL, each opening its own window: every
window sees what all three allocate and free, and what the pools of all three report, once. And a
plugin that was used so is really gone after dlclose. Sixteen builds: each compiler, with default
and hidden visibility, with and without -rdynamic, and the modules alike or mixed: then one plugin
comes from the other compiler, and the other one brings hooks of its own.
"""
import itertools

from toolchain import SOURCES, WARNINGS, bench, check_all, expect, expect_in, failure, run

BLOCKS = 10 + 20 + 30
BYTES = 10 * 100 + 20 * 10 + 30 * 1
POOLED = 3 * BLOCKS  # bytes


def rows_by_file(output, title):
    begin = output.index(f"{title}:\n")
    rows = output[begin:output.index("end of rows", begin)].splitlines()[1:]
    objects = {}
    for row in rows:
        count, place = row.split(maxsplit=1)
        name = place.split(":")[0].split("/")[-1]
        objects[name] = objects.get(name, 0) + int(count)
    return objects, rows


def check_output(output):
    for module in range(3):
        window = f"window of module {module}:"
        expect_in(f"full: {window} {BLOCKS} allocations, 0 frees, {BYTES} bytes, 0 freed\n", output)
        expect_in(f"drained: {window} {BLOCKS} allocations, {BLOCKS} frees, {BYTES} bytes,"
                  f" {BYTES} freed\n", output)
        expect_in(f"module {module} not recording: \"\"", output)
        expect(rows_by_file(output, f"rows of module {module}")[0],
               {"plugin.cpp": 50, "host.cpp": 10},
               f"objects by file in the rows of module {module}")
        expect_in(f"module {module} reports: \"\", to the one engine\n", output)
        expect_in(f"reported: {window} {2 * BLOCKS} allocations, {BLOCKS} frees,"
                  f" {BYTES + POOLED} bytes, {BYTES} freed\n", output)
        expect_in(f"settled: {window} {2 * BLOCKS} allocations, {2 * BLOCKS} frees,"
                  f" {BYTES + POOLED} bytes, {BYTES + POOLED} freed\n", output)
    by_file, rows = rows_by_file(output, "pools of module 0")
    expect(by_file, {"plugin.cpp": 50, "host.cpp": 10}, "objects of pools by file")
    for row in rows:
        if not row.endswith("pooled"):
            raise failure(f"an object of a pool has lost its type: {row}")
    settled = output[output.index("settled:"):]
    expect_in(f'family "operator new": {BLOCKS} allocations, {BLOCKS} frees\n', settled)
    expect_in('family "host pool": 10 allocations, 10 frees\n', settled)
    expect_in('family "plugin pool": 50 allocations, 50 frees\n', settled)
    expect_in(f"unloaded: window of module 0: {2 * BLOCKS + 2} allocations, {2 * BLOCKS} frees,",
              output)
    # The name of the pool lay in the plugin, and so did the code of the two that are left.
    unloaded = output[output.index("unloaded:"):]
    expect_in('family "plugin pool": 51 allocations, 50 frees\n', unloaded)
    expect(rows_by_file(output, "rows of what is left")[0], {"plugin.cpp": 2}, "what is left")
    expect_in(f"end: window of module 0: {2 * BLOCKS + 2} allocations, {2 * BLOCKS + 2} frees,",
              output)
    for plugin in (1, 2):
        if f"plugin {plugin} is unloaded" not in output:
            raise failure(f"plugin {plugin} is still mapped after dlclose:\n{output}")


def check(tools, compiler, visibility, exporting, are_mixed):
    folder = tools.folder(f"share {compiler} {visibility} {exporting} {are_mixed}")
    flags = ["-O2", "-g", "-fno-omit-frame-pointer", f"-fvisibility={visibility}", *WARNINGS]
    host = tools.link(compiler, folder / "host", tools.compile(compiler, "host.cpp", *flags),
                      tools.hooks(compiler), *exporting)
    other = next((each for each in tools.compilers if each != compiler), compiler)
    plugins = []
    for name in ("one", "two"):
        used = other if are_mixed and name == "one" else compiler
        more = [tools.hooks(compiler)] if are_mixed and name == "two" else []
        plugins.append(tools.link(used, folder / f"plugin_{name}.so", "-shared",
                                  tools.compile(used, "plugin.cpp", *flags, "-fPIC"), *more))
    for plugin in plugins:
        symbols = run(["nm", "--dynamic", "--demangle", plugin]).stdout.splitlines()
        unique = [line for line in symbols if " u " in line]
        if unique:
            raise failure(f"{plugin} would stay mapped after dlclose: these are unique in the"
                          " process, one line each:\n" + "\n".join(unique))
    check_output(run([host, *plugins], cwd=SOURCES).stdout)


def main():
    tools = bench()
    cases = []
    for compiler, visibility, exporting, are_mixed in itertools.product(
            tools.compilers, ("default", "hidden"), ([], ["-rdynamic"]), (False, True)):
        def case(c=compiler, v=visibility, e=exporting, m=are_mixed):
            return check(tools, c, v, e, m)
        cases.append((f"{compiler}, {visibility} visibility, {exporting or 'not exported'},"
                      f" {'mixed' if are_mixed else 'alike'}", case))
    check_all(cases)


if __name__ == "__main__":
    main()

"""Several copies of the headers in one process are one recorder.

An executable with the hooks and two plugins loaded RTLD_LOCAL, each opening its own window: every
window sees what all three allocate and free, once. And a plugin that was used so is really gone
after dlclose. For each compiler, with default and hidden visibility, with and without -rdynamic.
"""
import itertools

from toolchain import SOURCES, WARNINGS, bench, check_all, expect, expect_in, failure, run

BLOCKS = 10 + 20 + 30
BYTES = 10 * 100 + 20 * 10 + 30 * 1


def rows_by_file(output, module):
    begin = output.index(f"rows of module {module}:\n")
    rows = output[begin:output.index("end of rows", begin)].splitlines()[1:]
    objects = {}
    for row in rows:
        count, place = row.split(maxsplit=1)
        name = place.split(":")[0].split("/")[-1]
        objects[name] = objects.get(name, 0) + int(count)
    return objects


def check_output(output):
    for module in range(3):
        window = f"window of module {module}:"
        expect_in(f"full: {window} {BLOCKS} allocations, 0 frees, {BYTES} bytes, 0 freed\n", output)
        expect_in(f"drained: {window} {BLOCKS} allocations, {BLOCKS} frees, {BYTES} bytes,"
                  f" {BYTES} freed\n", output)
        expect_in(f"module {module} not recording: \"\"", output)
        expect(rows_by_file(output, module), {"plugin.cpp": 50, "host.cpp": 10},
               f"objects by file in the rows of module {module}")
    expect_in(f"unloaded: window of module 0: {BLOCKS + 1} allocations, {BLOCKS} frees,", output)
    expect_in(f"end: window of module 0: {BLOCKS + 1} allocations, {BLOCKS + 1} frees,", output)
    for plugin in (1, 2):
        if f"plugin {plugin} is unloaded" not in output:
            raise failure(f"plugin {plugin} is still mapped after dlclose:\n{output}")


def check(tools, compiler, visibility, exporting):
    folder = tools.folder(f"share {compiler} {visibility} {exporting}")
    flags = ["-O2", "-g", "-fno-omit-frame-pointer", f"-fvisibility={visibility}", *WARNINGS]
    host = tools.link(compiler, folder / "host", tools.compile(compiler, "host.cpp", *flags),
                      tools.hooks(compiler), *exporting)
    plugin_object = tools.compile(compiler, "plugin.cpp", *flags, "-fPIC")
    plugins = [tools.link(compiler, folder / f"plugin_{name}.so", "-shared", plugin_object)
               for name in ("one", "two")]
    check_output(run([host, *plugins], cwd=SOURCES).stdout)


def main():
    tools = bench()
    cases = []
    for compiler, visibility, exporting in itertools.product(
            tools.compilers, ("default", "hidden"), ([], ["-rdynamic"])):
        def case(compiler=compiler, visibility=visibility, exporting=exporting):
            return check(tools, compiler, visibility, exporting)
        cases.append((f"{compiler}, {visibility} visibility, {exporting or 'not exported'}", case))
    check_all(cases)


if __name__ == "__main__":
    main()

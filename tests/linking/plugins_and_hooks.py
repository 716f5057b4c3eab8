"""Who has the hooks? Nobody, the plugin, both, or an executable of another version.

Whatever is not recorded must be said in a sentence, and nothing may crash.
"""
import re

from toolchain import WARNINGS, bench, check_all, expect_in, failure, run

FLAGS = ["-O1", "-g", "-fno-omit-frame-pointer", *WARNINGS]
NOT_REPLACED = ("nothing is being recorded: the operator new that is called here is not"
                " allocscope's")
OTHER_VERSION = "was built with another version of allocscope"
# Included before everything else: the plugin then believes to be of another version.
OTHER_ABI = """#include <allocscope/config.hpp>
#include <allocscope/version.hpp>
#undef ALLOCSCOPE_ABI_VERSION
#define ALLOCSCOPE_ABI_VERSION 999
#undef ALLOCSCOPE_NAMESPACE_BEGIN
#define ALLOCSCOPE_NAMESPACE_BEGIN namespace allocscope { inline namespace v999 {
"""
# ALLOCSCOPE_ABI_VERSION and the inline namespace that goes with it.
RELEASED = {"1": "v0", "2": "v1", "3": "v2", "4": "v3", "5": "v4", "6": "v5", "7": "v6", "8": "v7"}


def build(tools, compiler, folder, host_parts=(), plugin_parts=(), plugin_flags=(),
          host_flags=()):
    flags = [*FLAGS, *host_flags]
    host = tools.link(compiler, folder / "host", tools.compile(compiler, "host.cpp", *flags),
                      *host_parts)
    plugin = tools.link(compiler, folder / "plugin.so", "-shared",
                        tools.compile(compiler, "plugin.cpp", *FLAGS, "-fPIC", *plugin_flags),
                        *plugin_parts)
    return run([host, plugin]).stdout


def no_hooks_anywhere(tools, compiler):
    output = build(tools, compiler, tools.folder(f"nobody {compiler}"))
    for module in (0, 1):
        expect_in(f"module {module} not recording: \"{NOT_REPLACED}", output)
        expect_in(f"full: window of module {module}: 0 allocations, 0 frees,", output)
    expect_in("plugin 1 is unloaded", output)


def plugin_brings_hooks(tools, compiler):
    """The dynamic linker gives the plugin libstdc++'s operators: then the plugin has to say so."""
    hooks = tools.hooks(compiler)
    output = build(tools, compiler, tools.folder(f"plugin only {compiler}"), plugin_parts=[hooks])
    expect_in(f"module 0 not recording: \"{NOT_REPLACED}", output)
    recorded = "full: window of module 1: 20 allocations, 0 frees, 200 bytes" in output
    said = f"module 1 not recording: \"{NOT_REPLACED}" in output
    if not recorded and not said:
        raise failure(f"the plugin neither records nor says that it does not:\n{output}")
    return "recorded" if recorded else "said that it does not record"


def plugin_binds_its_own_hooks(tools, compiler):
    hooks = tools.hooks(compiler)
    output = build(tools, compiler, tools.folder(f"plugin symbolic {compiler}"),
                   plugin_parts=[hooks, "-Wl,-Bsymbolic"])
    expect_in("module 1 not recording: \"\"", output)
    expect_in("full: window of module 1: 20 allocations, 0 frees, 200 bytes", output)
    expect_in(f"module 0 not recording: \"{NOT_REPLACED}", output)


def threads_outlive_plugin_with_hooks(tools, compiler):
    folder = tools.folder(f"outlived {compiler}")
    host = tools.link(compiler, folder / "host",
                      tools.compile(compiler, "busy_host.cpp", *FLAGS))
    plugin = tools.link(compiler, folder / "plugin.so", "-shared", "-Wl,-Bsymbolic",
                        tools.compile(compiler, "plugin.cpp", *FLAGS, "-fPIC"),
                        tools.hooks(compiler))
    expect_in("4000 allocations, the child ended with 0\n", run([host, plugin]).stdout)


def both_bring_hooks(tools, compiler):
    """The executable's come first in the order of symbols: one recorder, everything once."""
    output = build(tools, compiler, tools.folder(f"both {compiler}"),
                   host_parts=[tools.hooks(compiler)],
                   plugin_parts=[tools.hooks(compiler)])
    for module in (0, 1):
        expect_in(f"full: window of module {module}: 30 allocations, 0 frees, 1200 bytes", output)
        expect_in(f"drained: window of module {module}: 30 allocations, 30 frees,", output)


def executable_has_its_own_libstdcxx(tools, compiler):
    """No library that it is linked with calls operator new, so the linker does not export it: the
    plugin gets libstdc++.so's, and says how to change that."""
    own = [tools.hooks(compiler), "-static-libstdc++", "-static-libgcc"]
    folder = tools.folder(f"own libstdc++ {compiler}")
    output = build(tools, compiler, folder, host_parts=own)
    expect_in("module 0 not recording: \"\"", output)
    said = output[output.index("module 1 not recording: \""):]
    expect_in(f"module 1 not recording: \"{NOT_REPLACED}", said)
    expect_in("link the executable with -rdynamic", said)
    output = build(tools, compiler, folder, host_parts=[*own, "-rdynamic"])
    for module in (0, 1):
        expect_in(f"full: window of module {module}: 30 allocations, 0 frees, 1200 bytes", output)


def other_version(tools, compiler, exporting, optimisation):
    folder = tools.folder(f"version {compiler} {exporting} {optimisation}")
    override = tools.work / "other_abi_version.hpp"
    override.write_text(OTHER_ABI)
    output = build(tools, compiler, folder, host_parts=[tools.hooks(compiler), *exporting],
                   host_flags=[optimisation],
                   plugin_flags=["-include", str(override), optimisation])
    expect_in("module 0 not recording: \"\"", output)
    expect_in("full: window of module 0: 30 allocations, 0 frees, 1200 bytes", output)
    expect_in(OTHER_VERSION, output[output.index("module 1 not recording: \""):])
    expect_in("full: window of module 1: 0 allocations, 0 frees,", output)
    # What its pools report is not recorded, and it can be asked why.
    reported = output[output.index("module 1 reports: \""):]
    expect_in(OTHER_VERSION, reported)
    expect_in('family "host pool": 10 allocations, 0 frees\n', reported)
    if "plugin pool" in reported:
        raise failure(f"a pool of another version was recorded:\n{output}")
    expect_in("plugin 1 is unloaded", output)


def number_and_namespace_change_together(tools):
    """An executable linked with -rdynamic lends its inline functions to plugins: of all with the
    same names. So functions of another layout must have other names."""
    version = (tools.include / "allocscope" / "version.hpp").read_text()
    config = (tools.include / "allocscope" / "config.hpp").read_text()
    number = re.search(r"^#define ALLOCSCOPE_ABI_VERSION (\d+)$", version, re.MULTILINE)[1]
    name = re.search(r"inline namespace (\w+)", config)[1]
    if RELEASED.get(number) != name:
        raise failure(f"ALLOCSCOPE_ABI_VERSION {number} with the inline namespace {name}: change"
                      " both together, and add the pair to RELEASED in this script")


def main():
    tools = bench()
    cases = [("number and namespace", lambda: number_and_namespace_change_together(tools))]
    for compiler in tools.compilers:
        for check in (no_hooks_anywhere, plugin_brings_hooks, plugin_binds_its_own_hooks,
                      threads_outlive_plugin_with_hooks, both_bring_hooks,
                      executable_has_its_own_libstdcxx):
            cases.append((f"{compiler}: {check.__name__.replace('_', ' ')}",
                          lambda check=check, compiler=compiler: check(tools, compiler)))
        # Not optimised and exported is the hard case: inline functions of the plugin are then
        # replaced by the executable's at run time.
        for exporting, optimisation in (([], "-O2"), (["-rdynamic"], "-O0")):
            cases.append((f"{compiler}: plugin of another version, {optimisation} {exporting}",
                          lambda c=compiler, e=exporting, o=optimisation:
                          other_version(tools, c, e, o)))
    check_all(cases)


if __name__ == "__main__":
    main()

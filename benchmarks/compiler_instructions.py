#!/usr/bin/env python3
"""How many instructions does a compiler take for the once-per-program header, and for doctest's?

    compiler_instructions.py [--include FOLDER ...]

Runs the compiler proper, without the assembler, under qemu-x86_64 (Debian: qemu-user) with a plugin
that counts, because many virtual machines have no counter. The counts of two runs differ by less
than 0.1 %, whatever else the machine does; each takes about a minute. They are not seconds: those
are in compile_time.py. Two folders after --include compare two states of the headers.
"""
import argparse
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

INCLUDE_FOLDER = pathlib.Path(__file__).resolve().parent.parent / "include"
HEADER = "#include <allocscope/define_once/operator_new_delete.hpp>\n"
DOCTEST = "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include <doctest/doctest.h>\n"
COMPILATIONS = ("g++ -O2 -g", "g++ -O0", "clang++ -O2 -g")

# The interface is declared here, because Debian has no package with qemu-plugin.h.
PLUGIN = """#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
int qemu_plugin_version = 1;
struct qemu_plugin_tb;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb*, int, void*, uint64_t);
void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void*), void*);
static uint64_t count;
static void translated(uint64_t id, struct qemu_plugin_tb* block) {
    enum { add_u64 = 0 };
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, add_u64, &count, qemu_plugin_tb_n_insns(block));
}
static void ends(uint64_t id, void* file) {
    (void)id;
    FILE* out = fopen(file, "w");
    if (out == NULL) return;
    fprintf(out, "%llu\\n", (unsigned long long)count);
    fclose(out);
}
int qemu_plugin_install(uint64_t id, const void* info, int words, char** arguments) {
    static char file[4096];
    (void)info;
    if (words != 1) return 1;
    snprintf(file, sizeof file, "%s", arguments[0] + sizeof "out=" - 1);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ends, file);
    return 0;
}
"""


class counter:
    def __init__(self, folder):
        self.folder = folder
        source = folder / "plugin.c"
        source.write_text(PLUGIN)
        self.plugin = folder / "plugin.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", self.plugin, source], check=True)

    def count(self, compilation, include, text):
        """Billions of instructions."""
        source, counted = self.folder / "source.cpp", self.folder / "count"
        source.write_text(text)
        words = [*shlex.split(compilation), "-std=c++17", f"-I{include}", "-c", str(source), "-o",
                 str(self.folder / "out.o")]
        shown = subprocess.run([*words, "-###"], capture_output=True, text=True, check=True).stderr
        proper = next(line for line in shown.splitlines() if "cc1" in line.split(" -")[0]
                      or '"-cc1"' in line)
        subprocess.run(["qemu-x86_64", "-plugin", f"{self.plugin},out={counted}",
                        *shlex.split(proper)], check=True, stderr=subprocess.DEVNULL)
        return int(counted.read_text()) / 1e9


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("--include", nargs="+", default=[str(INCLUDE_FOLDER)])
    includes = asked.parse_args().include
    if shutil.which("qemu-x86_64") is None:
        sys.exit("qemu-x86_64 is needed; Debian: apt-get install qemu-user")
    with tempfile.TemporaryDirectory() as name:
        counts = counter(pathlib.Path(name))
        columns = " | ".join(f"{include} | ratio" for include in includes)
        print(f"| compilation | doctest | {columns} |")
        print("|---|---" + "|---|---" * len(includes) + "|")
        for compilation in COMPILATIONS:
            doctest = counts.count(compilation, includes[0], DOCTEST)
            cells = [f"{doctest:.2f}"]
            for include in includes:
                header = counts.count(compilation, include, HEADER)
                cells += [f"{header:.2f}", f"{header / doctest:.2f}"]
            print(f"| {compilation} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

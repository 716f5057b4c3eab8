#!/usr/bin/env python3
"""Runs clang-tidy once over all headers: one translation unit that includes every one of them.

The integrations are left out, since they show more of their framework than of us. Prints each
warning once. Exit code 77 when clang-tidy 14 is not installed: another version has other checks.

bugprone-exception-escape says where a function that is noexcept may throw, but takes no notice of
std::bad_alloc, the one exception that most of ours throw. So the class gets another name.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from source_tree import ROOT, read_repository, room_of


def main():
    program = shutil.which("clang-tidy-14")
    if program is None:
        print("skipped: clang-tidy 14 is not installed (apt-get install clang-tidy-14)")
        return 77
    paths = [path for path, _ in read_repository().headers() if room_of(path) != "integrations"]
    with tempfile.TemporaryDirectory() as folder:
        umbrella = pathlib.Path(folder, "umbrella.cpp")
        umbrella.write_text("".join(f"#include <{path[len('include/'):]}>\n" for path in paths),
                            encoding="ascii")
        run = subprocess.run(
            [program, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", str(umbrella), "--",
             "-std=c++17", "-Dbad_alloc=no_memory", "-I", str(ROOT / "include")],
            capture_output=True, text=True)
    warnings = re.findall(r"^\S+?:\d+:\d+: (?:error|warning): .*$", run.stdout, re.M)
    for line in dict.fromkeys(warnings):
        print(line.replace(f"{ROOT}/", ""))
    if run.returncode != 0 and not warnings:
        print(run.stdout + run.stderr)
    print(f"{len(paths)} headers, {len(set(warnings))} warnings")
    return 1 if run.returncode != 0 or warnings else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compiles each header of the library as the only include of a translation unit.

    headers_alone.py --compiler g++ [--jobs N] [--public|--private] [name of a header ...]

C++17 without exceptions and RTTI, with all warnings as errors, and each header twice in a row so
that a missing guard shows. integrations/ is compiled with exceptions, and left out, with a message,
when the framework is not installed. --public: only what users include or read through a door;
--private: only the others.
"""

import argparse
import concurrent.futures
import functools
import os
import shutil
import subprocess
import sys

from source_tree import ROOT, read_repository, includes_of, room_of

PUBLIC_ROOMS = ("root", "base", "define_once", "integrations", "measure", "report", "snapshot")
FLAGS = ("-std=c++17 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
         " -x c++ -").split()
RESTRICTED = ["-fno-exceptions", "-fno-rtti"]


def compile_text(compiler, flags, text):
    return subprocess.run([compiler, "-I", str(ROOT / "include"), *flags, *FLAGS], input=text,
                          text=True, capture_output=True)


@functools.lru_cache(maxsize=None)
def is_there(compiler, name):
    command = [compiler, "-std=c++17", "-M", "-x", "c++", "-"]  # reads it, and does not compile it
    return subprocess.run(command, input=f"#include <{name}>\n", text=True,
                          capture_output=True).returncode == 0


def missing_framework(compiler, text):
    """The first header of somebody else's that this one includes and that is not installed."""
    for _, _, name, _ in includes_of(text):
        if "/" in name and not name.startswith(("allocscope/", "sys/", "bits/")):
            if not is_there(compiler, name):
                return name
    return None


def check(compiler, path, text):
    """(path, message or "", None) or (path, None, reason for skipping)."""
    name = path[len("include/"):]
    flags = RESTRICTED
    if room_of(path) == "integrations":
        flags = []
        absent = missing_framework(compiler, text)
        if absent:
            return path, None, f"<{absent}> is not installed"
    run = compile_text(compiler, flags, f"#include <{name}>\n#include <{name}>\n")
    return path, (run.stderr if run.returncode else ""), None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--public", action="store_true")
    which.add_argument("--private", action="store_true")
    parser.add_argument("names", nargs="*", help="e.g. base/bits.hpp; all when none is given")
    arguments = parser.parse_args()
    if shutil.which(arguments.compiler) is None:
        print(f"skipped: {arguments.compiler} is not installed")
        return 77
    headers = [(path, text) for path, text in read_repository().headers()
               if (not arguments.names or path.endswith(tuple(arguments.names)))
               and (room_of(path) not in PUBLIC_ROOMS or not arguments.private)
               and (room_of(path) in PUBLIC_ROOMS or not arguments.public)]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for path, message, skipped in pool.map(
                lambda header: check(arguments.compiler, *header), headers):
            if skipped:
                print(f"skipped {path}: {skipped}")
            elif message:
                failures += 1
                lines = message.split("\n")
                print(f"{path}: does not compile alone with {arguments.compiler}\n"
                      "    why: a header that needs another one first breaks when they are sorted\n"
                      "    fix: include what it uses; the compiler says:\n        "
                      + "\n        ".join(lines[:12]))
    print(f"{len(headers)} headers, {failures} failed")
    return 1 if failures or not headers else 0


if __name__ == "__main__":
    sys.exit(main())

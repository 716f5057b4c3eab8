#!/usr/bin/env python3
"""What does the first report on one place cost in a program with very much debug information?

    one_place.py [--include FOLDER] [--compiler CXX] [--flags FLAGS] [--units N] [--keep FOLDER]

Compiles one unit that uses many containers, makes N units of its assembly under other names, links
them, and prints how much debug information there is, what the report takes, and how much memory.
The other units are never called: the addresses of one of them and of its callers are named.
"""

import argparse
import contextlib
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = "unit_of_this_number"
UNIT = """#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace %(mark)s {
struct part {
    std::string name;
    std::vector<double> values;
    std::map<std::string, std::unique_ptr<part>> children;
};
std::unordered_map<std::string, std::shared_ptr<part>> known;
std::deque<std::function<int(const part&)>> rules;
std::string describe(const part& whole) {
    std::ostringstream out;
    for (const auto& child : whole.children) out << child.first << describe(*child.second);
    std::set<double> sorted{whole.values.begin(), whole.values.end()};
    for (const double value : sorted) out << value;
    return out.str();
}
int* work(const std::string& name, bool is_all) {
    int* made = new int(7);
    if (!is_all) return made;
    auto whole = std::make_shared<part>();
    whole->values.assign(name.size(), 0.5);
    whole->children[name] = std::make_unique<part>();
    std::sort(whole->values.begin(), whole->values.end());
    rules.push_back([whole](const part& other) { return int(other.values.size()); });
    known[describe(*whole)] = whole;
    std::list<std::string> names{name, describe(*whole)};
    names.sort();
    return made;
}
}
"""
MAIN = """#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <time.h>
namespace %(mark)s_%(asked)d {
int* work(const std::string&, bool);
}
static double seconds() {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) / 1e9;
}
static long kibibytes(const char* which) {
    std::ifstream status{"/proc/self/status"};
    std::string line;
    while (std::getline(status, line)) {
        const bool is_it = line.rfind(which, 0) == 0;
        if (is_it) return std::stol(line.substr(line.find_first_of("0123456789")));
    }
    return 0;
}
int main(int argc, char**) {
    std::ofstream{"/proc/self/clear_refs"} << 5;  // the highest use of memory starts anew
    const allocscope::scope window{"one place"};
    int* made = %(mark)s_%(asked)d::work("name", argc > 1);
    const long before = kibibytes("VmRSS");
    for (const char* which : {"first", "second"}) {
        const double begin = seconds();
        const allocscope::snapshot seen = window.stats();
        const double taken = seconds() - begin;
        std::printf("%%s report: %%.4f s of processor time, ", which, taken);
        std::printf("%%.1f MiB more at most, %%.1f MiB now\\n",
                    double(kibibytes("VmHWM") - before) / 1024,
                    double(kibibytes("VmRSS") - before) / 1024);
        for (const auto& row : seen) {
            std::printf("    %%s:%%d  %%s\\n", row.file, row.line, row.type);
        }
    }
    delete made;
}
"""


def debug_bytes(program):
    listed = subprocess.run(["readelf", "-SW", program], check=True, capture_output=True,
                            text=True).stdout
    found = re.findall(r"(\.debug_\w+)\s+PROGBITS\s+\w+\s+\w+\s+(\w+)", listed)
    return {name: int(size, 16) for name, size in found}


def build(folder, wanted):
    flags = wanted.flags.split()
    compiler = [wanted.compiler, "-std=c++17", *flags]
    (folder / "unit.cpp").write_text(UNIT % {"mark": MARK}, encoding="utf-8")
    subprocess.run([*compiler, "-S", "unit.cpp", "-o", "unit.s"], cwd=folder, check=True)
    assembly = (folder / "unit.s").read_text(encoding="utf-8")
    objects = []
    for number in range(wanted.units):
        name = f"{MARK}_{number}"
        # In linker names the length stands before the name.
        text = assembly.replace(f"{len(MARK)}{MARK}", f"{len(name)}{name}")
        text = re.sub(rf"\b{MARK}\b", name, text)
        (folder / "one.s").write_text(text, encoding="utf-8")
        objects.append(f"unit_{number}.o")
        subprocess.run([wanted.compiler, "-c", "one.s", "-o", objects[-1]], cwd=folder, check=True)
    (folder / "main.cpp").write_text(
        MAIN % {"mark": MARK, "asked": wanted.units // 2}, encoding="utf-8")
    subprocess.run([*compiler, "-I", wanted.include, "main.cpp", *objects, "-o", "program",
                    "-pthread"], cwd=folder, check=True)


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("--include", default=str(ROOT / "include"))
    asked.add_argument("--compiler", default="g++")
    asked.add_argument("--flags", default="-O1 -g")
    asked.add_argument("--units", type=int, default=150)
    asked.add_argument("--keep", help="a folder to build in, that stays")
    wanted = asked.parse_args()
    with contextlib.ExitStack() as until:
        folder = pathlib.Path(wanted.keep or until.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(exist_ok=True)
        build(folder, wanted)
        sections = debug_bytes(folder / "program")
        print(f"{sum(sections.values()) / 1e6:.0f} MB of debug information:",
              ", ".join(f"{name[7:]} {size / 1e6:.1f}" for name, size in sections.items()))
        sys.stdout.flush()
        return subprocess.run([folder / "program"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

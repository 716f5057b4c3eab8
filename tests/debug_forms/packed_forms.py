"""packed_forms.py COMPILER FLAGS... -- OBJECTS...

Builds six_rows.cpp once and packs its debug information in all the ways that are read: compressed,
in a file beside it, below .debug/, by build id, by checksum. Each time the rows must be the same.
A file of another program, a damaged one and one that claims to be huge must not be believed. The
files of -gsplit-dwarf may be in a package file, for programs that include debug_forms.hpp.
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).parent
SOURCE = HERE / "six_rows.cpp"


def run(*command, **others):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          timeout=600, **others)


def door_object(folder, *command):
    """Linked in, reports of the program itself read the rare forms. Compiled once for a command."""
    version = "".join(flag for flag in command if flag.startswith("-gdwarf"))
    made = folder / f"door{version}.o"
    if not made.exists():
        run(*command, "-x", "c++", "-c", "-", "-o", made,
            input=b"#include <allocscope/debug_forms.hpp>\n")
    return made


def rows_of(program, **environment):
    """The rows without those that lie in the standard library's own start-up."""
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith("DEBUGINFOD")}
    variables["HOME"] = "/nonexistent"
    variables.update(environment)
    done = run(program, text=True, env=variables)
    return sorted(done.stdout.splitlines())


def expected_rows():
    """Line and type of each statement of fill(), from the source itself."""
    types = {"all.list.resize": "int", "all.names[1]": "std::pair<const int, std::string>",
             "all.text =": "char", "all.polymorphic": "shop::shape", "all.made": "shop::plain",
             "all.simple = new": "shop::plain"}
    rows = []
    for number, line in enumerate(SOURCE.read_text(encoding="utf-8").splitlines(), 1):
        for beginning, type_ in types.items():
            if line.strip().startswith(beginning):
                rows.append(f"      1 six_rows.cpp:{number}:{type_}")
    assert len(rows) == 6
    return sorted(rows)


def section_of(program, name):
    """(offset, size) in the file."""
    for line in run("readelf", "-SW", program, text=True).stdout.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 5 and words[1] == name:
            return int(words[4], 16), int(words[5], 16)
    raise AssertionError(f"{program} has no {name}")


class forms:
    def __init__(self, folder, compiler, flags, objects):
        self.folder = folder
        self.build = [compiler, *flags, SOURCE, *objects, "-pthread", "-o"]
        self.compile = [compiler, *flags, "-gsplit-dwarf", "-c"]
        self.link = [compiler, *objects, "-pthread"]
        self.door = door_object(folder, compiler, *flags, "-O0")
        self.checked = 0
        self.whole = folder / "whole"
        run(*self.build, self.whole)
        self.wanted = expected_rows()
        self.check("in the program", rows_of(self.whole), self.wanted)
        self.stripped = self.copy("stripped")
        run("strip", "-g", self.stripped)
        self.without = rows_of(self.stripped)
        assert self.without != self.wanted

    def copy(self, name, of=None):
        path = self.folder / name
        shutil.copy(of or self.whole, path)
        return path

    def check(self, form, rows, wanted):
        self.checked += 1
        if rows != wanted:
            sys.exit(f"{form}:\n" + "\n".join(rows) + "\nbut wanted:\n" + "\n".join(wanted))

    def taken_out(self, name, of, *options):
        """The program without debug information, and the file that has it."""
        program = self.copy(name, of)
        debug = self.folder / (name + ".debug")
        run("objcopy", "--only-keep-debug", *options, program, debug)
        run("strip", "-s", program)
        run("objcopy", f"--add-gnu-debuglink={debug}", program)
        return program, debug

    def compressed(self):
        program = self.copy("compressed")
        run("objcopy", "--compress-debug-sections=zlib", program)
        self.check("compressed", rows_of(program), self.wanted)
        offset, size = section_of(program, ".debug_info")
        whole = program.read_bytes()
        # Damaged: bits turned over, and a length that nobody has room for. The packed bytes can
        # never be as many.
        for name, at, new in (("bit", offset + size // 2, bytes([whole[offset + size // 2] ^ 16])),
                              ("sum", offset + size - 1, bytes([whole[offset + size - 1] ^ 1])),
                              ("huge", offset + 8, struct.pack("<Q", 1 << 40)),
                              ("large", offset + 8, struct.pack("<Q", 900 << 20)),
                              ("kind", offset, struct.pack("<I", 7))):
            broken = self.folder / ("broken_" + name)
            broken.write_bytes(whole[:at] + new + whole[at + len(new):])
            broken.chmod(0o755)
            self.check(f"damaged: {name}", rows_of(broken), self.without)

    def beside(self):
        program, debug = self.taken_out("beside", self.whole)
        self.check("beside the program", rows_of(program), self.wanted)
        inner = self.folder / ".debug"
        inner.mkdir()
        debug.rename(inner / debug.name)
        self.check("in .debug", rows_of(program), self.wanted)
        (inner / debug.name).rename(debug)
        run("objcopy", "--compress-debug-sections=zlib", debug)
        self.check("beside the program and compressed", rows_of(program), self.wanted)
        another, its_debug = self.taken_out("another", self.other_program())
        assert rows_of(another) != self.wanted
        shutil.copy(its_debug, debug)
        bare = self.copy("bare", of=program)
        debug_of_bare = rows_of(bare)
        assert not any("six_rows.cpp:" in row for row in debug_of_bare)
        self.check("of another program", rows_of(program),
                   [row.replace("bare", "beside") for row in debug_of_bare])

    def other_program(self):
        """The same functions, two lines further down."""
        source = self.folder / "six_rows.cpp"
        source.write_text("\n\n" + SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
        program = self.folder / "other"
        run(*[source if word == SOURCE else word for word in self.build], program)
        return program

    def by_build_id(self):
        program, debug = self.taken_out("by_id", self.whole)
        notes = run("readelf", "-n", program, text=True).stdout
        build_id = notes.split("Build ID:")[1].split()[0]
        cache = self.folder / "cache"
        (cache / build_id).mkdir(parents=True)
        debug.rename(cache / build_id / "debuginfo")
        self.check("by build id", rows_of(program, DEBUGINFOD_CACHE_PATH=str(cache)), self.wanted)
        home = self.folder / "home" / ".cache"
        home.mkdir(parents=True)
        cache.rename(home / "debuginfod_client")
        self.check("by build id, at home", rows_of(program, HOME=str(home.parent)), self.wanted)

    def by_checksum(self):
        nameless = self.folder / "nameless"
        run(*self.build, nameless, "-Wl,--build-id=none")
        program, debug = self.taken_out("by_sum", nameless)
        assert zlib.crc32(debug.read_bytes()) != 0
        self.check("by checksum", rows_of(program), self.wanted)
        debug.write_bytes(debug.read_bytes() + b"x")
        assert not any("six_rows.cpp:" in row for row in rows_of(program))
        self.checked += 1


    def mapped(self):
        """-ffile-prefix-map: the sources are elsewhere, and the user says where."""
        program = self.folder / "mapped"
        run(*self.build[:-1], "-DWITHOUT_CONSTRUCTOR", f"-ffile-prefix-map={HERE}=/build/shop",
            "-o", program)
        assert rows_of(program) != self.wanted
        self.check("mapped", rows_of(program, ALLOCSCOPE_SOURCES=f"/none=/x:/build/shop={HERE}"),
                   self.wanted)
        wrong = self.folder / "wrong"
        wrong.mkdir()
        self.check("mapped to nothing",
                   rows_of(program, ALLOCSCOPE_SOURCES=f"/build/shop={wrong}"), rows_of(program))

    def split_objects(self, *flags):
        """Of the source, and of it two lines further down. Compiled once for the same flags."""
        objects = []
        for name, shift in (("split", ""), ("moved", "\n\n")):
            source = self.folder / name / "six_rows.cpp"
            objects.append(source.with_suffix(".o"))
            kept = self.folder / " ".join(["kept", name, self.compile[0], *flags])
            if not kept.exists():
                source.parent.mkdir(exist_ok=True)
                source.write_text(shift + SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
                run(*self.compile, *flags, source, "-o", objects[-1], cwd=source.parent)
                shutil.copytree(source.parent, kept)
            shutil.copytree(kept, source.parent, dirs_exist_ok=True)
        return objects

    def split(self, *flags):
        """-gsplit-dwarf: functions and types are in a .dwo file beside the object."""
        objects = self.split_objects(*flags)
        program = self.folder / "split_program"
        run(*self.link, objects[0], "-o", program)
        self.check(f"split {flags}", rows_of(program), self.wanted)
        mine, moved = (path.with_suffix(".dwo") for path in objects)
        run("objcopy", "--compress-debug-sections=zlib", mine)
        self.check(f"split and compressed {flags}", rows_of(program), self.wanted)
        mine.unlink()
        without = rows_of(program)
        assert without != self.wanted
        shutil.copy(moved, mine)
        self.check(f"split, of another program {flags}", rows_of(program), without)
        for size in (0, 100, 1000, moved.stat().st_size - 1):
            mine.write_bytes(moved.read_bytes()[:size])
            self.check(f"split and cut off {flags}", rows_of(program), without)

    def packaged(self, tool, compiler, *flags):
        """The .dwo files are in one beside the program."""
        if shutil.which(tool) is None or shutil.which(compiler) is None:
            return
        self.compile[0] = compiler
        what = f"of {compiler} {flags}, packaged by {tool}"
        package, others = (self.folder / name for name in ("packaged.dwp", "others.dwp"))
        package.unlink(missing_ok=True)
        objects = self.split_objects(*flags)
        units = [path.with_suffix(".dwo") for path in objects]
        run(tool, units[1], units[0], "-o", package)
        run(tool, units[1], "-o", others)
        units[0].unlink()
        program = self.folder / "packaged"
        for door in ([], [self.door]):
            run(*self.link, objects[0], *door, "-o", program)
            seen = rows_of(program)
            package.rename(self.folder / "kept.dwp")
            without = rows_of(program)
            (self.folder / "kept.dwp").rename(package)
            assert without != self.wanted
            self.check(f"{what}, {door}", seen, self.wanted if door else without)
        stripped, _ = self.taken_out("packaged_stripped", program)
        shutil.copy(package, self.folder / "packaged_stripped.dwp")
        self.check(f"{what}, debug information beside", rows_of(stripped), self.wanted)
        content = package.read_bytes()
        at, size = section_of(package, ".debug_cu_index")
        run("objcopy", "--compress-debug-sections=zlib", package)
        assert len(content) > package.stat().st_size
        self.check(f"{what} and compressed", rows_of(program), self.wanted)
        shutil.copy(others, package)
        self.check(f"{what}, of another program", rows_of(program), without)
        for broken in (content[:1000], content[:len(content) // 2],
                       content[:at] + bytes(size) + content[at + size:],
                       content[:at + 8] + b"\xff" * (size - 8) + content[at + size:]):
            package.write_bytes(broken)
            self.check(f"{what} and damaged", rows_of(program), without)


def main():
    compiler, *rest = sys.argv[1:]
    at = rest.index("--")
    with tempfile.TemporaryDirectory() as folder:
        tried = forms(pathlib.Path(folder), compiler, rest[:at], rest[at + 1:])
        tried.compressed()
        tried.beside()
        tried.by_build_id()
        tried.by_checksum()
        tried.mapped()
        tried.split("-gdwarf-5")
        tried.split("-gdwarf-4")
        tried.split("-gdwarf-5", "-O0")
        tried.split("-gdwarf-5", "-fdebug-types-section")
        # Neither of these tools makes a package of what g++ writes as DWARF 5.
        tried.packaged("dwp", compiler, "-gdwarf-4")
        tried.packaged("llvm-dwp-14", compiler, "-gdwarf-4")
        tried.packaged("llvm-dwp-14", "clang++", "-gdwarf-5")
        print(f"{tried.checked} forms of debug information give the rows that they should")


if __name__ == "__main__":
    main()

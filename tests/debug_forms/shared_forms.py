"""shared_forms.py FRAMES_OF COMPILER FLAGS... -- OBJECTS...

dwz moves what the debug information of several programs has in common to a supplementary file. Two
programs are treated so: rows, types and the frames of every address must stay what they were, and
the places must be those that llvm-symbolizer tells of the programs as they were linked. Where the
supplementary file is not there, is that of other programs or is damaged, what is in the program
itself must stay.
"""

import os
import pathlib
import shutil
import sys
import tempfile

from packed_forms import SOURCE, door_object, expected_rows, rows_of, run

CANNOT_RUN_HERE = 77
SYMBOLIZER = shutil.which("llvm-symbolizer-14") or shutil.which("llvm-symbolizer")


def code_of(program):
    """(address, size) of .text"""
    for line in run("readelf", "-SW", program, text=True).stdout.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 5 and words[1] == ".text":
            return int(words[3], 16), int(words[5], 16)
    raise AssertionError(f"{program} has no .text")


def frames_of(reader, program, step):
    """{address: its frames as printed}"""
    begin, size = code_of(program)
    frames = {}
    for line in run(reader, program, begin, begin + size, step, text=True).stdout.splitlines():
        if line.startswith("0x"):
            frames[line] = last = []
        else:
            last.append(line)
    return frames


def places_of(frames):
    """file:line of each frame, as addr2line writes it"""
    places = []
    for frame in frames:
        words = frame.split()
        while words[-1] in ("inlined", "nearby"):
            words.pop()
        file, line, _ = words[-1].rsplit(":", 2)
        places.append(f"{os.path.normpath(file)}:{line}")
    return places


def symbolizer(program, addresses):
    """{address: [file:line, ...]} by llvm-symbolizer"""
    told = run(SYMBOLIZER, "--obj", program, "--output-style=GNU", "--no-demangle",
               "--addresses", input="\n".join(addresses), text=True)
    places = {}
    for line in told.stdout.splitlines():
        if line.startswith("0x"):
            places[line] = last = []
        elif ":" in line:
            file, number = line.split(" (discriminator")[0].rsplit(":", 1)
            last.append(f"{os.path.normpath(file)}:{number}")
    return places


class shared:
    def __init__(self, folder, reader, compiler, flags, objects):
        self.folder = folder
        self.reader = reader
        self.compiler = compiler
        self.flags = flags
        self.objects = objects
        self.checked = 0

    def build(self, name, *flags, shift=""):
        """The program of one source, which may lie further down in its file. Compiled once for the
        same flags."""
        source = self.folder / "six_rows.cpp"
        content = shift + SOURCE.read_text(encoding="utf-8")
        if not source.exists() or source.read_text(encoding="utf-8") != content:
            source.write_text(content, encoding="utf-8")  # must not be newer than the programs
        kept = self.folder / " ".join(["kept", *flags, f"{len(shift)} lines down"])
        if not kept.exists():
            form = [flag for flag in flags if flag.startswith("-g")]
            door = door_object(self.folder, self.compiler, *self.flags, *form)
            run(self.compiler, *self.flags, *flags, source, door, *self.objects, "-pthread", "-o",
                kept)
        return pathlib.Path(shutil.copy(kept, self.folder / name))

    def check(self, what, seen, wanted):
        self.checked += 1
        if seen != wanted:
            sys.exit(f"{what}:\n" + "\n".join(seen) + "\nbut wanted:\n" + "\n".join(wanted))

    def check_frames(self, what, whole, packed):
        before = frames_of(self.reader, whole, 3)
        after = frames_of(self.reader, packed, 3)
        assert len(before) > 10000
        self.checked += len(before)
        if after != before:
            for address, frames in before.items():
                self.check(f"{what}, at {address}", after.get(address, ["nothing"]), frames)
            sys.exit(f"{what}: {len(after)} addresses, not {len(before)}")
        # A line close by, or none: llvm-symbolizer writes something else.
        addresses = [address for address, frames in after.items()
                     if frames and not any("nearby" in frame or ":0:" in frame for frame in frames)]
        lines = {address: places_of(after[address]) for address in addresses[::7]}
        told = symbolizer(whole, lines)
        assert len(told) > 3000
        differing = [address for address, places in told.items() if lines[address] != places]
        if differing:
            first = differing[0]
            sys.exit(f"{what}: {len(differing)} of {len(told)} addresses are not where"
                     f" llvm-symbolizer says; {first} is {lines[first]}, not {told[first]}")
        self.checked += len(told)

    def supplement(self, folder, *options):
        """Copies of both programs, and the file that dwz makes of what they share."""
        folder = self.folder / folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        programs = [shutil.copy(self.folder / name, folder) for name in ("one", "two")]
        common = folder / "common.debug"
        run("dwz", *options, "-m", common, "-r", *programs)
        return folder / "one", common

    def in_supplement(self, form, *options):
        what = " ".join(("dwz", *options, form))
        self.build("one", form, shift="\n\n")
        self.build("two", form, "-O1", shift="\n\n")
        _, others = self.supplement("others", *options)
        whole = self.build("one", form)
        self.build("two", form, "-O1")
        program, common = self.supplement("shared", *options)
        assert common.stat().st_size > 10000
        self.check(f"{form}, as linked", rows_of(whole), expected_rows())
        self.check(what, rows_of(program), expected_rows())
        self.check_frames(what, whole, program)
        content = common.read_bytes()
        common.unlink()
        without = rows_of(program)
        assert without != expected_rows()
        shutil.copy(others, common)
        self.check(f"{what}, of other programs", rows_of(program), without)
        for size in (0, 100, 5000, len(content) - 1):
            common.write_bytes(content[:size])
            rows_of(program)  # it ends, and ends well

    def by_build_id(self):
        """As the packages of a distribution have it."""
        self.build("one", "-gdwarf-5")
        self.build("two", "-gdwarf-5", "-O1")
        program, common = self.supplement("by_id")
        notes = run("readelf", "-n", common, text=True).stdout
        build_id = notes.split("Build ID:")[1].split()[0]
        cache = self.folder / "cache"
        (cache / build_id).mkdir(parents=True)
        common.rename(cache / build_id / "debuginfo")
        assert rows_of(program) != expected_rows()
        self.check("by build id", rows_of(program, DEBUGINFOD_CACHE_PATH=str(cache)),
                   expected_rows())
        debug = program.with_suffix(".debug")
        run("objcopy", "--only-keep-debug", program, debug)
        run("strip", "-s", program)
        run("objcopy", f"--add-gnu-debuglink={debug}", program)
        assert rows_of(program) != expected_rows()
        self.check("of debug information beside the program",
                   rows_of(program, DEBUGINFOD_CACHE_PATH=str(cache)), expected_rows())


def main():
    reader, compiler, *rest = sys.argv[1:]
    at = rest.index("--")
    if shutil.which("dwz") is None or SYMBOLIZER is None:
        print("skipped: dwz or llvm-symbolizer is not installed")
        return CANNOT_RUN_HERE
    with tempfile.TemporaryDirectory() as folder:
        tried = shared(pathlib.Path(folder), reader, compiler, rest[:at], rest[at + 1:])
        tried.in_supplement("-gdwarf-4")
        tried.in_supplement("-gdwarf-5")
        tried.in_supplement("-gdwarf-5", "--dwarf-5")
        tried.by_build_id()
        print(f"{tried.checked} rows and frames are what they are without a supplementary file")
    return 0


if __name__ == "__main__":
    sys.exit(main())

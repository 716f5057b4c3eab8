#!/usr/bin/env python3
"""transparency.py [--quick] [--json PATH] [--list] [--shim] [part of a name ...]

Runs the commands of transparency.toml bare and watched, each time in the same folder, newly
filled. Exit status, stdout, stderr and the files left behind must be the same: watched exactly,
by samples (one in 4 KiB, so that there are some), and with the children followed and reports made
meanwhile. A command whose output differs between bare runs is compared where those agree. Where the
list explains a difference, there has to be one.

--quick    the thirty that say so in the list; children are not followed
--shim     watched by counting_shim.cpp instead: what a preload library changes that only counts
--json     every difference

The last line is "N passed, N failed, N left out". Exit code 0 when none failed, 77 when there is
nothing to run them with.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile

import inputs
from judges import HERE, PATH, find_allocscope, judges, quiet_child, watched
from lists import read_list

SECONDS = 120
MOST_BARE_RUNS = 4
CANNOT_RUN_HERE = 77
LIBRARY_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu/libeatmydata", "/lib")
MODES = {
    "exact": ["--record", "exact"],
    "sampled": ["--record", "sampled", "--sample-bytes", "4096"],
    "followed": ["--record", "exact", "--children", "follow", "--every", "0.1"],
}
FIELDS = {"name", "command", "shell", "setup", "stdin", "outer", "needs", "quick", "hide",
          "environment", "differs",
          "package"}
# Which of them the command sees depends on how long they run.
ABOUT_CHILDREN = rb"allocscope run: (not recorded|[^\n]*, process \d+, goes on)[^\n]*\n"
TOKEN = re.compile(rb"[0-9A-Za-z]+|\s+|.", re.S)
NOT_THERE = b"(not there)"


class left_out(Exception):
    pass


class outcome:
    """What somebody can see of a run."""

    def __init__(self, code, stdout, stderr, files):
        self.parts = {"exit": str(code).encode(), "stdout": stdout, "stderr": stderr, **files}

    def tokens(self, part):
        return TOKEN.findall(self.parts[part]) if part in self.parts else [NOT_THERE]


class pattern:
    """What bare runs have in common, token for token, also of the names of files."""

    def __init__(self, first):
        self.parts = {part: first.tokens(part) for part in first.parts}
        self.names = {part: TOKEN.findall(part.encode()) for part in first.parts}

    def learn(self, other):
        """Forgets where another bare run differs. True when it did."""
        is_new = self.learn_names(other)
        known_as = self.known_as(other)
        for part in set(self.parts) | set(known_as):
            known, seen = self.parts.get(part), other.tokens(known_as.get(part))
            if known is None or len(known) != len(seen):
                is_new |= known != [None]
                self.parts[part] = [None]  # anything
                self.names.setdefault(part, TOKEN.findall(part.encode()))
            elif known != [None]:
                is_new |= forget(known, seen)
        return is_new

    def learn_names(self, other):
        """A file that only this run has left, and one that only those before it did, may be one
        whose name is another each time."""
        is_new = False
        known_as = self.known_as(other)
        gone = [part for part in self.parts if part not in known_as]
        for part in [part for part in known_as if part not in self.parts]:
            words = TOKEN.findall(part.encode())
            alike = [(differing(self.names[each], words), each) for each in gone
                     if len(self.names[each]) == len(words)]
            if alike:
                closest = min(alike)[1]
                gone.remove(closest)
                is_new |= forget(self.names[closest], words)
        return is_new

    def known_as(self, other):
        """{part of the bare runs: what it is called in this run}"""
        found = {part: part for part in other.parts if part in self.parts}
        for part in sorted(set(other.parts) - set(found)):
            words = TOKEN.findall(part.encode())
            fitting = [each for each, name in self.names.items()
                       if each not in found and None in name and fits(name, words)]
            found[fitting[0] if fitting else part] = part
        return found

    def differences(self, other):
        """(part, what was expected, what there is) where it is not as all bare runs were."""
        found = []
        known_as = self.known_as(other)
        for part in sorted(set(self.parts) | set(known_as)):
            known, seen = self.parts.get(part, [NOT_THERE]), other.tokens(known_as.get(part))
            if known != [None] and not fits(known, seen):
                found.append((part, text_of(known), text_of(seen)))
        return found


def differing(known, seen):
    return sum(old is not None and old != new for old, new in zip(known, seen))


def fits(known, seen):
    return len(known) == len(seen) and differing(known, seen) == 0


def forget(known, seen):
    """Whatever may be in known where it is not as seen. True where there was such a place."""
    is_new = differing(known, seen) > 0
    known[:] = [old if old == new else None for old, new in zip(known, seen)]
    return is_new


def text_of(tokens):
    return b"".join(b"*" if each is None else each for each in tokens).decode(errors="replace")


def library(name):
    for folder in LIBRARY_FOLDERS:
        if os.path.exists(f"{folder}/{name}"):
            return f"{folder}/{name}"
    raise left_out(f"{name} is not installed")


class stage:
    """The folder in which everything runs, and the programs of behaviours/."""

    def __init__(self, folder):
        self.pristine, self.prepared = folder / "pristine", folder / "prepared"
        self.place, self.programs = folder / "place", folder / "programs"
        self.output = folder / "report.json"
        self.pristine.mkdir()
        self.programs.mkdir()
        inputs.write_all(self.pristine)

    def built(self, name):
        program = self.programs / name
        if not program.exists():
            source = HERE / "behaviours" / f"{program.stem}.cpp"
            flags = ["-shared", "-fPIC", "-fno-gnu-unique"] if program.suffix else []
            # g++ in any case: clang needs packages for OpenMP, and has no unique symbols.
            subprocess.run(["g++", "-std=c++17", "-O1", "-w", "-fopenmp", "-pthread", *flags,
                            str(source), "-o", str(program), "-ldl"], check=True)

    def filled(self, text):
        for name in re.findall(r"\{bin\}/([\w.]+)", text):
            self.built(name)
        text = text.replace("{bin}", str(self.programs))
        return re.sub(r"\{library ([\w.]+)\}", lambda found: library(found[1]), text)

    @staticmethod
    def program_of(command):
        """The program, unless the setup makes it."""
        words = shlex.split(command.get("command", ""))[:1]
        return [word for word in words if word.startswith("/") or "/" not in word]

    def prepare(self, command):
        for name in [*command.get("needs", []), *self.program_of(command)]:
            if not shutil.which(name, path=PATH):
                raise left_out(f"{name} is not installed")
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir()
        shutil.rmtree(self.prepared, ignore_errors=True)
        shutil.copytree(self.pristine, self.prepared)
        if "setup" in command:
            done = subprocess.run(["bash", "-ec", command["setup"]], cwd=self.prepared,
                                  capture_output=True, env=self.environment({}))
            if done.returncode != 0:
                raise left_out(f"its setup fails: {done.stderr[-200:]!r}")
            inputs.set_times(self.prepared)

    def environment(self, more):
        return watched({"PATH": PATH, "LC_ALL": "C", "TZ": "UTC", "HOME": str(self.place),
                        **{name: self.filled(value) for name, value in more.items()}})

    def run(self, command, prefix=(), preload=None):
        inputs.restore(self.place, self.prepared)
        words = [self.filled(word) for word in shlex.split(command["command"])] \
            if "command" in command else ["sh", "-c", self.filled(command["shell"])]
        whole = [*prefix, *words]
        if "outer" in command:
            whole = ["sh", "-c", command["outer"], "sh", *whole]
        environment = self.environment(command.get("environment", {}))
        if preload:
            given = environment.get("LD_PRELOAD")
            environment["LD_PRELOAD"] = f"{preload}:{given}" if given else str(preload)
        code, stdout, stderr = self.start(whole, environment, command.get("stdin", ""))
        stderr = re.sub(ABOUT_CHILDREN, b"", stderr)
        if "hide" in command:
            stdout, stderr = (b"".join(line for line in text.splitlines(True)
                                       if not re.search(command["hide"].encode(), line))
                              for text in (stdout, stderr))
        return outcome(128 - code if code < 0 else code, stdout, stderr, self.files())

    def start(self, words, environment, stdin):
        text = None
        if stdin.startswith("pipe: "):
            text, source = stdin[6:].encode(), subprocess.PIPE
        elif stdin == "closed":
            words, source = ["sh", "-c", "exec \"$@\" <&-", "sh", *words], subprocess.DEVNULL
        else:
            source = open(self.place / stdin if stdin else os.devnull, "rb")
        child = subprocess.Popen(words, cwd=self.place, env=environment, stdin=source,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 start_new_session=True, preexec_fn=quiet_child)
        try:
            stdout, stderr = child.communicate(text, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            stdout, stderr = child.communicate()
            stderr += b"\n(no end)\n"
        finally:
            if hasattr(source, "close"):
                source.close()
        return child.returncode, stdout, stderr

    def files(self):
        """Each file below the folder: what it is, its rights and its content."""
        found = {}
        for root, folders, files in os.walk(self.place):
            for name in folders + files:
                path = os.path.join(root, name)
                status = os.lstat(path)
                content = ""
                if stat.S_ISLNK(status.st_mode):
                    content = os.readlink(path)
                elif stat.S_ISREG(status.st_mode):
                    data = pathlib.Path(path).read_bytes()
                    content = f"{len(data)} bytes {hashlib.sha256(data).hexdigest()}"
                found[f"file {os.path.relpath(path, self.place)}"] = \
                    f"{status.st_mode:o} {content}".encode()
        return found


def examine(scene, command, watchers):
    """A list of (watcher, part, expected, seen); empty when nothing was noticed."""
    scene.prepare(command)
    common = pattern(scene.run(command))
    for _ in range(MOST_BARE_RUNS - 1):
        if not common.learn(scene.run(command)):
            break
    found = []
    for name, (prefix, preload) in watchers.items():
        seen = scene.run(command, prefix, preload)
        different = common.differences(seen)
        if name in command.get("differs", {}):
            found += [] if different else [(name, "all", command["differs"][name], "no difference")]
            continue
        if different:
            # Once more bare: what differs now may be what differs always, but seldom.
            common.learn(scene.run(command))
            different = common.differences(seen)
        found += [(name, *each) for each in different]
    return found


def watchers_for(scene, arguments):
    """name: (words before the command, library to preload)"""
    if arguments.shim:
        with_shim = judges(scene.place.parent)
        with_shim.build_shim()
        return {"shim": ([], with_shim.shim)}
    allocscope = find_allocscope()
    if allocscope is None:
        return {}
    return {name: ([allocscope, "run", *options, "--format", "json", "--output",
                    str(scene.output), "--"], None) for name, options in MODES.items()
            if name != "followed" or not arguments.quick}


def shortened(text, most=300):
    return text if len(text) <= most else f"{text[:most]}... ({len(text)})"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--shim", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    commands = read_list(HERE / "transparency.toml", "command", FIELDS, arguments.names,
                         arguments.quick)
    for each in commands:
        if ("command" in each) == ("shell" in each):
            sys.exit(f"transparency.toml: {each['name']} is to have a command or a shell")
    if arguments.list:
        print("\n".join(each["name"] for each in commands))
        return 0
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # some commands become another user
        scene = stage(pathlib.Path(folder))
        watchers = watchers_for(scene, arguments)
        if not watchers:
            print("there is no allocscope to examine: set ALLOCSCOPE or ALLOCSCOPE_BUILD")
            return CANNOT_RUN_HERE
        for command in commands:
            try:
                found = examine(scene, command, watchers)
                word = "different" if found else \
                    "explained" if set(command.get("differs", {})) & set(watchers) else "same"
            except left_out as error:
                found, word = [("", "left out", str(error), "")], "left out"
            rows.append({"name": command["name"], "word": word, "differences": found})
            print(f"{word:9} {command['name']}", flush=True)
            for watcher, part, expected, seen in found:
                print(f"          {watcher} {part}\n            bare: {shortened(expected)!r}\n"
                      f"            seen: {shortened(seen)!r}", flush=True)
    count = {word: sum(row["word"] == word for row in rows)
             for word in ("same", "explained", "different", "left out")}
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows, "count": count}, indent=1) + "\n")
    print(f"\n{count['same']} are the same, {count['explained']} differ as explained\n"
          f"{count['same'] + count['explained']} passed, {count['different']} failed, "
          f"{count['left out']} left out")
    return 0 if count["different"] == 0 and count["same"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

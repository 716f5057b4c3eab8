"""run_example.py [--update] [--omit-frame-pointer] [--keep PROGRAM] [--hooks OBJECT]
                  --root FOLDER --include HEADERS --compiler COMPILER --exit-code N
                  EXAMPLE [ARGUMENT...]

Builds an example with the command that stands in its first lines and with all warnings, runs it,
and compares what it prints with EXAMPLE.output beside it. --update writes that file instead. Two
numbers of a report differ from run to run and are not compared: how long a window was open, and our
own memory. --keep leaves the program there for other tests. --hooks links that object, and the
example does not compile the hooks itself: they take longer than the rest of it.
"""
import argparse
import difflib
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

WARNINGS = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion".split()
USUAL_COMMAND = "c++ -std=c++17 -O2 -g -Iinclude {example} -o program"


def build_command(source):
    """The first command of the comment at the top; the second one runs the program."""
    comment = re.match(r"(?://.*\n)+", source.read_text()).group(0)
    lines = re.findall(r"^//     +(.*)$", comment, re.MULTILINE)
    command = lines[0] if lines else USUAL_COMMAND.format(example=f"examples/{source.name}")
    words = shlex.split(command)
    if words[0] != "c++" or f"examples/{source.name}" not in words or "-o" not in words:
        sys.exit(f"{source}: the command in the comment at the top is not understood: {command}")
    return words


def build(words, compiler, include, root, program, hooks):
    output_at = words.index("-o") + 1
    words[0] = compiler
    words[1:1] = WARNINGS
    output_at += len(WARNINGS)
    words[output_at] = str(program)
    words[words.index("-Iinclude")] = f"-I{include}"
    if hooks:
        words[1:1] = [f"-I{root / 'tests/support/hooks_are_linked'}"]
        words += [str(hooks), "-pthread", "-ldl"]
    built = subprocess.run(words, cwd=root, capture_output=True, text=True, timeout=600)
    if built.returncode != 0 or built.stderr:
        sys.exit(f"{shlex.join(words)}\nfailed, or warned:\n{built.stderr}")


def masked(text):
    text = re.sub(r"(open for |, )[\d.]+ (?:ns|us|ms|s)( apart)?$", r"\1T\2", text, flags=re.M)
    return re.sub(r"^(  own memory) +[\d.]+ \w+$", r"\1 N", text, flags=re.M)


def main():
    assert masked("x, open for 1.2 s\n  own memory  1.2 MiB") == "x, open for T\n  own memory N"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--include", required=True, type=pathlib.Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--exit-code", type=int, default=0)
    parser.add_argument("--omit-frame-pointer", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--hooks", type=pathlib.Path)
    parser.add_argument("example")
    parser.add_argument("arguments", nargs="*")
    arguments = parser.parse_args()
    source = arguments.root / "examples" / f"{arguments.example}.cpp"
    golden = source.with_suffix(".output")
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / arguments.example
        words = build_command(source)
        if arguments.omit_frame_pointer:
            words.insert(1, "-fomit-frame-pointer")
        if "g++" in arguments.compiler and not arguments.example.startswith("01"):
            words.insert(1, "-fno-var-tracking")  # a third of the time, the same program
        build(words, arguments.compiler, arguments.include, arguments.root, program,
              arguments.hooks)
        if arguments.keep:
            shutil.copy(program, arguments.keep)
        done = subprocess.run([program, *arguments.arguments], cwd=arguments.root, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    if done.returncode != arguments.exit_code:
        sys.exit(f"exit code {done.returncode} instead of {arguments.exit_code}:\n{done.stdout}")
    if arguments.update:
        golden.write_text(done.stdout)
        return
    expected = golden.read_text()
    if masked(done.stdout) != masked(expected):
        lines = difflib.unified_diff(expected.splitlines(True), done.stdout.splitlines(True),
                                     golden.name, "printed")
        sys.exit(f"{''.join(lines)}\nIf the new output is right: run this script with --update, and"
                 " put it into README.md when it is shown there.")
    print(f"{len(expected.splitlines())} lines as in {golden.name}")


if __name__ == "__main__":
    main()

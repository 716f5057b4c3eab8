"""link_must_fail.py COMPILER FIRST_OBJECT SECOND_OBJECT MAIN_OBJECT...

Links the main objects with the first object alone (must work, and run), with the second alone (must
work), and with both: must fail, and the message must name operator new and both files. The word
"copy" in place of the second object stands for a copy of the first under another name.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile


def link(compiler, objects, linker, output):
    return subprocess.run([compiler, *linker, *objects, "-o", output, "-pthread", "-ldl"],
                          capture_output=True, text=True, timeout=600)


def check(compiler, linker, first, second, main_objects, output):
    for one in (first, second):
        alone = link(compiler, [*main_objects, one], linker, output)
        if alone.returncode != 0:
            sys.exit(f"{one} alone does not link, so the test says nothing:\n{alone.stderr}")
        subprocess.run([output], check=True, timeout=600, stdout=subprocess.DEVNULL)
    both = link(compiler, [*main_objects, first, second], linker, output)
    name = " ".join(linker) or "the default linker"
    if both.returncode == 0:
        sys.exit(f"{name}: two definitions of operator new were linked without a word")
    for wanted in ("operator new(unsigned long)", pathlib.Path(first).name,
                   pathlib.Path(second).name):
        if wanted not in both.stderr:
            sys.exit(f"{name}: the message does not mention {wanted}:\n{both.stderr}")
    if not any(word in both.stderr for word in ("multiple definition", "duplicate symbol")):
        sys.exit(f"{name}: the message does not say what is wrong:\n{both.stderr}")
    print(f"{name}: refused, naming both files")


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    compiler, first, second, *main_objects = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        output = str(pathlib.Path(folder) / "program")
        if second == "copy":
            second = shutil.copy(first, str(pathlib.Path(folder) / "second_hooks.o"))
        probe = pathlib.Path(folder) / "probe.cpp"
        probe.write_text("int main() {}\n")
        for linker in ([], ["-fuse-ld=gold"], ["-fuse-ld=lld"]):
            if link(compiler, [str(probe)], linker, output).returncode != 0:
                print(f"{linker[0]}: not installed, skipped")
                continue
            check(compiler, linker, first, second, main_objects, output)


if __name__ == "__main__":
    main()

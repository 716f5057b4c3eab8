"""same_output.py REFERENCE PROGRAM [ARGUMENT...]

Runs both programs with the same arguments. Their outputs and exit codes must be equal.
"""
import difflib
import subprocess
import sys


def run(program, arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=600)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    reference_path, program_path, *arguments = sys.argv[1:]
    reference = run(reference_path, arguments)
    program = run(program_path, arguments)
    if reference.returncode != 0 or not reference.stdout:
        sys.exit(f"The reference itself failed ({reference.returncode}): {reference.stderr}")
    differences = [
        f"{name} differs:\n{''.join(lines)}"
        for name in ("stdout", "stderr")
        if (lines := list(difflib.unified_diff(
            getattr(reference, name).splitlines(True), getattr(program, name).splitlines(True),
            "reference", "program", n=0)))
    ]
    if reference.returncode != program.returncode:
        differences.append(f"exit code {program.returncode} instead of {reference.returncode}")
    if differences:
        sys.exit("\n".join(differences))
    print(f"the same {len(reference.stdout.splitlines())} lines")


if __name__ == "__main__":
    main()

"""together_test.py TOGETHER: each framework runs its tests of a program that has three of them."""
import os
import re
import subprocess
import sys

PROGRAM = sys.argv[1]
PASSES = {"doctest": "--test-case=passes*", "gtest": "--gtest_filter=passes.*",
          "catch2": "[passes]"}
LEAKS = {"doctest": "--test-case=leaks*", "gtest": "--gtest_filter=leaks.*", "catch2": "[leaks]"}


def run(framework, argument):
    done = subprocess.run([PROGRAM, framework, argument], capture_output=True, text=True,
                          timeout=600, env={**os.environ, "ALLOCSCOPE_EVIDENCE_DIR": ""})
    return done.returncode, re.sub(r"\s+", " ", done.stdout + done.stderr)


def main():
    for framework in PASSES:
        code, text = run(framework, PASSES[framework])
        assert code == 0 and "leak check" not in text, (framework, code, text)
        code, text = run(framework, LEAKS[framework])
        assert code != 0 and text.count("leak check \"") == 3, (framework, code, text)
        assert "each of 3 runs left at least 1 object with 4 bytes" in text, (framework, text)
        assert text.count("together.cpp:") >= 3, (framework, text)
    print("the frameworks keep apart")


if __name__ == "__main__":
    main()

"""A type is read from the source only if that is what was compiled.

A source file that was written after the program is not believed: the same place may say another
type now. And what is written behind `new` may be a macro of the command line or of a header: the
macro's name is no type. With `auto* p = new`, the type of p in the debug information is the
macro's.
"""
import os
import shutil

from toolchain import SOURCES, WARNINGS, bench, check_all, expect, run


def check(tools, compiler, level):
    folder = tools.folder(f"edited {compiler} {level}")
    source = folder / "edited_source.cpp"
    shutil.copy(SOURCES / "edited_source.cpp", source)
    lines = enumerate(source.read_text().splitlines(), 1)
    first, second, third = [number for number, text in lines if "= new" in text]
    main = tools.compile(compiler, source, level, "-g", "-DALIAS=melon", *WARNINGS)
    program = tools.link(compiler, folder / "edited", main, tools.hooks(compiler))
    expect(run([program]).stdout, f"{first} apple\n{second} ?\n{third} melon\n",
           "what was compiled")
    source.write_text(source.read_text().replace("new apple{}", "new melon{}"))
    expect(run([program]).stdout, f"{first} ?\n{second} ?\n{third} ?\n", "after an edit")
    os.utime(source, (1, 1))
    expect(run([program]).stdout, f"{first} melon\n{second} ?\n{third} melon\n",
           "a file that looks older than the program is believed: this test sees nothing otherwise")


def main():
    tools = bench()
    check_all([(f"{compiler} {level}", lambda c=compiler, l=level: check(tools, c, l))
               for compiler in tools.compilers for level in ("-O0", "-O2")])


if __name__ == "__main__":
    main()

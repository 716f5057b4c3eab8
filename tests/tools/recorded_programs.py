"""Programs that the tests of `allocscope run` compile and record, and what comes out."""
import json
import pathlib
import subprocess


# The C++ library allocates when it is loaded, and clang++ always loads it.
WITHOUT_CXX = ("-nodefaultlibs", "-lc")


def compiled(folder, name, source, compiler, *flags):
    """Compiles C++ (or a library, with -shared among the flags); returns its path."""
    path = pathlib.Path(folder) / f"{name}.cpp"
    path.write_text(source)
    made = pathlib.Path(folder) / name
    subprocess.run([compiler, "-std=c++17", "-g", "-O1", "-fno-builtin", str(path), "-o", str(made),
                    *map(str, flags)], check=True)
    return made


class Recorder:
    """Runs commands under `allocscope run`."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)

    def run(self, command, *options, code=0, **more):
        """The finished process; its stdout and stderr are text."""
        done = subprocess.run([self.program, "run", *map(str, options), "--", *map(str, command)],
                              capture_output=True, text=True, timeout=600, check=False, **more)
        assert done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
        return done

    def reports(self, command, *options, code=0, **more):
        """The JSON reports of all programs that were recorded, in the order of their start."""
        path = self.folder / "report.json"
        for old in self.folder.glob("report.json*"):
            old.unlink()
        self.run(command, *options, "--output", path, code=code, **more)
        found = [path, *(self.folder / f"report.json.{i}" for i in range(2, 2000))]
        return [json.loads(each.read_text()) for each in found if each.exists()]

    def report(self, command, *options, code=0, **more):
        """The report of the one program that was recorded."""
        reports = self.reports(command, *options, code=code, **more)
        assert len(reports) == 1, [each["window"] for each in reports]
        return reports[0]


def totals(report):
    """Allocations, frees, bytes allocated."""
    found = report["totals"]
    return found["allocations"], found["frees"], found["bytes_allocated"]

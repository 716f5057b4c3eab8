"""opened_by.py PROGRAM CONSUMER

The known heap in a file of each format, opened by the program that the format belongs to: its
numbers are those that the generator knows. CONSUMER is a function below. Exit code 77: the consumer
is not installed.
"""
import collections
import csv
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CANNOT_RUN_HERE = 77
FIELDS = ("allocations", "bytes_allocated", "objects", "bytes")
DETAILS = ["temporary", "peak_objects", "peak_bytes"]  # of a window with details
PLACE = re.compile(r"allocate_at_(\d+)\(")


def needed(name, *folders):
    """The path of a program; without it the test cannot run here."""
    found = shutil.which(name, path=os.pathsep.join([os.environ["PATH"], *folders]))
    if found is None:
        print(f"{name} is not installed")
        sys.exit(CANNOT_RUN_HERE)
    return found


def output_of(*command, folder=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=600, check=False, cwd=folder)
    assert done.returncode == 0, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout


def place_in(name):
    """Which of the known places a function is, or None."""
    found = PLACE.search(name)
    return found.group(1) if found else None


def whole(number):
    return int(number.replace(",", ""))


class Heap:
    """The files of one run of the generator, and what it knows."""

    def __init__(self, program, folder):
        self.folder = pathlib.Path(folder)
        output_of(program, folder)
        self.truth = json.loads(self.file("truth.json").read_text())
        assert len(self.truth) == 8 and self.truth["0"]["objects"] == 0, self.truth
        assert self.truth["1"]["bytes_allocated"] == 0 and self.truth["1"]["objects"] > 0

    def file(self, name):
        return self.folder / name

    def json(self, name):
        return json.loads(self.file(name).read_text())

    def sum(self, field):
        return sum(known[field] for known in self.truth.values())

    def check(self, field, found, total=None):
        """`found`: a number for each place; `total`: what the consumer says of all together."""
        expected = {place: known[field] for place, known in self.truth.items() if known[field]}
        found = {place: number for place, number in found.items() if number}
        assert found == expected, (field, found, expected)
        assert total is None or total == self.sum(field), (field, total, self.sum(field))


def sum_by_place(pairs):
    sums = collections.Counter()
    for name, number in pairs:
        sums[place_in(name)] += number
    assert None not in sums or sums[None] == 0, sums
    return sums


def json_module(heap):
    """Python's json: totals, and every number of each place."""
    report = heap.json("heap.json")
    totals = report["totals"]
    assert totals["allocations"] == heap.sum("allocations"), totals
    assert totals["bytes_allocated"] == heap.sum("bytes_allocated"), totals
    assert totals["live_objects"] == heap.sum("objects"), totals
    assert totals["live_bytes"] == heap.sum("bytes"), totals
    (freed,) = report["freed_rows"]
    assert place_in(freed["function"]) == "0" and freed["objects"] == 0, freed
    rows = report["rows"] + report["freed_rows"]
    for field in FIELDS:
        heap.check(field, sum_by_place((row["function"], row[field]) for row in rows))
    for field in DETAILS:
        heap.check(field, sum_by_place((row["function"], row["details"][field]) for row in rows))
    assert totals["peak_bytes"] == heap.sum("peak_bytes"), totals
    for row in rows:
        assert sum(row["details"]["sizes"]) == row["allocations"], row


def json_schema(heap):
    """The schema beside the writer, and a validator that is not ours."""
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("python3-jsonschema is not installed")
        sys.exit(CANNOT_RUN_HERE)
    schema = json.loads((pathlib.Path(__file__).parents[2] / "include/allocscope/report"
                         / "json_report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    report = heap.json("heap.json")
    for name in ("heap.json", "sampled.json", "grown.json"):
        validator.validate(heap.json(name))
    # Every field is in the schema, and the schema can say no.
    assert set(report) <= set(schema["properties"]), set(report) - set(schema["properties"])
    assert set(report["rows"][0]) <= set(schema["$defs"]["row"]["properties"])
    for wrong in ({"rows": [{}]}, {"record": "some"}, {"totals": {}}, {"lost": {"reason": "x"}}):
        assert not validator.is_valid({**report, **wrong}), wrong
    sampled = heap.json("sampled.json")
    assert not validator.is_valid({key: sampled[key] for key in sampled if key != "samples"})


def csv_module(heap):
    """Python's csv; also a difference, with its negative numbers."""
    with open(heap.file("heap.csv"), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert len(rows) == 8 and {row["file"] for row in rows} == {"known_heap.cpp"}, rows
    assert rows[-1]["objects"] == "0", rows[-1]  # what was freed comes behind the rows
    for field in FIELDS:
        heap.check(field, sum_by_place((row["function"], int(row[field])) for row in rows))
    for field in DETAILS:
        heap.check(field, sum_by_place((row["function"], int(row[field])) for row in rows))
    with open(heap.file("grown.csv"), newline="", encoding="utf-8") as file:
        grown = list(csv.DictReader(file, strict=True))
    totals = heap.json("grown.json")["totals"]
    assert sum(int(row["objects"]) for row in grown) == totals["live_objects"], grown
    assert sum(int(row["bytes"]) for row in grown) == totals["live_bytes"], grown
    assert sum(int(row["allocations"]) for row in grown) == totals["allocations"], grown


PPROF_DETAILS = ["temporary_objects/count", "lifetime/microseconds", "peak_objects/count",
                 "peak_space/bytes"]


def raw_samples(pprof, path, details=None):
    """[(four values, [(address, [function, innermost first])])], leaf first, from pprof -raw.

    `details` gets those of a window with details, for each sample."""
    lines = output_of(pprof, "-raw", path).split("\n")
    begin, middle, end = (lines.index(name) for name in ("Samples:", "Locations", "Mappings"))
    types = lines[begin + 1].split()
    assert types[:2] == ["alloc_objects/count", "alloc_space/bytes"], types
    assert types[-2:] == ["inuse_objects/count", "inuse_space/bytes[dflt]"], types
    assert types[2:-2] == ([] if details is None else PPROF_DETAILS), types
    sample = re.compile(r"\s+((?:-?\d+\s+){%d}-?\d+): ([\d ]+)$" % (len(types) - 1))
    locations, last = {}, None
    for line in lines[middle + 1:end]:
        found = re.match(r"\s+(\d+): 0x([0-9a-f]+) M=\d+ (.*) s=0\(\)$", line)
        if found:
            last = locations.setdefault(int(found.group(1)), (found.group(2), []))
            line = found.group(3)
        last[1].append(line.strip())
    samples = []
    for line in lines[begin + 2:middle]:
        found = sample.match(line)
        if found:
            values = [int(value) for value in found.group(1).split()]
            if details is not None:
                details.append(values[2:-2])
            values = values[:2] + values[-2:]
            samples.append((values, [locations[int(i)] for i in found.group(2).split()]))
    return samples


def pprof(heap):
    """The Go tool: every sample, -top of each value, labels, comments, a difference."""
    tool = needed("pprof", "/usr/lib/go-1.19/pkg/tool/linux_amd64")
    path = heap.file("heap.pb.gz")
    details = []
    samples = raw_samples(tool, path, details)
    for index, field in enumerate(FIELDS):
        heap.check(field, sum_by_place((stack[0][1][0], values[index])
                                       for values, stack in samples))
    for index, field in ((0, "temporary"), (2, "peak_objects"), (3, "peak_bytes")):
        heap.check(field, sum_by_place((stack[0][1][0], values[index])
                                       for values, (_, stack) in zip(details, samples)))
    assert sum(values[1] for values in details) > 0, details
    assert " (thread 1)\n" in output_of(tool, "-tags", path), output_of(tool, "-tags", path)
    focused = output_of(tool, "-top", "-unit=bytes", "-tagfocus=thread=thread 1", path)
    assert f"nodes accounting for {heap.sum('bytes')}B, 100% of" in focused, focused
    # A return address is one location, with the inlined calls as its lines.
    locations = {address: tuple(lines) for _, stack in samples for address, lines in stack}
    assert len(locations) == len({each for _, stack in samples for each, _ in stack})
    inlined = [lines for lines in locations.values() if "inlined_step" in lines[0]]
    assert len(inlined) == 3 and all("through_group<" in lines[1] for lines in inlined), inlined
    # What a user looks at first.
    for name, field in (("alloc_objects", "allocations"), ("alloc_space", "bytes_allocated"),
                        ("inuse_objects", "objects"), ("inuse_space", "bytes"),
                        ("peak_space", "peak_bytes"), ("temporary_objects", "temporary")):
        unit = "bytes" if "bytes" in field else "count"
        shown = output_of(tool, "-top", "-nodecount=1000", f"-sample_index={name}",
                          f"-unit={unit}", path)
        flat = re.findall(r"^\s*(\d+)B?\s+\S+\s+\S+\s+\d+B?\s+\S+\s+(.*)$", shown, re.M)
        heap.check(field, sum_by_place((name + "(", int(number)) for number, name in flat))
    assert "Type: inuse_space" in output_of(tool, "-top", path)
    assert "window 'the known heap'" in output_of(tool, "-comments", path)
    assert "all numbers are estimates" in output_of(tool, "-comments", heap.file("sampled.pb.gz"))
    output_of(tool, "-traces", path)
    nothing = output_of(tool, "-top", "-unit=bytes", "-diff_base", path, path)
    assert "Showing nodes accounting for 0, 0% of" in nothing, nothing
    changes = []
    grown = raw_samples(tool, heap.file("grown.pb.gz"), changes)
    totals = heap.json("grown.json")["totals"]
    assert sum(values[3] for values in changes) == totals["peak_bytes"], (changes, totals)
    assert any(values[3] < 0 for values in changes) and changes[0][1] > 0, changes
    assert any(min(values) < 0 for values, _ in grown), grown
    for index, field in enumerate(("allocations", "bytes_allocated", "live_objects", "live_bytes")):
        assert sum(values[index] for values, _ in grown) == totals[field], (field, totals)
    with gzip.open(path) as file:  # an independent reader of the packing
        assert file.read().count(b"allocate_at_7") >= 1


def folded(heap):
    """By hand: a line is names separated by `;`, a blank and a number."""
    for name, field in (("heap.folded", "bytes"), ("heap.allocations.folded", "allocations")):
        stacks = []
        for line in heap.file(name).read_text().splitlines():
            stack, number = line.rsplit(" ", 1)
            assert "main;" in stack and int(number) > 0, line
            stacks.append((stack.split(";")[-1], int(number)))
        heap.check(field, sum_by_place(stacks))


FLAME = re.compile(r"<title>(.*) \(([\d,]+) bytes, [\d.]+%\)</title>"
                   r'<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"')
FLAMEGRAPH_FOLDER = "/usr/share/perl5/Devel/NYTProf"  # of Debian's libdevel-nytprof-perl


def flamegraph_pl(heap):
    """The picture's titles: what a frame has, and what of it is in the same place once more."""
    tool = needed("flamegraph.pl", FLAMEGRAPH_FOLDER)
    picture = output_of("perl", tool, "--countname=bytes", "--minwidth=0",
                        heap.file("heap.folded"))
    frames = [(name, whole(number), float(left), int(top), float(wide))
              for name, number, left, top, wide in FLAME.findall(picture)]
    assert [frame[1] for frame in frames if frame[0] == "all"] == [heap.sum("bytes")], frames

    def caller(frame):
        _, _, left, top, wide = frame
        return next((each[0] for each in frames if each[3] == top + 16
                     and each[2] - 0.2 <= left and left + wide <= each[2] + each[4] + 0.2), "")

    heap.check("bytes", sum_by_place(
        (frame[0], frame[1]) for frame in frames
        if place_in(frame[0]) and place_in(frame[0]) != place_in(caller(frame))))


def sums_of_formats(heap, name):
    """{format: (allocations, bytes allocated, objects, bytes)}; None: it does not say."""
    report = heap.json(f"{name}.json")
    places = report["rows"] + report["freed_rows"]
    sums = {"json": [sum(place[field] for place in places) for field in FIELDS]}
    with open(heap.file(f"{name}.csv"), newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file, strict=True))
    sums["csv"] = [sum(int(line[field]) for line in lines) for field in FIELDS]
    for kind, index in ((f"{name}.folded", 3), (f"{name}.allocations.folded", 0)):
        weights = [int(line.rsplit(" ", 1)[1])
                   for line in heap.file(kind).read_text().splitlines()]
        sums[kind] = [sum(weights) if i == index else None for i in range(4)]
    profiles = heap.json(f"{name}.speedscope.json")["profiles"]
    sums["speedscope"] = [profiles[i]["endValue"] for i in (3, 2, 1, 0)]
    points = heap.json(f"{name}.dhat.json")["pps"]
    sums["dhat"] = [sum(point[field] for point in points) for field in ("tbk", "tb", "ebk", "eb")]
    totals = heap.file(f"{name}.callgrind").read_text().split("totals: ")[1].split()
    sums["callgrind"] = [int(number) for number in reversed(totals)]
    massif = heap.file(f"{name}.massif").read_text()
    sums["massif"] = [None, None, None, int(re.findall(r"mem_heap_B=(\d+)", massif)[-1])]
    return sums


def each_other(heap):
    """Every format has the same totals, and they are those of the snapshot."""
    for name in ("heap", "sampled"):
        totals = heap.json(f"{name}.json")["totals"]
        totals = [totals[field] for field in ("allocations", "bytes_allocated", "live_objects",
                                              "live_bytes")]
        # Estimates are rounded for each stack, and for all together.
        tolerance = 0 if name == "heap" else len(heap.json(f"{name}.dhat.json")["pps"])
        for format_name, sums in sums_of_formats(heap, name).items():
            for found, expected in zip(sums, totals):
                assert found is None or abs(found - expected) <= tolerance, (
                    name, format_name, sums, totals)


# The importers of speedscope are inside its bundle: it is run with a page that is not there, for
# the functions that it defines, and one of them is kept.
SPEEDSCOPE = r"""
const fs = require("fs"), path = require("path"), vm = require("vm");
const nothing = () => new Proxy(function () {}, {
    get: (target, name) => name === Symbol.toPrimitive ? () => ""
        : ["Long", "dcodeIO", "process"].includes(name) ? undefined : nothing(),
    set: () => true, apply: () => nothing(), construct: () => nothing()});
const [bundle, ...files] = process.argv.slice(2);
let code = fs.readFileSync(bundle, "utf8");
const importer = /loadProfile\(\(\)=>(\w+)\(\w+,\w+\)\)\}\}/.exec(code)[1];
code = code.replace("(()=>{", `(()=>{importFile=(name,data)=>${importer}(name,data);`);
const page = {console: {log() {}, warn() {}, error() {}}, importFile: null};
for (const name of ["window", "document", "navigator", "localStorage", "location", "history",
                    "Image", "Worker", "FontFace", "fetch", "self"]) page[name] = nothing();
for (const name of ["performance", "TextDecoder", "TextEncoder", "URL", "setTimeout", "Uint8Array",
                    "ArrayBuffer", "DataView", "atob", "btoa"]) page[name] = globalThis[name];
const inside = vm.createContext(page);
try { vm.runInContext(code, inside); } catch (problem) { /* the page itself cannot be drawn */ }
(async () => {
    const result = {};
    for (const file of files) {
        const data = fs.readFileSync(file).toString("base64");
        const group = await inside.importFile(path.basename(file), data);
        result[path.basename(file)] = group.profiles.map(profile => {
            const own = [];
            profile.forEachFrame(frame => own.push([frame.name, frame.getSelfWeight()]));
            return {name: profile.getName(), unit: profile.getWeightUnit(),
                    total: profile.getTotalWeight(), own};
        });
    }
    console.log(JSON.stringify(result));
})();
"""
SPEEDSCOPE_FIELDS = ("bytes", "objects", "bytes_allocated", "allocations")


def speedscope(heap):
    """The importers of speedscope.app: its own format, and two that it reads as well."""
    node = needed("node")
    folder = pathlib.Path(os.environ.get("ALLOCSCOPE_UNPACKED_PACKAGES", "none"))
    bundles = list(folder.glob("node_modules/speedscope/dist/release/speedscope-*.js"))
    if not bundles:
        print("speedscope is not installed: npm install speedscope, see cmake/test.cmake")
        sys.exit(CANNOT_RUN_HERE)
    script = heap.file("speedscope_in_node.js")
    script.write_text(SPEEDSCOPE)
    names = ("heap.speedscope.json", "heap.folded", "heap.pb.gz")
    read = json.loads(output_of(node, script, bundles[0], *map(heap.file, names)))
    profiles = read["heap.speedscope.json"]
    assert [profile["unit"] for profile in profiles] == ["bytes", "none", "bytes", "none"]
    for field, profile in zip(SPEEDSCOPE_FIELDS, profiles):
        heap.check(field, sum_by_place(profile["own"]), profile["total"])
    for name in names[1:]:  # of a profile with several values it takes the last one
        (profile,) = read[name]
        heap.check("bytes", sum_by_place(profile["own"]), profile["total"])


def speedscope_by_hand(heap):
    """The same file as its format says, for where speedscope cannot be had."""
    document = heap.json("heap.speedscope.json")
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]
    assert len(document["profiles"]) == len(SPEEDSCOPE_FIELDS)
    for field, profile in zip(SPEEDSCOPE_FIELDS, document["profiles"]):
        assert profile["type"] == "sampled" and profile["startValue"] == 0, profile
        assert len(profile["samples"]) == len(profile["weights"]), field
        leaves = [(frames[stack[-1]]["name"], weight)
                  for stack, weight in zip(profile["samples"], profile["weights"])]
        heap.check(field, sum_by_place(leaves), profile["endValue"])


def heaptrack_print(heap):
    """Its summary, and the flame graphs that it makes of allocations and of leaks."""
    tool = needed("heaptrack_print")
    path = heap.file("heap.heaptrack")
    shown = output_of(tool, path)
    assert f"calls to allocation functions: {heap.sum('allocations')} " in shown, shown
    assert f"temporary memory allocations: {heap.sum('temporary')} " in shown, shown
    leaked = heap.sum("bytes") / 1000
    assert f"total memory leaked: {leaked:.2f}K" in shown, (leaked, shown)
    for cost, field in (("allocations", "allocations"), ("leaked", "bytes")):
        flames = heap.file("flames.txt")
        output_of(tool, "--flamegraph-cost-type", cost, "-F", flames, "-t", "0", path)
        stacks = [line.rsplit(" ", 1) for line in flames.read_text().splitlines()]
        heap.check(field, sum_by_place((stack.rstrip(";").split(";")[-1], int(number))
                                       for stack, number in stacks))


def ms_print(heap):
    """The tree at the end: its first level is who called operator new."""
    tool = needed("ms_print")
    shown = output_of(tool, "--threshold=0", heap.file("heap.massif"))
    root = re.search(r"^100\.00% \(([\d,]+)B\)", shown, re.M)
    callers = re.findall(r"^->\d+\.\d+% \(([\d,]+)B\) 0x[0-9a-f]+: (.*)$", shown, re.M)
    heap.check("bytes", sum_by_place((name, whole(number)) for number, name in callers),
               whole(root.group(1)))


def callgrind_annotate(heap):
    """Own costs are the truth; those of main() with what it calls are all there is."""
    tool = needed("callgrind_annotate")  # cuts the current folder off some of the names only
    events = ("bytes", "objects", "bytes_allocated", "allocations")
    line = re.compile(r"^" + r"\s*([\d,]+)(?: \(\s*[\d.]+%\))?" * 4 + r"\s+(\S.*)$", re.M)
    for inclusive in ("no", "yes"):
        shown = output_of(tool, "--auto=no", "--sort=Allocs", "--threshold=100",
                          f"--inclusive={inclusive}",
                          heap.file("heap.callgrind"), folder=heap.folder)
        costs = {found.pop(): [whole(number) for number in found]
                 for found in map(list, line.findall(shown))}
        total = costs.pop("PROGRAM TOTALS")
        for index, field in enumerate(events):
            heap.check(field, sum_by_place((name, cost[index]) for name, cost in costs.items()
                                           if place_in(name)), total[index])
        if inclusive == "yes":
            roots = [cost for name, cost in costs.items() if name.endswith(":main")]
            assert roots == [total], (roots, total)


DH_VIEW = r"""
const fs = require("fs"), vm = require("vm");
const element = () => new Proxy(function () {}, {
    get: (target, name) => name === "childNodes" ? [] : name in target ? target[name] : element(),
    set: (target, name, value) => { target[name] = value; return true; },
    apply: () => element()});
const code = fs.readFileSync(process.argv[2], "utf8");
const inside = vm.createContext({document: element(), window: element(), console, performance});
vm.runInContext(code + `
    gSelect = {childNodes: {entries: () => [], undefined: {}}, selectedIndex: undefined};
    gData = JSON.parse(${JSON.stringify(fs.readFileSync(process.argv[3], "utf8"))});
    buildTree();
    var leaves = [];
    function walk(node, path) {
        const frames = path.concat(node._frames);
        if (node._kids) node._kids.forEach(kid => walk(kid, frames));
        else leaves.push([frames.map(frame => gData.ftbl[frame]), node._totalBlocks,
                          node._totalBytes, node._atTEndBlocks, node._atTEndBytes]);
    }
    walk(gRoot, []);
    var result = JSON.stringify({leaves, root: [gRoot._totalBlocks, gRoot._totalBytes,
                                            gRoot._atTEndBlocks, gRoot._atTEndBytes]});`, inside);
console.log(inside.result);
"""


DH_VIEW_PATH = "/usr/libexec/valgrind/dh_view.js"


def dh_view_tree(folder, path):
    script = folder / "dh_view_in_node.js"
    script.write_text(DH_VIEW)
    return json.loads(output_of(needed("node"), script, DH_VIEW_PATH, path))


def dh_view(heap):
    """DHAT's own viewer builds its tree, in node."""
    if not pathlib.Path(DH_VIEW_PATH).exists():
        print("dh_view.js of valgrind is not installed")
        sys.exit(CANNOT_RUN_HERE)
    tree = dh_view_tree(heap.folder, heap.file("heap.dhat.json"))
    for index, field in enumerate(FIELDS):
        heap.check(field, sum_by_place((leaf[0][1], leaf[1 + index]) for leaf in tree["leaves"]),
                   tree["root"][index])
    document = heap.json("heap.dhat.json")
    for field, known in (("gb", "peak_bytes"), ("gbk", "peak_objects")):
        at_peak = ((document["ftbl"][point["fs"][0]], point[field]) for point in document["pps"])
        heap.check(known, sum_by_place(at_peak))
    assert all(point["mb"] == max(point["gb"], point["eb"]) for point in document["pps"])
    assert sum(point["tl"] for point in document["pps"]) > 0, document
    # The frames as Firefox Profiler takes them apart.
    frame = re.compile(r"^0x([0-9a-f]+): (.+) \((?:in )?(.+?)(?::(\d+))?(?::(\d+))?\)$")
    for each in heap.json("heap.dhat.json")["ftbl"][2:]:
        assert frame.match(each), each


def hostile_names(program, folder):
    """Quotation marks, newlines, escapes, words of the formats: each tool that is here opens it."""
    output_of(program, folder)
    folder = pathlib.Path(folder)
    stacks = 13
    report = json.loads((folder / "hostile.json").read_text())
    assert report["totals"]["live_bytes"] == 10 * stacks and len(report["rows"]) == stacks
    with open(folder / "hostile.csv", newline="", encoding="utf-8") as file:
        assert sum(int(row["bytes"]) for row in csv.DictReader(file, strict=True)) == 10 * stacks
    speedscope_file = json.loads((folder / "hostile.speedscope.json").read_text())
    assert speedscope_file["profiles"][0]["endValue"] == 10 * stacks
    if shutil.which("heaptrack_print"):
        shown = output_of("heaptrack_print", folder / "hostile.heaptrack")
        assert f"calls to allocation functions: {2 * stacks} " in shown, shown
        assert f"total memory leaked: {10 * stacks}B" in shown, shown
    if shutil.which("ms_print"):
        shown = output_of("ms_print", "--threshold=0", folder / "hostile.massif")
        assert f"100.00% ({10 * stacks}B)" in shown, shown
        assert shown.count("(10B) 0x") == 2 * stacks, shown
    if shutil.which("callgrind_annotate"):
        shown = output_of("callgrind_annotate", "--auto=no", "--threshold=100",
                          folder / "hostile.callgrind", folder=folder)
        assert len(re.findall(r"^10 \(", shown.replace("  10 (", "10 ("), re.M)) == stacks, shown
    tool = shutil.which("pprof", path="/usr/lib/go-1.19/pkg/tool/linux_amd64")
    if tool:
        samples = raw_samples(tool, folder / "hostile.pb.gz")
        assert [values for values, _ in samples] == [[2, 20, 1, 10]] * stacks, samples
    if shutil.which("node") and pathlib.Path(DH_VIEW_PATH).exists():
        root = dh_view_tree(folder, folder / "hostile.dhat.json")["root"]
        assert root == [2 * stacks, 20 * stacks, stacks, 10 * stacks], root


def main():
    program, consumer = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        if consumer == "hostile_names":
            hostile_names(program, folder)
            return
        globals()[consumer](Heap(program, folder))


if __name__ == "__main__":
    main()

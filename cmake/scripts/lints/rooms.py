"""Who may include whom, and what: the floors of the house and the malloc line."""

from source_tree import (HEADERS, Problem, condition_depth, includes_of, own_includes_of, reachable,
                         room_of)

# room: (floor, may run inside malloc, rooms it may include beside itself and the root's three)
ROOMS = {
    "base": (0, True, ""),
    "platform": (1, True, "base"),
    "link": (1, True, "base"),
    "plain": (2, False, "base platform"),
    "binary": (2, True, "base"),
    "tables": (2, True, "base platform"),
    "sampling": (2, True, "base"),
    "unwind": (3, True, "base platform binary"),
    "state": (4, True, "base platform link tables sampling unwind"),
    "record": (5, True, "base platform link tables sampling unwind state"),
    "hooks": (6, True, "base platform link tables state record"),
    "windows": (6, True, "base platform link tables sampling state record"),
    "snapshot": (7, False, "base link plain sampling"),
    "symbols": (7, False, "base platform plain binary"),
    "spelling": (7, False, "base plain"),
    "source": (8, False, "base platform plain symbols spelling"),
    "grouping": (8, False, "base link plain snapshot"),
    "measure": (8, False, "base link snapshot"),
    "types": (9, False, "base plain symbols spelling source"),
    "places": (9, False, "base platform plain symbols spelling source"),
    "naming": (10, False,
               "base platform plain state windows snapshot symbols spelling source types places"),
    "report": (10, False, "base link platform plain snapshot spelling places grouping"),
    "page": (10, False, "base platform plain snapshot grouping"),
    "saved": (11, False, "base link platform plain binary snapshot grouping report"),
    "verdict": (11, False, "base link platform plain unwind state windows snapshot spelling places"
                           " naming"),
    "integrations": (11, False, "measure"),
    "formats": (12, False, "base link plain snapshot grouping report page saved"),
    "define_once": (12, True, "base link state record hooks windows snapshot naming verdict"),
}
# Headers of the root that every room may include. The others in the root are doors.
SHARED = ("config.hpp", "version.hpp", "fwd.hpp")

# Not below the malloc line (define_once/ stands above it, though its hooks run inside malloc).
BELOW_THE_LINE = [room for room, (_, inside, _) in ROOMS.items()
                  if inside and room != "define_once"]
HEAVY = set("string vector map unordered_map set unordered_set deque list functional memory sstream"
            " fstream mutex shared_mutex thread condition_variable future stdexcept filesystem"
            " locale iomanip ostream istream".split())
NOWHERE = {"iostream", "regex"}

DOOR = HEADERS + "allocscope.hpp"
DOOR_BUDGET = {"cstddef", "cstdint", "iosfwd", "new"}
# Under an #if only: one declaration of libstdc++; what -fno-exceptions and other libraries need.
DOOR_BUDGET_UNDER_IF = {"bits/functexcept.h", "unistd.h", "stdexcept"}


def is_door(path):
    return room_of(path) == "root" and path[len(HEADERS):] not in SHARED


def floors(tree):
    problems = []
    for path, text in tree.headers():
        room = room_of(path)
        if room != "root" and room not in ROOMS:
            problems.append(Problem(
                path, 1, f"the room {room}/ has no floor",
                "what a room may include is decided once, in a table",
                f"add {room} to ROOMS in cmake/scripts/lints/rooms.py and to the floor plan"))
            continue
        for line, target in own_includes_of(text):
            to = room_of(target)
            if target not in tree.files:
                problems.append(Problem(path, line, f"includes {target}, which does not exist",
                                        "every header must compile alone",
                                        "correct the name or remove the line"))
            elif room == "define_once" and target == DOOR:
                pass  # both stand on the roof: who defines the hooks gets what they serve
            elif to == "root" and target[len(HEADERS):] not in SHARED:
                problems.append(Problem(
                    path, line, f"includes the door {target[len(HEADERS):]} from inside the house",
                    "doors are for users; through them everything would include everything",
                    "include the one <allocscope/room/file.hpp> that is needed"))
            elif room == "root" and not is_door(path) and to != "root":
                problems.append(Problem(path, line, f"includes {to}/ from the ground",
                                        "every room may include this header, so it includes none",
                                        "move what needs it into a room"))
            elif room != "root" and to not in ("root", room) and to not in ROOMS[room][2].split():
                allowed = ROOMS[room][2] or "nothing"
                problems.append(Problem(
                    path, line, f"{room}/ includes {to}/",
                    f"{room}/ may include {allowed} (and config, version, fwd)",
                    "move the shared piece down to a room both may include, or hand it in as an"
                    " argument; if the table itself is wrong, change ROOMS in"
                    " cmake/scripts/lints/rooms.py and the floor plan"))
    return problems


def std_includes(tree):
    problems = []
    for path, text in tree.headers():
        for line, bracket, name, note in includes_of(text):
            if name.startswith("allocscope/"):
                continue
            if bracket == '"':
                problems.append(Problem(path, line, f'includes "{name}" with quotation marks',
                                        "a reader must see the room, a script must find the file",
                                        "#include <allocscope/room/file.hpp>"))
            elif name in NOWHERE:
                problems.append(Problem(
                    path, line, f"includes <{name}>",
                    "<iostream> adds a static constructor to every user's file and <regex> seconds"
                    " of compile time", "use <iosfwd> or <ostream>; match by hand"))
            elif name in HEAVY and room_of(path) in BELOW_THE_LINE:
                problems.append(Problem(
                    path, line, f"includes <{name}> below the malloc line",
                    "this code may run inside malloc; what is in that header allocates, locks or"
                    " throws", "use platform/ and base/, or move the code above the line"))
            elif name.startswith(("bits/", "ext/")):
                problems.append(Problem(
                    path, line, f"includes <{name}>",
                    "each version of the standard library divides its own headers anew",
                    "include a standard header, or declare what the library's ABI promises"))
            if bracket == "<" and len(note.lstrip("/").strip()) < 2:
                problems.append(Problem(
                    path, line, f"<{name}> has no note",
                    "the note tells when the include may go again",
                    f"#include <{name}>  // the names used from it"))
    return problems


def door_budget(tree):
    problems = []
    for path in sorted(reachable(tree, DOOR)):
        text = tree.files[path]
        for line, _, name, _ in includes_of(text):
            allowed = DOOR_BUDGET
            if condition_depth(text, line) > 1:
                allowed = DOOR_BUDGET | DOOR_BUDGET_UNDER_IF
            if not name.startswith("allocscope/") and name not in allowed:
                problems.append(Problem(
                    path, line, f"brings <{name}> into allocscope.hpp",
                    "every user's file pays for it; the budget is "
                    + " ".join(f"<{item}>" for item in sorted(DOOR_BUDGET)),
                    "declare here, and define in a header that only define_once/ includes"))
    return problems


H = HEADERS
CHECKS = {
    "floors": (floors, [
        {H + "base/a.hpp": "#include <allocscope/tables/b.hpp>\n", H + "tables/b.hpp": ""},
        {H + "snapshot/a.hpp": "#include <allocscope/symbols/b.hpp>\n",
         H + "symbols/b.hpp": ""},
        {H + "measure/a.hpp": "#include <allocscope/report.hpp>\n", H + "report.hpp": ""},
        {H + "config.hpp": "#include <allocscope/base/b.hpp>\n", H + "base/b.hpp": ""},
        {H + "base/a.hpp": "#include <allocscope/base/none.hpp>\n"},
        {H + "attic/a.hpp": ""},
    ], {H + "tables/a.hpp": "#include <allocscope/base/b.hpp>\n#include <allocscope/config.hpp>\n",
        H + "base/b.hpp": "", H + "config.hpp": "",
        H + "report.hpp": "#include <allocscope/tables/a.hpp>\n", DOOR: "",
        H + "define_once/c.hpp": "#include <allocscope/allocscope.hpp>\n"}),
    "std_includes": (std_includes, [
        {H + "tables/a.hpp": "#include <vector>  // vector\n"},
        {H + "report/a.hpp": "#include <iostream>  // cout\n"},
        {H + "report/a.hpp": "#include <vector>\n"},
        {H + "report/a.hpp": '#include "b.hpp"\n'},
        {H + "report/a.hpp": "#include <bits/functexcept.h>  // __throw_invalid_argument\n"},
    ], {H + "report/a.hpp": "#include <vector>  // vector\n",
        H + "tables/b.hpp": "#include <atomic>  // atomic\n"}),
    "door_budget": (door_budget, [
        {DOOR: "#include <allocscope/base/a.hpp>\n", H + "base/a.hpp": "#include <atomic>  // a\n"},
        {DOOR: "#ifndef A\n#include <stdexcept>  // unconditional but for the guard\n#endif\n"},
    ], {DOOR: "#include <allocscope/base/a.hpp>\n",
        H + "base/a.hpp": "#ifndef A\n#include <new>  // n\n#if 0\n#else\n"
                          "    #include <stdexcept>  // s\n#endif\n#endif\n",
        H + "base/b.hpp": "#include <atomic>  // not reached\n"}),
}

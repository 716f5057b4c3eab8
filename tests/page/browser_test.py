"""browser_test.py WRITER [STACKS]

The page in a real browser: every control, numbers equal to those of the JSON that was written from
the same snapshot, hostile names, keys, themes, printing, and how long many stacks take.
"""

import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import chromium

WRITER = sys.argv[1]
STACKS = sys.argv[2] if len(sys.argv) > 2 else "100000"
SOME_SECONDS = 20000  # milliseconds; a first paint takes half a second on an idle machine


def number(text):
    """The number of a text such as ~-1,234 bytes."""
    return int(re.sub(r"[^\d-]", "", text.replace("\u2212", "-").split(" bytes")[0]))


def boxes(page):
    return page.run("allocscope_page.boxes()")


def box(page, name):
    found = [each for each in boxes(page) if each["name"] == name]
    assert found, (name, [each["name"] for each in boxes(page)])
    return found[0]


def click_box(page, name):
    """Clicks where the chart has drawn the box."""
    x, y = place_of_box(page, name)
    page.click_at(x, y)


def place_of_box(page, name):
    page.run("document.getElementById('chart').scrollIntoView({block: 'center'})")
    page.settle()
    left, top = page.run("(() => { const box = document.getElementById('chart')"
                         ".getBoundingClientRect(); return [box.left, box.top]; })()")
    drawn = box(page, name)
    return left + drawn["left"] + drawn["width"] / 2, top + drawn["top"] + 8


def color_at(page, drawn):
    """What stands in the upper left corner of a box. From a copy: the chart itself is not for
    reading."""
    return tuple(page.run(f"""(() => {{
        const copy = new OffscreenCanvas(1, 1).getContext('2d', {{willReadFrequently: true}});
        copy.drawImage(document.getElementById('chart'), {-drawn["left"] - 2}, {-drawn["top"] - 3});
        return [...copy.getImageData(0, 0, 1, 1).data];
    }})()"""))


def rows(page):
    """The table: place, function, type and the exact numbers by the names of their columns."""
    heads = page.texts("#places_head th")
    cells = page.run("""[...document.querySelectorAll('#places_body tr')].map((row) =>
        [...row.children].map((cell) => [cell.textContent, cell.title]))""")
    made = []
    for line in cells:
        row = {}
        for head, (text, title) in zip(heads, line):
            is_text = head in ("Place", "Function", "Type")
            row[head] = text if is_text or head == "Share" else number(title.split("\n")[0])
        made.append(row)
    return made


def quiet(page):
    """Nothing was said and nothing but the page itself was asked for."""
    assert page.messages == [], page.messages
    assert all(url.startswith("file://") for url in page.requests), page.requests
    assert len(page.requests) == 1, page.requests


def opened(page, folder, name):
    page.open(folder / f"{name}.html")
    quiet(page)
    return json.loads((folder / f"{name}.json").read_text())


def numbers_are_those_of_the_json(page, folder, name):
    truth = opened(page, folder, name)
    totals = truth["totals"]
    titles = page.run("[...document.querySelectorAll('.total .large')].map((each) => each.title)")
    wanted = [totals["live_bytes"], totals["bytes_allocated"], totals["bytes_freed"],
              totals["peak_bytes"]]
    assert [number(each) for each in titles] == wanted, (titles, totals)
    small = page.texts(".total .small")
    assert number(small[0]) == totals["live_objects"], small
    assert number(small[1]) == totals["allocations"], small

    sources = {row["type_source"] for row in truth["rows"]} - {""}
    titles = page.run("[...document.querySelectorAll('#places td.type')].map((cell) => cell.title)")
    assert len(sources) == len({each.split("\n")[1] for each in titles if "\n" in each}), sources

    # The rows, whatever page of the table they are on.
    seen = {}
    while True:
        for row in rows(page):
            seen[row["Place"], row["Type"].replace("unknown type", "?")] = row
        if page.run("document.getElementById('later').hidden ||"
                    " document.getElementById('later').disabled"):
            break
        page.click("#later")
    for row in truth["rows"]:
        place = f"{row['file']}:{row['line']}" if row["line"] else None
        if place is None:
            continue
        found = seen[place, row["type"]]
        assert (found["Live objects"], found["Live bytes"]) == (row["objects"], row["bytes"]), row
    # Each number of the chart is the sum of the table's column.
    columns = [("Live bytes", 0), ("Live objects", 1), ("Allocated bytes", 2), ("Allocations", 3)]
    top = box(page, "all")
    for column, at in columns:
        assert sum(row[column] for row in seen.values()) == top["numbers"][at], column
    assert top["numbers"][0] == sum(row["bytes"] for row in truth["rows"])
    return truth


def the_chart_by_hand(page, folder):
    opened(page, folder, "by_hand")
    names = [each["name"] for each in boxes(page)]
    # Library frames and frames without lines are hidden, what is left is in order.
    assert names[0] == "all" and "main" in names and "app::run" in names, names
    assert not any("std::" in name and name != "std::string" for name in names), names
    assert not any("libc" in name for name in names), names
    assert "app::(anonymous namespace)::make" + "<\u2026>" in names, names
    assert box(page, "main")["numbers"] == [4096, 16, 14440, 157]
    assert box(page, "app::load")["value"] == 4000
    assert box(page, "int")["numbers"] == [3000, 5, 3000, 5]
    assert abs(box(page, "app::load")["width"] / box(page, "main")["width"] - 4000 / 4096) < 0.01
    assert "char" not in names  # all of it was freed
    page.click("#library")
    assert box(page, "std::vector<\u2026>::push_back")["value"] == 3000
    assert box(page, "libc.so.6+0x1000")["value"] == 4096
    assert page.run("document.getElementById('library').ariaPressed") == "true"
    page.press("l")
    assert not any("push_back" in each["name"] for each in boxes(page))
    facts = page.text("#facts")
    for wanted in ("app --fast", "4711", "2023-11-14T22:13:20.000Z", "4 with 6 different frames"):
        assert wanted in facts, (wanted, facts)


def packed_numbers(page, folder):
    """Also what does not fit into 32 bits, and what is below 0."""
    opened(page, folder, "by_hand")
    assert page.run("[...allocscope_page.unpacked('AfgB/fggB-B')]") == [0, 31, 32, 1023, 1024, -1]
    assert page.run("[...allocscope_page.unpacked('')]") == []
    assert page.run("allocscope_page.unpacked('-//////////H')[0]") == -(2 ** 53 - 1)
    assert page.run("allocscope_page.unpacked('////////////P')[0]") == 2 ** 64


def library_of_the_user(page, folder):
    """What stands between the row's place and operator new is hidden, whatever it is called."""
    opened(page, folder, "pool")
    for key in ("i", "i"):
        assert not any("pool" in each["name"] for each in boxes(page)), boxes(page)
        page.press(key)
    page.press("l")
    assert box(page, "pool::take")["value"] == 640


def folders_of_the_user(page, folder):
    """A folder that is called as one of the C library's does not hide what is in it."""
    opened(page, folder, "folders")
    names = [each["name"] for each in boxes(page)]
    assert names == ["all", "main", "app::flags", "app::plugin", "app::node"], names
    page.press("l")
    assert box(page, "__printf_chk")["value"] == 640


def zoom_and_back(page, folder):
    opened(page, folder, "by_hand")
    click_box(page, "app::load")
    assert page.texts("#path .here") == ["app::load"]
    assert box(page, "app::load")["width"] == box(page, "all")["width"]
    assert sum(row["Live bytes"] for row in rows(page)) == 4000
    assert page.text("#places_text") == "2 places of 4"
    click_box(page, "int")
    assert [row["Type"] for row in rows(page)] == ["int"]
    page.press("Escape")
    # What is under a box that does not begin at the left begins there when it is shown alone.
    click_box(page, "app::node")
    assert box(page, "app::node")["left"] == 0
    page.press("Escape")
    click_box(page, "app::(anonymous namespace)::make<\u2026>")
    assert box(page, "app::node")["left"] == 0, boxes(page)
    page.press("Escape")
    assert page.texts("#path .here") == ["app::load"]
    page.click("#path button:nth-of-type(2)")
    assert page.texts("#path .here") == ["main"], page.text("#path")
    page.press("Escape")
    page.press("Escape")
    assert page.text("#path") == "" and len(rows(page)) == 4


def hover(page, folder):
    opened(page, folder, "by_hand")
    page.mouse_to(*place_of_box(page, "app::load"))
    page.settle()
    assert not page.run("document.getElementById('tip').hidden")
    text = page.text("#tip")
    for wanted in ("app::load(std::string const&)", "/src/load.cpp:30", "/opt/app/app", "4,000",
                   "3.91 KiB", "97.7%", "15", "4,200", "17"):
        assert wanted in text, (wanted, text)
    page.mouse_to(3, 3)
    page.settle()
    assert page.run("document.getElementById('tip').hidden")


def metrics(page, folder):
    opened(page, folder, "by_hand")
    for key, value in (("2", 16), ("3", 14440), ("4", 157), ("1", 4096)):
        page.press(key)
        assert box(page, "all")["value"] == value, key
    page.click("#metrics button:nth-child(4)")
    assert box(page, "char")["value"] == 100
    checked = page.run("[...document.querySelectorAll('#metrics button')]"
                       ".map((each) => each.ariaChecked)")
    assert checked == ["false", "false", "false", "true"], checked
    # The table is in the order of what is shown.
    assert rows(page)[0]["Type"] == "char"
    opened(page, folder, "rows_alone")
    page.press("4")
    assert box(page, "all")["value"] == 4000
    assert page.run("document.querySelectorAll('#metrics button:disabled').length") == 2


def narrow_and_wide(page, folder):
    """Only the tables scroll to the side, also in 320 pixels: a page at 400% in 1280. A large
    screen is used, and columns of text stay readable beside many columns of numbers."""
    opened(page, folder, "threads")
    page.resize(320, 640)
    page.settle()
    wide = page.run("document.documentElement.scrollWidth")
    brand_lines = page.run("document.querySelector('.brand').getClientRects().length")
    lefts = page.run("['#how', '#search'].map((each) =>"
                     " document.querySelector(each).getBoundingClientRect().left)")
    page.resize(1440, 900)
    page.settle()
    texts = page.run("['place', 'function', 'type'].map((each) => document"
                     ".querySelector(`#places_body td.${each}`).getBoundingClientRect().width)")
    page.resize(3840, 2160)
    page.settle()
    chart = page.run("document.getElementById('chart').getBoundingClientRect().width")
    page.resize(1280, 900)
    assert wide == 320, wide
    assert brand_lines == 1, brand_lines
    assert lefts[0] == lefts[1], lefts
    assert min(texts) > 140, texts
    assert chart > 2400, chart


def search(page, folder):
    opened(page, folder, "by_hand")
    page.press("/")
    page.type("MAKE")
    page.settle()
    assert page.text("#matched") == f"{1096 / 40.96:.1f}% \u00b7 1.07 KiB", page.text("#matched")
    assert sorted(row["Type"] for row in rows(page)) == ["app::node", "std::string"]
    found = [(each["name"], color_at(page, each)) for each in boxes(page)]
    colors = {color for name, color in found if "make" in name}
    assert len(colors) == 1, found
    assert colors.isdisjoint({color for name, color in found if "make" not in name}), found
    page.press("Escape")
    assert page.text("#matched") == "" and len(rows(page)) == 4
    for wanted, types in (("type:int", ["int"]), ("type:=char", ["char"]),
                          ("load.cpp:30", ["app::node", "int"]),
                          ("/^app::(node|x)/", ["app::node"]),
                          ("/^app::(run|x)/", ["app::node", "char", "int", "std::string"]),
                          ("type:/^app::/", ["app::node"]),
                          ("function:load", ["app::node", "int"]), ("file:load.cpp:31", []),
                          ("module:opt/app", ["app::node", "char", "int", "std::string"]),
                          ("nowhere", [])):
        page.run("document.getElementById('search').value = ''")
        page.press("/")
        page.type(wanted)
        page.settle()
        assert sorted(row["Type"] for row in rows(page)) == types, (wanted, rows(page))
        page.press("Escape")
    page.press("/")
    page.type("/(/")
    page.settle()
    assert "not a pattern" in page.text("#matched")
    page.press("Escape")
    quiet(page)


def invert(page, folder):
    opened(page, folder, "by_hand")
    page.press("i")
    first = {each["name"]: each["value"] for each in boxes(page) if each["depth"] == 1}
    assert first == {"app::load": 3000, "app::(anonymous namespace)::make<\u2026>": 1096}, first
    page.press("l")
    first = {each["name"]: each["value"] for each in boxes(page) if each["depth"] == 1}
    assert first["std::vector<\u2026>::push_back"] == 3000, first
    page.press("l")
    # The type of a stack is found also where no box has its name.
    page.press("/")
    page.type("type:=int")
    page.settle()
    assert [row["Type"] for row in rows(page)] == ["int"]
    page.press("Escape")
    page.click("#invert")
    assert [each["name"] for each in boxes(page) if each["depth"] == 1] == ["main"]


def table(page, folder):
    opened(page, folder, "by_hand")
    assert [row["Live bytes"] for row in rows(page)] == [3000, 1000, 96, 0]
    assert [row["Share"] for row in rows(page)] == ["73.2%", "24.4%", "2.3%", "0.0%"]
    page.click("#places_head th:nth-child(7) button")
    assert [row["Allocations"] for row in rows(page)] == [100, 40, 12, 5]
    assert page.run("document.querySelector('#places_head th:nth-child(7)').ariaSort") \
        == "descending"
    page.click("#places_head th:nth-child(7) button")
    assert [row["Allocations"] for row in rows(page)] == [5, 12, 40, 100]
    page.click("#places_head th:nth-child(1) button")
    places = [row["Place"] for row in rows(page)]
    assert places == sorted(places), places
    # A row shows its place alone, and once more shows all.
    at = [row["Type"] for row in rows(page)].index("int") + 1
    page.click(f"#places_body tr:nth-child({at})")
    assert box(page, "this place")["numbers"] == [3000, 5, 3000, 5]
    assert page.texts("#path .chip") == ["/src/load.cpp:30 \u00b7 int \u00d7"]
    assert len(rows(page)) == 4
    page.click("#path .chip")
    assert box(page, "all")["value"] == 4096
    # By keys.
    page.press("p")
    page.press("ArrowDown")
    page.press("Enter")
    assert box(page, "this place")["value"] == rows(page)[1]["Live bytes"]
    page.press("Escape")
    assert box(page, "all")["value"] == 4096
    for name in ("this place", "all"):
        page.press("p")
        page.press("Enter")
        assert boxes(page)[-1]["name"] == name or boxes(page)[0]["name"] == name, boxes(page)


def treemap(page, folder):
    opened(page, folder, "by_hand")
    page.middle_of("#types")
    cells = page.run("allocscope_page.cells()")
    assert [(each["name"], each["value"]) for each in cells] == [
        ("int", 3000), ("app::node", 1000), ("std::string", 96)], cells
    area = sum(each["width"] * each["height"] for each in cells)
    wide, high = page.run("[document.getElementById('types')].map((each) =>"
                          " [each.clientWidth, each.clientHeight])[0]")
    assert abs(area / (wide * high) - 1) < 0.001, (area, wide, high)
    for each in cells:
        assert each["left"] + each["width"] < wide + 1, (each, wide)
        assert each["top"] + each["height"] < high + 1, (each, high)
    for each in cells:
        share = each["width"] * each["height"] / area
        assert abs(share - each["value"] / 4096) < 0.001, each
    left, top = page.run("(() => { const box = document.getElementById('types')"
                         ".getBoundingClientRect(); return [box.left, box.top]; })()")
    node = cells[1]
    page.click_at(left + node["left"] + 5, top + node["top"] + 5)
    assert page.run("document.getElementById('search').value") == "type:=app::node"
    assert [row["Type"] for row in rows(page)] == ["app::node"]


def keys_of_the_chart(page, folder):
    opened(page, folder, "by_hand")
    page.press("c")
    page.press("ArrowDown")
    assert page.text("#spoken").startswith("main, /src/main.cpp:10"), page.text("#spoken")
    page.press("ArrowDown")
    page.press("ArrowDown")
    assert page.text("#spoken").startswith("app::load(std::string const&)")
    page.press("ArrowRight")
    assert "make" in page.text("#spoken"), page.text("#spoken")
    page.press("ArrowLeft")
    assert page.text("#spoken").startswith("app::load("), page.text("#spoken")
    page.press("ArrowUp")
    page.press("Enter")
    assert page.texts("#path .here") == ["app::run"]
    page.press("Escape")
    assert page.texts("#path .here") == []
    page.press("?")
    assert page.run("document.getElementById('help').open")
    assert len(page.texts("#keys dt")) > 10
    page.press("Escape")
    assert not page.run("document.getElementById('help').open")


def themes(page, folder):
    opened(page, folder, "by_hand")

    def background():
        return page.run("getComputedStyle(document.body).backgroundColor")

    def box_color():
        return color_at(page, {"left": 1, "top": 0})

    page.prefer("light")
    page.settle()
    light = background(), box_color()
    page.prefer("dark")
    page.settle()
    dark = background(), box_color()
    assert light[0] != dark[0] and light[1] != dark[1], (light, dark)
    page.press("t")
    assert (background(), box_color()) == light
    page.press("t")
    assert (background(), box_color()) == dark
    page.press("t")
    assert page.text("#theme") == "Theme: auto"
    page.prefer("light")
    page.settle()
    assert (background(), box_color()) == light


def differences(page, folder):
    truth = opened(page, folder, "difference")
    top = box(page, "all")
    assert top["numbers"][0] == sum(row["bytes"] for row in truth["rows"]) == 1000 - 2500 + 96
    # Widths are of all that has changed, also where it cancels out.
    assert abs(box(page, "int")["width"] / top["width"] - 2500 / 3596) < 0.01
    found = {row["Type"]: row["Live bytes"] for row in rows(page)}
    assert found["int"] == -2500 and found["app::node"] == 1000, found
    assert page.texts("#places_body .down") and page.texts("#places_body .up")
    less, more = color_at(page, box(page, "int")), color_at(page, box(page, "app::node"))
    assert less[2] > less[0] and more[0] > more[2], (less, more)
    assert any("different windows" in each for each in page.texts(".note"))
    for name in ("real_difference",):
        numbers = opened(page, folder, name)
        assert box(page, "all")["numbers"][0] == sum(row["bytes"] for row in numbers["rows"])
    # With threads and details: by difference().
    truth = opened(page, folder, "whole_difference")
    assert len(page.texts("#threads option")) == 1 + len(truth["threads"]) == 3
    heads = page.texts("#places_head th")
    assert "Lived" in heads and "Temporary" in heads and "Mean life" not in heads, heads
    shown = [page.texts(f"#places_body td:nth-child({heads.index('Lived') + 1})")]
    assert any(each.startswith("+") for each in shown[0]), shown
    for number, thread in enumerate(truth["threads"]):
        page.run("(() => { const pick = document.getElementById('threads');"
                 f" pick.value = '{number}'; pick.dispatchEvent(new Event('change')); }})()")
        page.settle()
        assert box(page, "all")["numbers"][0] == thread["bytes"], (number, thread)
    assert {thread["bytes"] > 0 for thread in truth["threads"]} == {True, False}


def details_and_threads(page, folder):
    opened(page, folder, "threads")
    assert page.texts("#threads option") == ["all", "main (thread 1)", "worker (thread 2)"]
    assert not page.run("document.getElementById('thread_pick').hidden")
    ages = page.texts("#families tr:last-child td")
    assert ages == ["0 to 2.0 s", "6", "600", "7", "700"], ages

    def choose(thread):
        page.run("(() => { const pick = document.getElementById('threads');"
                 f" pick.value = '{thread}'; pick.dispatchEvent(new Event('change')); }})()")
        page.settle()

    def seen():
        return {row["Type"]: (row["Live bytes"], row["Allocations"], row["Bytes at the peak"],
                              row["Temporary"], row["Mean life"]) for row in rows(page)}

    everything = seen()
    assert everything["app::node"] == (1000, 12, 1200, 3, 3000), everything
    assert everything["char"] == (0, 100, 300, 1, 50), everything
    choose(0)
    assert box(page, "all")["value"] == 400 + 96
    assert seen() == {"app::node": (400, 5, 300, 1, 1000), "std::string": (96, 40, 300, 1, 125)}
    choose(1)
    assert box(page, "all")["value"] == 600 + 3000
    assert sorted(seen()) == ["app::node", "char", "int"], seen()
    cells = page.run("allocscope_page.cells()")
    assert [(each["name"], each["value"]) for each in cells] == [("int", 3000), ("app::node", 600)]
    page.press("/")
    page.type("app::load")
    page.settle()
    assert page.text("#matched").endswith(" 3.52 KiB"), page.text("#matched")
    page.press("Escape")
    page.press("5")
    assert page.text("#chart_title") == "Stacks by bytes alive at the peak"
    assert box(page, "all")["value"] == 900 + 300 + 300
    page.press("6")
    assert box(page, "all")["value"] == 2 + 1 + 1
    choose(-1)
    assert box(page, "all")["value"] == 3 + 1 + 1 + 1
    # By its mean life.
    heads = page.texts("#places_head th")
    page.click(f"#places_head th:nth-child({heads.index('Mean life') + 1}) button")
    lives = [row["Mean life"] for row in rows(page)]
    assert lives == [3000, 1000, 125, 50], lives
    opened(page, folder, "by_hand")
    assert page.texts("#families td") == []
    assert page.run("document.getElementById('thread_pick').hidden")
    assert "Mean life" not in page.texts("#places_head th")
    page.press("5")
    assert page.text("#chart_title") == "Stacks by live bytes"


def sampled(page, folder):
    opened(page, folder, "sampled")
    assert page.texts(".total .large")[0] == "~4.00 KiB"
    assert "95%: 2.00 KiB to 12.0 KiB" in page.texts(".total .small")
    titles = page.run("[...document.querySelectorAll('#places_body tr:first-child td')]"
                      ".map((cell) => cell.title)")
    assert "~3,000 bytes\n95%: 1,500 to 9,000 bytes in the whole window, from 2 samples" in titles
    assert "estimates" in page.text("#how")


def timeline(page, folder):
    opened(page, folder, "series")
    assert not page.run("document.getElementById('timeline_card').hidden")
    x, y = page.middle_of("#timeline")
    page.mouse_to(x, y)
    page.settle()
    assert "after 1.0 s" in page.text("#tip"), page.text("#tip")
    page.mouse_to(3, 3)
    page.run("document.getElementById('timeline').focus()")
    for _ in range(8):
        page.press("ArrowRight")
    cells = page.texts("#tip td")
    assert cells == ["Live bytes", "28,672", "28.0 KiB", "Live objects", "70", "",
                     "Allocated bytes", "57,344", "56.0 KiB", "Allocations", "140", ""], cells
    for _ in range(53):
        page.press("ArrowRight")
    assert page.text("#tip .place") == "loaded"
    notes = page.texts(".note")
    assert any("12 allocations came while" in each for each in notes), notes
    assert any("1 object with 2.00 KiB may have been freed" in each for each in notes), notes
    opened(page, folder, "by_hand")
    assert page.run("document.getElementById('timeline_card').hidden")


def memory(page, folder):
    truth = opened(page, folder, "series")["memory"]
    assert not page.run("document.getElementById('memory_card').hidden")
    words = page.text("#memory_text")
    assert words == ("4.00 MiB, 2.0 \u00b5s after the window began; swapped out, and in no part:"
                     " 4.00 KiB"), words
    assert page.texts("#memory td") == [
        "recorded objects", "3.00 MiB", "75.0%", "alive in this window, as requested",
        "free, kept by malloc", "1.00 MiB", "25.0%",
        "freed or never used, and not given back to the kernel"], page.texts("#memory td")
    exact = page.run("[...document.querySelectorAll('#memory td:nth-child(2)')]"
                     ".map((cell) => cell.title)")
    assert sum(int(each.split()[0].replace(",", "")) for each in exact) == truth["resident_bytes"]
    opened(page, folder, "by_hand")
    assert page.run("document.getElementById('memory_card').hidden")
    quiet(page)


def nothing_to_show(page, folder):
    opened(page, folder, "empty")
    assert page.text("#chart_note") == "Nothing is alive."
    opened(page, folder, "counters")
    assert page.text("#chart_note").startswith("This window only counted")
    assert page.texts(".total .small")[0] == "50 objects"
    opened(page, folder, "filtered_away")
    assert page.text("#chart_note") == "No place matches the request."
    opened(page, folder, "of_no_window")
    assert "this snapshot comes from no window" in page.text("#notes")
    for key in "234il":
        page.press(key)
    page.press("i")
    quiet(page)


def filtered(page, folder):
    """The rest is not missing: somebody has left it out. Of a page with everything nothing is."""
    opened(page, folder, "filtered")
    note = page.text("#notes")
    assert note == ("Filtered: the places below are a part, 5 objects with 2.93 KiB; the totals are"
                    " those of the whole window."), note
    assert [each["name"] for each in boxes(page)][0] == "all"
    assert box(page, "all")["value"] == 3000
    opened(page, folder, "by_hand")
    assert page.text("#notes") == "", page.text("#notes")


class Parser(html.parser.HTMLParser):
    """Another reader of HTML: which tags there are, and what is in the scripts."""

    def __init__(self):
        super().__init__()
        self.tags, self.scripts, self.inside = {}, [], False

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.inside = tag == "script"
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name, value)
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data


def parsed(path):
    parser = Parser()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


def hostile(page, folder):
    truth = opened(page, folder, "hostile")
    plain, other = parsed(folder / "by_hand.html"), parsed(folder / "hostile.html")
    for tag in ("script", "style", "img", "b", "body", "title", "noscript", "p"):
        assert plain.tags.get(tag) == other.tags.get(tag), (tag, plain.tags, other.tags)
    data = json.loads(other.scripts[0])
    assert len(other.scripts) == 2 and data["window"] == truth["window"]
    assert page.run("document.title") == truth["window"] + " \u2013 allocscope"
    assert page.run("document.scripts.length") == 2
    assert page.run("document.images.length") == 0
    assert page.text("#title") == truth["window"]
    names = {row["Type"] for row in rows(page)}
    assert names == {row["type"] for row in truth["rows"]}, names
    functions = {row["function"] for row in truth["rows"]}
    shown = set(page.run("[...document.querySelectorAll('#places_body td:nth-child(2)')]"
                         ".map((cell) => cell.title)"))
    assert shown == functions, (shown, functions)
    assert any(truth["window"] in each for each in page.texts(".note"))
    for drawn in boxes(page)[1:4]:
        page.mouse_to(*place_of_box(page, drawn["name"]))
        page.settle()
    page.click("#places_body tr:nth-child(1)")
    page.press("i")
    quiet(page)
    # Were a name to become a script all the same, the policy would not let it run.
    page.run("document.body.append(Object.assign(document.createElement('script'),"
             " {textContent: 'window.taken = 1'}))")
    assert page.run("window.taken === undefined")


def without_scripts(page, folder):
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.open(folder / "by_hand.html")
        text = page.run("document.body.innerText")
        for wanted in ('allocscope report of window "by hand"', "/src/load.cpp:30", "3000"):
            assert wanted in text, (wanted, text)
        assert not page.run("document.getElementById('page').checkVisibility()")
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)


def prints(page, folder):
    opened(page, folder, "series")
    page.prefer("dark")
    page.settle()
    printed = page.printed()
    assert printed.startswith(b"%PDF") and len(printed) > 10000, len(printed)
    page.prefer("light")
    quiet(page)


def names_for_those_who_do_not_see(page, folder):
    opened(page, folder, "series")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    checked = 0
    for node in nodes:
        role = node.get("role", {}).get("value")
        if node.get("ignored") or role not in ("button", "radio", "searchbox", "combobox",
                                               "application", "columnheader", "textbox"):
            continue
        assert node.get("name", {}).get("value"), node
        checked += 1
    assert checked > 15, checked


def many_stacks(page, folder):
    page.open(folder / "large.html")
    quiet(page)
    first = page.run("allocscope_page.timings().first_paint")
    taken = {"first paint": first}
    drawn = next(each for each in boxes(page) if each["depth"] == 3)
    click_box(page, drawn["name"])
    taken["zoom"] = page.run("allocscope_page.timings().last_change")
    assert page.texts("#path .here") != []
    page.press("Escape")
    for what, key in (("other number", "3"), ("invert", "i"), ("library", "l")):
        page.press(key)
        taken[what] = page.run("allocscope_page.timings().last_change")
    page.press("/")
    page.type("part_3")
    page.run("new Promise((done) => setTimeout(done, 500))")
    taken["search"] = page.run("allocscope_page.timings().last_change")
    assert page.text("#matched") != ""
    print("; ".join(f"{what} {value:.0f} ms" for what, value in taken.items()))
    assert first < SOME_SECONDS and taken["zoom"] < SOME_SECONDS, taken
    # No element for each stack or row.
    assert page.run("document.getElementsByTagName('*').length") < 2000


def main():
    program = chromium.find()
    if program is None:
        print("cannot run: there is no Chromium (apt-get install chromium)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print(subprocess.run([WRITER, name, STACKS], check=True, capture_output=True,
                             text=True).stdout.strip())
        page = chromium.Page(program)
        try:
            for check in (the_chart_by_hand, packed_numbers, library_of_the_user,
                          folders_of_the_user, zoom_and_back, hover, metrics, narrow_and_wide,
                          search, invert, table, treemap, keys_of_the_chart, themes, differences,
                          details_and_threads, sampled, timeline, memory, nothing_to_show,
                          filtered, hostile, without_scripts, prints,
                          names_for_those_who_do_not_see, many_stacks):
                print(check.__name__, flush=True)
                check(page, folder)
            for each in ("real", "by_hand"):
                print("numbers of", each, flush=True)
                numbers_are_those_of_the_json(page, folder, each)
        finally:
            page.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

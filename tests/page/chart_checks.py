"""The chart: boxes, colours, zoom, numbers to choose, search, inversion, treemap, keys."""

from page_view import box, boxes, click_box, color_at, opened, place_of_box, quiet, rows


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


CHECKS = [the_chart_by_hand, zoom_and_back, hover, metrics, narrow_and_wide, search, invert,
          treemap, keys_of_the_chart]

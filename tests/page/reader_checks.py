"""Whoever reads the page: with hostile names, without scripts, in the dark, on paper, by ear."""

import html.parser
import json

from page_view import boxes, color_at, opened, place_of_box, quiet, rows


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


CHECKS = [themes, hostile, without_scripts, prints, names_for_those_who_do_not_see]

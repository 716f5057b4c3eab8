"""What a person sees of the open page, and where to click."""

import json
import re


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

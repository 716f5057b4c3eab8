"""The table of places: its numbers against those of the JSON, and whose code it shows."""

from page_view import box, boxes, number, opened, quiet, rows


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


def types_lose_their_scopes(page, folder):
    """Where there is little room, a type loses the scopes around it, never a part of its name."""
    def shorter(name):
        return page.run(f"allocscope_page.shorter_types('{name}')")
    opened(page, folder, "by_hand")
    assert shorter("app::net::node") == ["app::net::node", "net::node", "node"]
    assert shorter("std::pair<const std::string, a::b>") == \
        ["std::pair<const std::string, a::b>", "pair<const std::string, a::b>"]
    for name in ("int", "unsigned char", "begins with app::node"):
        assert shorter(name) == [name], name
    cut_at_the_left = page.texts("#places td.type.scoped")
    assert "app::node" in cut_at_the_left and "int" not in cut_at_the_left, cut_at_the_left
    quiet(page)


CHECKS = [library_of_the_user, folders_of_the_user, table, filtered, types_lose_their_scopes]

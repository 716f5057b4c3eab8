"""Pages of each kind of snapshot: compared, detailed, sampled, with a timeline, empty, large."""

from page_view import box, boxes, click_box, color_at, opened, quiet, rows

SOME_SECONDS = 20000  # milliseconds; a first paint takes half a second on an idle machine


def packed_numbers(page, folder):
    """Also what does not fit into 32 bits, and what is below 0."""
    opened(page, folder, "by_hand")
    assert page.run("[...allocscope_page.unpacked('AfgB/fggB-B')]") == [0, 31, 32, 1023, 1024, -1]
    assert page.run("[...allocscope_page.unpacked('')]") == []
    assert page.run("allocscope_page.unpacked('-//////////H')[0]") == -(2 ** 53 - 1)
    assert page.run("allocscope_page.unpacked('////////////P')[0]") == 2 ** 64


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


def titles_of_first_place(page):
    return page.run("[...document.querySelectorAll('#places_body tr:first-child td')]"
                    ".map((cell) => cell.title)")


def sampled(page, folder):
    opened(page, folder, "sampled")
    assert page.texts(".total .large")[0] == "~4.00 KiB"
    assert "95%: 2.00 KiB to 12.0 KiB" in page.texts(".total .small")
    titles = titles_of_first_place(page)
    assert "~3,000 bytes\n95%: 1,500 to 9,000 bytes in the whole window, from 2 samples" in titles
    assert "estimates" in page.text("#how")
    opened(page, folder, "sampled_difference")
    titles = titles_of_first_place(page)
    wanted = "95%: \u22126,000 to 0 bytes in the whole window, from 1 sample"
    assert any(each.endswith(wanted) for each in titles), titles


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


def is_hidden(page, name):
    """Whether nobody sees the element, because it or what it stands in is hidden."""
    return page.run(f"document.getElementById('{name}').getClientRects().length === 0")


def nothing_to_show(page, folder):
    opened(page, folder, "by_hand")
    assert not any(is_hidden(page, name) for name in ("tools", "places", "types"))
    opened(page, folder, "empty")
    assert page.text("#chart_note") == "Nothing is alive."
    # A table without rows, an empty treemap and their buttons say nothing.
    assert all(is_hidden(page, name) for name in ("tools", "places", "types"))
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
    opened(page, folder, "by_hand")
    page.press("/")
    page.type("no name is like this")
    page.run("new Promise((done) => setTimeout(done, 100))")
    assert page.text("#types_text") == "none" and is_hidden(page, "types")
    assert not is_hidden(page, "tools") and not is_hidden(page, "places")
    page.press("Escape")
    assert not is_hidden(page, "types")
    quiet(page)


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


CHECKS = [packed_numbers, differences, details_and_threads, sampled, timeline, memory,
          nothing_to_show, many_stacks]

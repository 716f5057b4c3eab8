"""lists_test.py - a list in which two entries share a name is refused, with that name."""
import pathlib
import tempfile

import lists

FIELDS = {"name", "command", "quick"}


def refusal(path, **chosen):
    """What the reader ends the script with; None when it accepts the list."""
    try:
        lists.read_list(path, "program", FIELDS, **chosen)
    except SystemExit as end:
        return end.code
    return None


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made.toml"

        def write(*entries):
            path.write_text("".join(f"[[program]]\n{each}\n" for each in entries))

        sort, uniq = 'name = "sort -u"\nquick = true', 'name = "uniq"'
        write(sort, uniq)
        assert refusal(path) is None
        assert [each["name"] for each in lists.read_list(path, "program", FIELDS)] == \
            ["sort -u", "uniq"]
        for chosen in ({"names": ["ort"]}, {"is_quick": True}):
            found = lists.read_list(path, "program", FIELDS, **chosen)
            assert [each["name"] for each in found] == ["sort -u"], (chosen, found)
        write(sort, uniq, sort)
        for chosen in ({}, {"names": ["uniq"]}, {"is_quick": True}):  # whatever is to be run
            assert refusal(path, **chosen) == "made.toml: two entries are named sort -u", chosen
        write(sort, uniq + '\ncomand = "uniq"')
        assert refusal(path) == "made.toml: uniq has unknown fields ['comand']"


main()

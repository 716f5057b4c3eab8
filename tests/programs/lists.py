"""The lists of programs, such as exactness.toml.

A name says which entry failed, and chooses what is run: no two entries of a list share one.
"""
import sys
import tomllib


def read_list(path, table, fields, names=(), is_quick=False):
    """The entries of a list that have one of these parts in their names; all, without any. The
    whole list is checked in any case."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))[table]
    taken = set()
    for each in entries:
        name = each["name"]
        if name in taken:
            sys.exit(f"{path.name}: two entries are named {name}")
        if set(each) - fields:
            sys.exit(f"{path.name}: {name} has unknown fields {sorted(set(each) - fields)}")
        taken.add(name)
    return [each for each in entries
            if (not names or any(part in each["name"] for part in names))
            and (not is_quick or each.get("quick"))]

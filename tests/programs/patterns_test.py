"""patterns_test.py - what transparency.py says of a run after some bare ones."""
from transparency import outcome, pattern


def left(stdout="", **files):
    """A run that prints this, and leaves these files with these contents."""
    named = {f"file {name.replace('_', '/', 1)}": text.encode() for name, text in files.items()}
    return outcome(0, stdout.encode(), b"", named)


def noticed(bare, seen):
    """The parts in which a run is not as the bare ones were."""
    common = pattern(bare[0])
    for each in bare[1:]:
        common.learn(each)
    return [part for part, _, _ in common.differences(seen)]


def main():
    same = left("1 2", tree_a="x")
    assert noticed([same, same], same) == []
    assert noticed([same, same], left("1 3", tree_a="x")) == ["stdout"]
    assert noticed([left("1 2"), left("1 3")], left("1 4")) == []
    assert noticed([left("1 2"), left("1 3")], left("2 4")) == ["stdout"]
    assert noticed([same, same], left("1 2", tree_a="y")) == ["file tree/a"]
    assert noticed([same, same], left("1 2")) == ["file tree/a"]
    assert noticed([same, same], left("1 2", tree_a="x", tree_b="x")) == ["file tree/b"]
    # A file whose name is another each time is known by the rest of its name.
    bare = [left(tree_part_Qx="one 1", tree_a="x"), left(tree_part_yZ="one 2", tree_a="x")]
    assert noticed(bare, left(tree_part_Kk="one 3", tree_a="x")) == []
    assert noticed(bare, left(tree_part_Kk="two 3", tree_a="x")) == ["file tree/part_Qx"]
    assert noticed(bare, left(tree_a="x")) == ["file tree/part_Qx"]
    assert noticed(bare, left(tree_whole_Kk="one 3", tree_a="x")) == \
        ["file tree/part_Qx", "file tree/whole_Kk"]
    assert noticed(bare, left(tree_part_A="one 1", tree_part_B="one 1", tree_a="x")) == \
        ["file tree/part_B"]
    two = [left(tree_p_A="1", tree_p_B="1"), left(tree_p_C="1", tree_p_D="1")]
    assert noticed(two, left(tree_p_E="1", tree_p_F="1")) == []
    # One that some bare runs leave and others do not may be there or not.
    assert noticed([same, left("1 2")], same) == noticed([same, left("1 2")], left("1 2")) == []


main()

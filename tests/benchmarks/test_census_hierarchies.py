"""The census example's conversion of hierarchies, on hand-written files of the same shape."""

from examples.census.hierarchies import convert, read_levels
from sqlanon.policy import read_hierarchy


def test_converts_to_arx(tmp_path):
    source, target = tmp_path / "from", tmp_path / "to"
    source.mkdir()
    target.mkdir()
    (source / "domains.txt").write_text("16 93\r\n1 6\r\n0 1\r\n")
    (source / "hiers.txt").write_text("*\r\n./Hierarchy/Six.txt\r\n./Hierarchy/Flat.txt\r\n\r\n")
    (source / "Six.txt").write_text("3\r\n4\r\n1 2\r\n3 3\r\n4 5\r\n6 6\r\n2\r\n1 3\r\n4 6\r\n1\r\n1 6\r\n\r\n")
    (source / "Flat.txt").write_text("1\r\n1\r\n0 1")
    assert read_levels(source / "Flat.txt") == [[(0, 1)]]
    convert(source, target, ("age", "six", "flat"))
    assert sorted(file.name for file in target.iterdir()) == ["flat.csv", "six.csv"]
    assert (target / "flat.csv").read_text().split() == ["0;*", "1;*"]
    assert (target / "six.csv").read_text().split() == [
        "1;1-2;1-3;*",
        "2;1-2;1-3;*",
        "3;3;1-3;*",
        "4;4-5;4-6;*",
        "5;4-5;4-6;*",
        "6;6;4-6;*",
    ]
    assert len(read_hierarchy(target / "six.csv").levels) == 6

"""How a CSV file is read: what commands say of it, and their options."""

from __future__ import annotations


def test_init_says_it_and_its_command_has_the_options(cli, tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("x;g\n" + "1,5;a\nNA;b\n2,75;a\n4,5;b\n" * 30)
    first = cli("init", source)
    assert "--decimal ," in first.out
    assert "--null NA" in first.out
    second = cli(
        "init", source, "--decimal", ",", "--null", "NA", "--ignore", "$", "--date-format", "%d.%m.%Y"
    )
    assert "stays text" not in second.out
    last = second.out.splitlines()[-1] if "\\" not in second.out else second.out
    assert "--decimal ," in last
    assert "--ignore '$'" in last
    assert "--date-format %d.%m.%Y" in last

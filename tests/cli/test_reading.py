"""How a CSV file is read: what commands say of it, and their options."""

from __future__ import annotations

import csv
import shlex
from datetime import date, timedelta

import pytest


def test_init_says_it_and_its_command_has_the_options(cli, tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("x;g\n" + "1,5;a\nNA;b\n2,75;a\n4,5;b\n" * 30)
    first = cli("init", source)
    assert "--decimal ," in first.out
    assert "--null NA" in first.out
    second = cli("init", source, "--decimal", ",", "--null", "NA", "--ignore", "$", "--date-format", "%d.%m.%Y")
    assert "stays text" not in second.out
    last = second.out.splitlines()[-1] if "\\" not in second.out else second.out
    assert "--decimal ," in last
    assert "--ignore '$'" in last
    assert "--date-format %d.%m.%Y" in last


@pytest.mark.parametrize("form", ["%-d.%-m.%Y", "%m/%d/%Y", "%d-%b-%Y", "%d%b%Y"])
def test_dates_that_do_not_begin_with_the_year_are_proposed_and_published_as_ranges(cli, tmp_path, form):
    source = tmp_path / "in.csv"
    days = [date(1950, 1, 1) + timedelta(days=91 * at) for at in range(200)]
    rows = [f"{day.strftime(form)},{20 + at % 40},{'abc'[at % 3]}\n" for at, day in enumerate(days)]
    source.write_text("born,age,diagnosis\n" + "".join(rows))
    assert "# born: quasi;" in (found := cli("init", source)).out
    assert cli(*shlex.split(found.out.splitlines()[-1])[1:]).code == 0
    with (tmp_path / "in_anonymized.csv").open() as file:
        published = list(csv.DictReader(file))
    assert len(published) == len(days)
    for row in published:
        low, high = date.fromisoformat(row["born_lo"]), date.fromisoformat(row["born_hi"])
        assert sum(low <= day <= high for day in days) >= 10


def test_dates_in_either_order_are_left_out_with_the_option_that_helps(cli, tmp_path):
    source = tmp_path / "in.csv"
    source.write_text(
        "seen,age\n" + "".join(f"{1 + at % 12:02}/{1 + at % 11:02}/2020,{20 + at % 40}\n" for at in range(300))
    )
    found = cli("init", source)
    assert "# seen: identifier; dates as text" in found.out
    assert "--date-format %d/%m/%Y or --date-format %m/%d/%Y" in found.out
    assert "# seen: quasi;" in cli("init", source, "--date-format", "%d/%m/%Y").out

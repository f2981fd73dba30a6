"""What is printed where: JSON, progress, logs, colours, widths."""

from __future__ import annotations

import io
import json
import logging
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from sqlanon.cli.arguments import parse_names
from sqlanon.cli.logs import configure
from sqlanon.cli.progress import WORDS, Bars, Lines, RemainingTime, format_amount
from sqlanon.cli.screen import Screen
from sqlanon.cli.show.catalog import release_rows
from sqlanon.cli.show.text import (
    LONGEST_NOTE,
    clean,
    count,
    format_seconds,
    hide_password,
    list_option,
    measure,
    note,
    share,
    things,
)
from sqlanon.policy.proposal import Proposal, ProposedColumn
from sqlanon.progress import STAGES, SilentProgress, Stopwatch
from sqlanon.results import ReleaseRow
from tests.cli.conftest import make_duckdb


def test_lines():
    stream = io.StringIO()
    lines = Lines(stream)
    watch = Stopwatch("patients", lines)
    with watch.stage("encode") as progress:
        progress.update(1, 2, "columns")
        progress.note("compiling kernels for the first time")
    for stage in ("method", "verify", "method", "verify"):
        with watch.stage(stage):
            pass
    lines.finish("patients")
    lines.stage("patients", "method")
    lines.stage("patients", "joined")
    assert stream.getvalue().splitlines() == [
        "[patients] number values ...",
        "[patients] compiling kernels for the first time",
        "[patients] divide rows into classes ...",
        "[patients] verify ...",
        "[patients] divide rows into classes ...",
        "[patients] joined ...",
    ]


def test_every_stage_of_a_run_has_words():
    assert set(STAGES) <= set(WORDS)


def test_lines_say_how_far(monkeypatch):
    clock = iter([0.0, 1.0, 6.0, 7.0, 20.0])
    monkeypatch.setattr("sqlanon.cli.progress.time.monotonic", lambda: next(clock))
    stream = io.StringIO()
    lines = Lines(stream)
    lines.stage("p", "method")
    for done in (1_000, 2_000, 3_000, 4_000):
        lines.update(done, 5_000, "rows")
    assert stream.getvalue().splitlines() == [
        "[p] divide rows into classes ...",
        "[p] divide rows into classes 2,000 of 5,000 rows, about 15 s for the rest",
        "[p] divide rows into classes 4,000 of 5,000 rows, about 6 s for the rest",
    ]


def test_how_long_is_said_once_it_is_known():
    """At the pace since the first count, by hand; another unit, or a count that goes back, begins anew."""
    left = RemainingTime()
    assert left.amount(101.0, 10, 100, "rows") == "10 of 100 rows"  # whenever the stage began
    assert left.amount(103.0, 15, 100, "rows") == "15 of 100 rows"  # two seconds are chance
    assert left.amount(111.0, 20, 100, "rows") == "20 of 100 rows, about 80 s for the rest"
    assert left.amount(120.0, 10, 100, "keys") == "10 of 100 keys"
    assert left.amount(130.0, 11, 100, "keys") == "11 of 100 keys"  # less than a fiftieth
    assert left.amount(140.0, 20, 100, "keys") == "20 of 100 keys, about 3 min for the rest"
    assert left.amount(150.0, 5, 50, "keys") == "5 of 50 keys"
    assert left.amount(160.0, 10, 50, "keys") == "10 of 50 keys, about 80 s for the rest"
    assert left.amount(170.0, 50, 50, "keys") == "50 of 50 keys"
    left.begin()
    assert left.amount(180.0, 50, 100, "keys") == "50 of 100 keys"
    assert left.amount(160.0, 7, 0, "levels") == "7 levels"


def test_bars_come_down():
    from rich.console import Console

    stream = io.StringIO()
    bars = Bars(Console(file=stream, force_terminal=True, width=80))
    bars.stage("pa[red]tients", "encode")
    bars.update(1, 0, "rows")
    bars.update(1, 2, "rows")
    bars.note("a [bold] note")
    bars.stage("pa[red]tients", "method")
    bars.finish("pa[red]tients")
    bars.close()
    assert "[pa[red]tients] number values" in stream.getvalue()
    assert "a [bold] note" in stream.getvalue()


def test_amount():
    assert format_amount(1200, 5000, "rows") == "1,200 of 5,000 rows"
    assert format_amount(1200, 0, "rows") == "1,200 rows"


@pytest.mark.parametrize(
    ("screen", "kind"),
    [
        (Screen(), Lines),
        (Screen(quiet=True), SilentProgress),
        (Screen(json=True), SilentProgress),
        (Screen(json=True, verbose=1), Lines),
        (Screen(quiet=True, verbose=1), Lines),
    ],
)
def test_progress_of(screen, kind):
    assert isinstance(screen.progress(), kind)


def test_json_is_strict(capsys):
    report = {"l": Fraction(5, 2), "cost": Decimal("1.5"), "nan": float("nan"), "inf": float("inf"), "t": (1, None)}
    Screen(json=True).emit(report)
    assert json.loads(capsys.readouterr().out) == {"l": 2.5, "cost": 1.5, "nan": None, "inf": None, "t": [1, None]}
    Screen().emit(report)
    assert capsys.readouterr().out == ""


def test_show_is_plain_and_unbroken(capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    line = "[bold]sqlanon[/bold] " + "x" * 200
    Screen().show(line)
    assert capsys.readouterr().out == line + "\n"
    Screen(quiet=True).show(line)
    Screen(json=True).show(line)
    assert capsys.readouterr().out == ""


def test_logs(capsys):
    logger = logging.getLogger("sqlanon.test")
    try:
        for verbose, levels in ((0, ""), (1, "I"), (2, "ID")):
            configure(verbose, debug=False)
            configure(verbose, debug=False)
            logger.info("a count of %d", 3)
            logger.debug("more")
            err = capsys.readouterr().err
            assert err.count("a count of 3") == levels.count("I")
            assert err.count("more") == levels.count("D")
        try:
            raise ValueError("canary-55")
        except ValueError:
            logger.exception("failed")
        err = capsys.readouterr().err
        assert "canary-55" not in err
        assert "ValueError" in err
    finally:
        configure(0, debug=False)
    assert logging.getLogger("sqlanon").level == logging.NOTSET


def test_numbers():
    assert [count(1234567), measure(10.0), measure(2.5), measure(1e20)] == ["1,234,567", "10", "2.5", "1e+20"]
    assert [share(0, 5), share(5, 5), share(1, 8), share(1, 10**9), share(10**9 - 1, 10**9), share(1, 0)] == [
        *("0 %", "100 %", "12.5 %", "< 0.01 %", "> 99.99 %", "-")
    ]
    assert [format_seconds(0.123), format_seconds(12.34)] == ["0.12 s", "12.3 s"]


def test_listed():
    odd = ["age", "city, state", 'say "hi"', " a "]
    assert list_option("--qi", []) == []
    option, text = list_option("--qi", odd)
    assert option == "--qi"
    assert parse_names("--qi", [text]) == tuple(odd)


def test_safe():
    assert clean("a\x1b[31mb\n") == "a\N{REPLACEMENT CHARACTER}[31mb\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("duckdb:///a/b.duckdb", "duckdb:///a/b.duckdb"),
        ("duckdb:////a@b/c.duckdb", "duckdb:////a@b/c.duckdb"),
        ("postgresql://h/db", "postgresql://h/db"),
        ("postgresql://me@h/db", "postgresql://me@h/db"),
        ("postgresql://me:pa@ss@h:5432/db", "postgresql://me:***@h:5432/db"),
        ("postgresql://h/db?user=me&password=secret", "postgresql://h/db?user=me&password=***"),
        ("sc://h:15002/;use_ssl=true;token=secret;user_id=me", "sc://h:15002/;use_ssl=true;token=***;user_id=me"),
    ],
)
def test_no_password(url, expected):
    assert hide_password(url) == expected


def test_releases_say_what_is_published(capsys):
    """Below the versions are the requirements of the one that readers have, or of the last."""
    old = ReleaseRow(
        "r", 1, "replaced", "release.r", "main.t", "2026-01-02T03:04:05", "me", 9, 3, 3, 3, 0.1, "tree", "k=3", "0.1"
    )
    new = replace(old, version=2, status="published", requirements="k=9")
    for rows, shown in (((old, new), "k=9"), ((new, replace(old, version=3)), "k=9"), ((old,), "k=3")):
        release_rows(Screen(), rows)
        assert f"requirements: {shown}" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_terminal_without_unicode(shell, tmp_path):
    make_duckdb(tmp_path / "w.duckdb", 'CREATE TABLE t AS SELECT i % 3 AS "größe" FROM range(9) AS r(i)')
    ended = shell("audit", "t", "--db", "duckdb:///w.duckdb", PYTHONIOENCODING="ascii")
    assert ended.code == 0, ended.err
    assert "gr\\xf6\\xdfe" in ended.out


def test_a_long_note_is_cut_at_a_word():
    assert note("tds: 25\x1bnodes") == "note: tds: 25\N{REPLACEMENT CHARACTER}nodes"
    whole = "x " * (LONGEST_NOTE // 2)
    assert note(whole) == f"note: {whole}"
    words = [str(number) for number in range(1000)]
    cut = note(" ".join(words))
    shown, _, rest = cut.removeprefix("note: ").partition(" ... ")
    assert len(shown) <= LONGEST_NOTE
    assert shown.split(" ") == words[: len(shown.split(" "))]
    assert rest == f"({len(' '.join(words))} characters; --json prints all)"


def test_one_and_several():
    assert [things(number, "row") for number in (0, 1, 2, 1200)] == ["0 rows", "1 row", "2 rows", "1,200 rows"]
    columns = tuple(ProposedColumn(name, "identifier", "left out: with it quasi columns lose 80 %") for name in "ab")
    notes = [Proposal(columns[:some], 9, 2, None, None, "", "persons").notes() for some in (1, 2)]
    assert [
        "1 column that could be quasi is left out, as with it" in notes[0][-1],
        "2 columns that could be quasi are left out" in notes[1][-1],
    ] == [True, True]

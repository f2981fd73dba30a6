"""Option texts to values."""

from __future__ import annotations

import doctest

import pytest

from sqlanon.cli import arguments
from sqlanon.cli.arguments import as_options, parse_names, parse_pairs
from sqlanon.errors import GuardError, PolicyError


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (None, ()),
        (["age"], ("age",)),
        (["age, zip ,sex"], ("age", "zip", "sex")),
        (["age", "zip,sex"], ("age", "zip", "sex")),
        (['"city, state",zip'], ("city, state", "zip")),
        (['"say ""hi""",x y'], ('say "hi"', "x y")),
        (["a=b,c"], ("a=b", "c")),
        (['" a ", b '], (" a ", "b")),
    ],
)
def test_names(texts, expected):
    assert parse_names("--qi", texts) == expected


@pytest.mark.parametrize("text", ["", "a,,b", "a,", '"open', '"a"b', '""', ","])
def test_names_refused(text):
    with pytest.raises(PolicyError, match="--qi"):
        parse_names("--qi", [text])


def test_pairs():
    assert parse_pairs("--hierarchy", ['"a=b"=x=y.csv', "zip=z.csv", '"q""q"=f']) == {
        "a=b": "x=y.csv",
        "zip": "z.csv",
        'q"q': "f",
    }


@pytest.mark.parametrize("text", ["zip", "=x", "zip=", '"zip', '"zip"', '"zip"x=y', ""])
def test_pairs_refused(text):
    with pytest.raises(PolicyError, match="--weight"):
        parse_pairs("--weight", [text])


def test_pairs_twice():
    with pytest.raises(PolicyError, match="--weight: column a is given twice"):
        parse_pairs("--weight", ["a=1", "a=2"])
    with pytest.raises(PolicyError, match="--at-least: requirement l is given twice"):
        parse_pairs("--at-least", ["l=1", "l=2"], "requirement")


def test_as_options():
    error = as_options(GuardError(["hierarchies[zip]: no such file", "k: 0 is too small", "anon.yml:3: x"]))
    assert isinstance(error, GuardError)
    assert error.problems == ["--hierarchy zip: no such file", "--k: 0 is too small", "anon.yml:3: x"]


def test_a_release_that_is_called_like_an_argument_is_no_option():
    error = PolicyError(["t: no release of main.t (4 rows) reaches k = 5", "k: 0 is too small"])
    assert as_options(error, "t").problems == [error.problems[0], "--k: 0 is too small"]
    assert as_options(error).problems[0].startswith("--t: ")


def test_as_options_says_what_to_write():
    """As a policy file has it on one side, as the command line has it on the other."""
    written = {
        "at_least: is missing; maximize: l needs the least l that is accepted, such as at_least: {l: 2}": (
            "--at-least: is missing; --maximize l needs the least l that is accepted, such as --at-least l=2"
        ),
        "maximize: nothing bounds the loss; maximize goes with max_loss: {per_class_ncp: 0.3} or max_extent: {column: "
        "10}": "--maximize: nothing bounds the loss; maximize goes with --max-loss 0.3 or --max-extent column=10",
        "p: identifier id repeats. If rows are events, say rows_are: events; else": "p: identifier id repeats. If "
        "rows are events, say --rows-are events; else",
        "say privacy: {presence: disclosed} to accept that": "say --presence disclosed to accept that",
        "such as at_least: {k: 2, l: 3}": "such as --at-least k=2 --at-least l=3",
        "say suppression: {limit: 0.05, rows: starred}": "say --suppression limit=0.05,rows=starred",
        "column my_at_least: is new": "column my_at_least: is new",
    }
    assert as_options(PolicyError(list(written))).problems == list(written.values())


def test_examples():
    assert doctest.testmod(arguments).failed == 0

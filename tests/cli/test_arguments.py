"""Option texts to values."""

from __future__ import annotations

import doctest
from fractions import Fraction

import pytest

from sqlanon.cli import arguments
from sqlanon.cli.arguments import as_options, fraction, names, pairs, whole
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
    assert names("--qi", texts) == expected


@pytest.mark.parametrize("text", ["", "a,,b", "a,", '"open', '"a"b', '""', ","])
def test_names_refused(text):
    with pytest.raises(PolicyError, match="--qi"):
        names("--qi", [text])


def test_pairs():
    assert pairs("--hierarchy", ['"a=b"=x=y.csv', "zip=z.csv", '"q""q"=f']) == {
        "a=b": "x=y.csv",
        "zip": "z.csv",
        'q"q': "f",
    }


@pytest.mark.parametrize("text", ["zip", "=x", "zip=", '"zip', '"zip"', '"zip"x=y', ""])
def test_pairs_refused(text):
    with pytest.raises(PolicyError, match="--weight"):
        pairs("--weight", [text])


def test_pairs_twice():
    with pytest.raises(PolicyError, match="--weight: column a is given twice"):
        pairs("--weight", ["a=1", "a=2"])
    with pytest.raises(PolicyError, match="--at-least: requirement l is given twice"):
        pairs("--at-least", ["l=1", "l=2"], "requirement")


def test_whole_and_fraction():
    assert whole("--weight", {"a": "2"}) == {"a": 2}
    with pytest.raises(PolicyError, match="--weight"):
        whole("--weight", {"a": "much"})
    assert [fraction("--l", text) for text in (None, "3", "2.5", "5/2")] == [
        None,
        3,
        Fraction(5, 2),
        Fraction(5, 2),
    ]
    for text in ("two", "1/0", ""):
        with pytest.raises(PolicyError, match="--l"):
            fraction("--l", text)


def test_as_options():
    error = as_options(GuardError(["hierarchies[zip]: no such file", "k: 0 is too small", "anon.yml:3: x"]))
    assert isinstance(error, GuardError)
    assert error.problems == ["--hierarchy zip: no such file", "--k: 0 is too small", "anon.yml:3: x"]


def test_examples():
    assert doctest.testmod(arguments).failed == 0

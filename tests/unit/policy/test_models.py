"""Keys of models: what they take in files, in Python and on the command line, what they refuse, and what is weaker."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import sqlanon
from sqlanon.column_spec import Hierarchy
from sqlanon.declared import REQUIREMENTS
from sqlanon.declared.parameters import Alpha, Beta, Closeness, Delta, Map, Presence, Recursive
from sqlanon.errors import PolicyError
from sqlanon.policy import release, schema
from sqlanon.release.catalog.policy_diff import list_differences
from sqlanon.release.catalog.redacted_policy import redact

GOOD = [
    ("entropy_l", 2.5, Fraction(5, 2)),
    ("entropy_l", {"s": "5/2"}, {"s": Fraction(5, 2)}),
    ("recursive_cl", {"c": 3, "l": 2}, Recursive(Fraction(3), 2)),
    ("recursive_cl", "c=1/2, l=2", Recursive(Fraction(1, 2), 2)),
    ("alpha", "0.5", Alpha(Fraction(1, 2))),
    ("alpha", " .5 ", Alpha(Fraction(1, 2))),
    ("alpha", Decimal("0.5"), Alpha(Fraction(1, 2))),
    ("alpha", {"max": 0.5, "values": ["b", "a"]}, Alpha(Fraction(1, 2), ("a", "b"))),
    ("t", 0, Closeness(Fraction(0), "equal")),
    ("t", "0.2 ordered", Closeness(Fraction(1, 5), "ordered")),
    ("t", "s=0.3,r=0.2 ordered", {"s": Closeness(Fraction(3, 10), "equal"), "r": Closeness(Fraction(1, 5), "ordered")}),
    (
        "t",
        {"s": 0.3, "r": {"max": 0.2, "distance": "ordered"}},
        {"s": Closeness(Fraction(3, 10), "equal"), "r": Closeness(Fraction(1, 5), "ordered")},
    ),
    ("beta", {"basic": 2}, Beta("basic", Fraction(2))),
    ("beta", {"s": {"enhanced": "1/2"}}, {"s": Beta("enhanced", Fraction(1, 2))}),
    ("beta", "enhanced=2", Beta("enhanced", Fraction(2))),
    ("delta_disclosure", 1.5, Delta(Fraction(3, 2), "violates")),
    ("delta_disclosure", "1 ignored", Delta(Fraction(1), "ignored")),
    ("k_map", {"k": 3, "population": "public.register"}, Map(3, "public.register")),
    ("k_map", "k=3,population=register", Map(3, "register")),
    ("delta_presence", {"max": 0.5, "population": "p"}, Presence(Fraction(0), Fraction(1, 2), "p")),
    ("delta_presence", "min=1/10,max=1/2,population=p", Presence(Fraction(1, 10), Fraction(1, 2), "p")),
]
ASKED: dict[str, Any] = {"source": "x", "quasi": "q", "sensitive": ["s", "r"], "k": 2}


def method_of(key: str) -> dict[str, Any]:
    """The method, where the default one does not take a requirement."""
    return {"method": "fulldomain:search=global"} if REQUIREMENTS[key].population else {}


@pytest.mark.parametrize(("key", "written", "read"), GOOD, ids=str)
def test_what_is_taken_and_kept(key: str, written: Any, read: Any) -> None:
    spec = release(**ASKED, **method_of(key), **{key: written})
    assert spec.privacy.value(key) == read
    kept = redact(spec)["privacy"][key]
    again = REQUIREMENTS[key].value.read(kept)
    if "values" not in str(written):
        assert again == read
    assert not REQUIREMENTS[key].weaker(kept, kept)


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("t", -0.1),
        ("t", 1.1),
        ("t", "0.2 sorted"),
        ("t", True),
        ("t", [0.1]),
        ("t", {"distance": "equal"}),
        ("t", {"max": 0.2, "distance": "ordered", "by": 1}),
        ("t", {}),
        ("t", "s=0.1,s=0.2"),
        ("t", "x"),
        ("t", "1/0"),
        ("recursive_cl", 3),
        ("recursive_cl", {"c": 0, "l": 2}),
        ("recursive_cl", {"c": -1, "l": 2}),
        ("recursive_cl", {"c": 1}),
        ("recursive_cl", {"c": 1, "l": 0}),
        ("recursive_cl", {"c": 1, "l": 1.5}),
        ("alpha", 0),
        ("alpha", 1.2),
        ("alpha", "1_0e-2"),
        ("alpha", f"0.5{'0' * 60}1"),
        ("alpha", {"values": ["a"]}),
        ("alpha", {"max": 0.5, "values": "a"}),
        ("alpha", {"max": 0.5, "values": ["a", "a"]}),
        ("entropy_l", 0.5),
        ("entropy_l", "two"),
        ("beta", 2),
        ("beta", {"basic": 1, "enhanced": 1}),
        ("beta", {"basic": 0}),
        ("beta", {"strong": 1}),
        ("delta_disclosure", 0),
        ("delta_disclosure", {"max": 1, "absent": "skipped"}),
    ],
)
def test_what_is_refused(key: str, written: Any) -> None:
    with pytest.raises(PolicyError, match=rf"^{key}(\[\w+\])?: [^;]+; "):
        release(**ASKED, **{key: written})


def test_columns_that_are_not_sensitive_are_refused() -> None:
    with pytest.raises(PolicyError, match="t: a column that is not listed"):
        release(**ASKED, t={"sick": 0.2})
    with pytest.raises(PolicyError, match="t: the column q is quasi; sensitive columns: s, r"):
        release(**ASKED, t={"q": 0.2})
    with pytest.raises(PolicyError, match="t: no sensitive column"):
        release(source="x", quasi="q", k=2, t=0.2)


def test_a_hierarchical_distance_needs_a_hierarchy(tmp_path: Any) -> None:
    with pytest.raises(PolicyError, match="t: the column s has no hierarchy; give it a hierarchy"):
        release(**ASKED, t="s=0.2 hierarchical")
    file = tmp_path / "s.csv"
    file.write_text("a;*\nb;*\n", encoding="utf-8")
    with pytest.raises(PolicyError, match="t: the column s has a hierarchy, and an order is asked"):
        release(**ASKED, t="s=0.2 ordered", hierarchies={"s": file})
    assert release(**ASKED, t="s=0.2 hierarchical", hierarchies={"s": file}).privacy.more


def test_rows_that_are_left_out_would_change_what_classes_are_compared_with() -> None:
    suppression = {"limit": 0.1, "rows": "left_out"}
    for key, asked in (("t", 0.2), ("beta", {"basic": 1}), ("delta_disclosure", 2)):
        with pytest.raises(PolicyError, match=f"{key}: classes are compared with the published rows"):
            release(**ASKED, method="fulldomain:search=global", suppression=suppression, **{key: asked})
    release(**ASKED, method="fulldomain:search=global", suppression=suppression, alpha=0.5)
    # The local search stars no rows either, so that the advice is not to star them.
    with pytest.raises(PolicyError, match="leave suppression out, or say search=global and rows: starred"):
        release(**ASKED, method="fulldomain", suppression=suppression, t=0.2)


def test_nothing_of_it_goes_with_maximize() -> None:
    with pytest.raises(PolicyError, match="t: cannot be combined with maximize"):
        release(source="x", quasi="q", sensitive="s", maximize="k", max_loss=0.5, at_least={"k": 2}, t=0.2)


@pytest.mark.parametrize(
    ("key", "old", "new", "weaker"),
    [
        ("t", 0.2, 0.3, True),
        ("t", 0.3, 0.2, False),
        ("t", "0.2", "0.2 ordered", True),
        ("t", "0.2 ordered", "0.2", False),
        ("t", {"s": 0.2, "r": 0.2}, {"s": 0.2}, True),
        ("t", {"s": 0.2}, 0.2, False),
        ("t", 0.2, {"s": 0.2}, True),
        ("t", 0.2, None, True),
        ("recursive_cl", "c=3,l=2", "c=2,l=2", False),
        ("recursive_cl", "c=3,l=3", "c=3,l=2", True),
        ("recursive_cl", "c=2,l=2", "c=3,l=3", True),
        ("beta", {"enhanced": 1}, {"basic": 1}, True),
        ("beta", {"basic": 1}, {"enhanced": 1}, False),
        ("delta_disclosure", 1, "1 ignored", True),
        ("delta_disclosure", "1 ignored", 1, False),
        ("alpha", 0.5, {"max": 0.5, "values": ["a"]}, True),
        ("alpha", {"max": 0.5, "values": ["a"]}, 0.5, False),
        ("alpha", {"max": 0.5, "values": ["a"]}, {"max": 0.5, "values": ["b"]}, True),
        ("entropy_l", 3, 2.5, True),
        ("k_map", "k=3,population=p", "k=2,population=p", True),
        ("k_map", "k=2,population=p", "k=3,population=p", False),
        ("k_map", "k=2,population=p", "k=3,population=q", True),
        ("k_map", "k=2,population=p", None, True),
        ("delta_presence", "max=1/2,population=p", "max=2/3,population=p", True),
        ("delta_presence", "max=1/2,population=p", "min=1/5,max=1/2,population=p", False),
        ("delta_presence", "min=1/5,max=1/2,population=p", "max=1/3,population=p", True),
    ],
)
def test_what_is_weaker(key: str, old: Any, new: Any, weaker: bool) -> None:
    before, after = (
        redact(release(**ASKED, **method_of(key), **({key: value} if value is not None else {})))
        for value in (old, new)
    )
    (found,) = (one for one in list_differences(before, after) if one.what == key)
    assert found.weaker is weaker
    assert "'a'" not in str(found)


@pytest.mark.parametrize(
    ("distance", "key", "weaker"),
    [
        ("hierarchical", "hierarchy", True),
        ("ordered", "ordered", True),
        ("equal", "hierarchy", False),
        ("equal", "ordered", False),
        ("ordered", "hierarchy", False),
    ],
)
def test_other_distances_of_values_are_weaker(distance: str, key: str, weaker: bool) -> None:
    """The same t promises less where values are nearer.

    All of them below one node far from the root, or in another order.
    """
    near = Hierarchy("h", tuple((leaf, "x", "y", "z", "*") for leaf in "ab"))
    contents = {
        "hierarchy": [Hierarchy("h", (("a", "*"), ("b", "*"))), near],
        "ordered": [("a", "b", "c"), ("a", "c", "b")],
    }
    spec = release(**ASKED)
    privacy = replace(spec.privacy, more={"t": {"s": Closeness(Fraction(1, 5), distance)}})
    policies = [
        redact(
            replace(
                spec,
                privacy=privacy,
                columns=tuple(
                    replace(column, **{key: content}) if column.name == "s" else column for column in spec.columns
                ),
            )
        )
        for content in contents[key]
    ]
    (found,) = list_differences(*policies)
    assert (found.what, found.weaker) == (f"column s: {key}", weaker)


@pytest.mark.parametrize(
    ("asked", "weaker"),
    [
        ({"t": {"s": 0.2}}, True),
        ({"t": {"s": 0.2, "r": 0.2}}, False),
        ({"t": 0.2}, False),
        ({"t": {"s": 0.2}, "l": 2}, False),
    ],
)
def test_a_new_sensitive_column_that_nothing_is_asked_of_is_weaker(asked: dict[str, Any], weaker: bool) -> None:
    both = {**ASKED, **asked}
    with_r = redact(release(**both))
    (found,) = list_differences({**with_r, "columns": [one for one in with_r["columns"] if one["name"] != "r"]}, with_r)
    assert (found.what, found.weaker) == ("column r:", weaker)


def test_listed_values_are_kept_as_a_hash() -> None:
    kept = redact(release(**ASKED, alpha={"s": {"max": 0.5, "values": ["secret"]}}))["privacy"]["alpha"]
    assert "secret" not in str(kept)
    assert kept["s"]["values"]["values"] == 1


def test_files_and_the_schema_have_it(tmp_path: Any) -> None:
    file = tmp_path / "anon.yml"
    file.write_text(
        "version: 1\nreleases:\n  - name: a\n    source: t\n    columns: {q: quasi, diagnosis: sensitive, cost: "
        "sensitive}\n    privacy: {k: 10, t: {diagnosis: 0.3, cost: {max: 0.2, distance: ordered}}, beta: {basic: "
        "2}}\n",
        encoding="utf-8",
    )
    (spec,) = sqlanon.load_policy(file).releases
    assert spec.privacy.more["t"]["cost"] == Closeness(Fraction(1, 5), "ordered")
    assert spec.privacy.more["beta"] == Beta("basic", Fraction(2))
    assert {key for key, *_ in GOOD} <= set(schema()["$defs"]["PrivacyModel"]["properties"])

"""What two policies say differently, without a database."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sqlanon.column_spec import ColumnSpec, Hierarchy
from sqlanon.release.catalog.policy_diff import list_differences, list_weakenings
from sqlanon.release.catalog.redacted_policy import redact
from sqlanon.spec import FormatSpec, PrivacySpec, ReleaseSpec

PLAIN = ReleaseSpec("r", "t", (ColumnSpec("age", "quasi"), ColumnSpec("d", "sensitive")), PrivacySpec(k=5))


def kept(spec: ReleaseSpec) -> dict:
    return json.loads(json.dumps(redact(spec)))


def reported(old: ReleaseSpec, new: ReleaseSpec) -> tuple[str, ...]:
    return tuple(map(str, list_differences(kept(old), kept(new))))


def test_the_same_policy() -> None:
    assert reported(PLAIN, PLAIN) == ()
    assert reported(PLAIN, replace(PLAIN, columns=PLAIN.columns[::-1], seed=5)) == ()


def test_a_policy_of_an_older_sqlanon_has_the_defaults() -> None:
    older = kept(PLAIN)
    for later in ("key", "refresh", "refine"):
        del older[later]
    assert list_differences(older, kept(PLAIN)) == ()


def test_a_hierarchy_is_what_it_holds() -> None:
    def with_tree(name: str, *leaves: str) -> ReleaseSpec:
        tree = Hierarchy(name, tuple((leaf, "*") for leaf in leaves))
        return replace(PLAIN, columns=(ColumnSpec("age", "quasi", hierarchy=tree), PLAIN.columns[1]))

    assert reported(with_tree("a.csv", "1", "2"), with_tree("b.csv", "1", "2")) == ()
    (line,) = reported(with_tree("a.csv", "1", "2"), with_tree("a.csv", "1", "3"))
    assert line.startswith("column age: hierarchy a.csv (")
    assert "(weaker)" not in line


def test_columns_that_nobody_names_follow_rest() -> None:
    narrow = replace(PLAIN, columns=PLAIN.columns[:1], rest="drop")
    assert "column d: sensitive -> not published" in reported(PLAIN, narrow)
    assert "column d: not published -> sensitive (weaker)" in reported(narrow, PLAIN)  # nothing protects it
    diverse = replace(PLAIN, privacy=PrivacySpec(k=5, l=Fraction(2)))
    assert "column d: not published -> sensitive" in reported(narrow, diverse)
    assert {"rest drop -> keep (weaker)"} <= set(reported(narrow, replace(narrow, rest="keep")))


def test_a_mean_more_shows_more() -> None:
    one, two = (replace(PLAIN, format=FormatSpec(mean=names)) for names in (("age",), ("age", "d")))
    assert reported(PLAIN, one) == ("format.mean none -> age (weaker)",)
    assert reported(one, PLAIN) == ("format.mean age -> none",)
    assert reported(one, two) == ("format.mean age -> age, d (weaker)",)
    assert reported(two, one) == ("format.mean age, d -> age",)


def test_persons_that_nobody_counts_any_more() -> None:
    """Of a release of events every identifier counts by itself: each that goes is one promise less."""
    visit, patient = ColumnSpec("visit", "identifier"), ColumnSpec("patient", "identifier")
    both = replace(PLAIN, rows_are="events", rest="drop", columns=(*PLAIN.columns, visit, patient))
    one = replace(both, columns=(*PLAIN.columns, visit))
    assert "persons counted by patient, visit -> visit (weaker)" in reported(both, one)
    assert not any("counted" in line for line in reported(one, both))
    assert reported(both, replace(both, columns=both.columns[::-1])) == ()
    ignored = replace(both, persons="ignored")
    assert reported(both, ignored) == ("persons none -> ignored (weaker)",)
    assert reported(ignored, both) == ("persons ignored -> none",)
    older = kept(both)
    del older["persons"]
    assert list_differences(older, kept(both)) == ()


PRIVACY = st.builds(
    PrivacySpec,
    k=st.integers(1, 4),
    l=st.sampled_from([None, Fraction(3, 2), Fraction(2), Fraction(10)]),
    distinct_l=st.sampled_from([None, 2, 3, 11]),
    joint=st.booleans(),
)


@given(PRIVACY, PRIVACY)
def test_weaker_is_less_of_anything_that_was_asked(old: PrivacySpec, new: PrivacySpec) -> None:
    less = [
        new.k < old.k,
        (new.l or 0) < (old.l or 0),
        (new.distinct_l or 0) < (old.distinct_l or 0),
        old.joint and not new.joint,
    ]
    found = list_differences(kept(replace(PLAIN, privacy=old)), kept(replace(PLAIN, privacy=new)))
    assert len(list_weakenings(found)) == sum(less)
    assert bool(found) == (old != new)

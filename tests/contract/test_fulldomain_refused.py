"""Method fulldomain: what it does not take, and what plan says of it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.declared import list_refusals
from sqlanon.declared.combinations import list_remarks
from sqlanon.declared.request import Request
from sqlanon.errors import PolicyError
from sqlanon.methods.fulldomain.declaration import FULLDOMAIN
from sqlanon.policy import release as spec_of


@pytest.mark.parametrize(
    ("options", "more", "what"),
    [
        ({"metric": "dm"}, {}, "search=local goes by the loss; leave metric out, or say search=global"),
        (
            {},
            {"execution": "pushdown"},
            "search=local has no pushdown; leave execution out (auto), or say search=global",
        ),
        ({"search": "global", "nodes": "9"}, {}, "leave nodes out, or say search=local"),
        ({}, {"suppression": Fraction(1, 10)}, "leave suppression out, or say search=global"),
        (
            {},
            {"suppression": Fraction(1, 10), "l": Fraction(2), "sensitive": 1},
            "leave suppression out, or say rows: left_out",
        ),
        (
            {"search": "all"},
            {"suppression": Fraction(1, 10), "l": Fraction(2), "sensitive": 1},
            "leave suppression out",
        ),
        ({"search": "global"}, {"refine": True}, "leave refine out, or say search=local"),
        ({"divide": "whole"}, {"refine": True}, "leave refine out, or say divide=values"),
        ({}, {"maximize": "k"}, "fulldomain does not maximize k: it keeps no bound on the loss; maximize k with tree"),
        ({}, {"format": "anatomy"}, "cannot be published in the format anatomy: format anatomy publishes quasi values"),
    ],
)
def test_what_it_does_not_take_is_refused_with_what_to_do(
    options: dict[str, str], more: dict[str, Any], what: str
) -> None:
    asked = Request("fulldomain", FULLDOMAIN.values(options), **{"k": 2, "quasi": 2, **more})
    assert any(what in str(one) for one in list_refusals(FULLDOMAIN, asked)), list_refusals(FULLDOMAIN, asked)
    assert not list_refusals(FULLDOMAIN, Request("fulldomain", FULLDOMAIN.values({}), k=2, quasi=2, refine=True))


def test_remarks_on_refine() -> None:
    """Plan says where it does nothing."""
    asked = {"source": "t", "quasi": ["a", "b"], "k": 2, "refine": {"search": 0}}
    (said,) = list_remarks(spec_of(**asked, method="fulldomain"))
    assert said.startswith("refine: after fulldomain with search=local")
    assert not list_remarks(spec_of(**asked, method="tree"))
    assert not list_remarks(spec_of(**{**asked, "refine": None}, method="fulldomain"))
    assert not list_remarks(spec_of(**{**asked, "refine": True}, method="fulldomain"))


def test_a_lattice_that_is_too_large_is_refused(shared_db: Any, tmp_path: Path) -> None:
    columns = [f"c{i}" for i in range(20)]
    shared_db.engine.execute(f"CREATE TABLE many_columns AS SELECT {', '.join(f'1 AS {name}' for name in columns)}")
    with pytest.raises(
        PolicyError,
        match=r"at most 1000000 combinations of levels, and the 20 quasi columns have 1048576: name fewer quasi "
        r"columns, "
        r"or use method tree",
    ):
        shared_db.anonymize("many_columns", quasi=columns, k=1, method="fulldomain")
    file = tmp_path / "one.csv"
    file.write_text("1;*\n")
    with pytest.raises(PolicyError, match="have 1048576: leave levels out of hierarchies, or use method tree"):
        shared_db.anonymize("many_columns", quasi=columns, k=1, method="fulldomain", hierarchies={"c3": file})

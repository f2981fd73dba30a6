"""Names, numbers and missing values that arguments may have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.column_spec import ColumnSpec
from sqlanon.errors import PolicyError
from sqlanon.policy import release
from tests.unit.policy.test_arguments import BASE, ROLES


def test_numbers_of_numpy_are_numbers() -> None:
    spec = release(**ROLES, k=np.int64(7), weights={"age": np.int32(2)}, seed=np.uint8(3))  # type: ignore[arg-type]
    assert (spec.privacy.k, spec.columns[0].weight, spec.seed) == (7, 2, 3)
    assert type(spec.privacy.k) is int


def test_nothing_is_put_in_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME_", "x")
    assert release(**BASE, name="${HOME_}").name == "${HOME_}"


@pytest.mark.parametrize("name", ['q"; drop table x; --', "per%cent", "Größe", "a\nb", "日本", "x" * 63, " spaced "])
def test_hostile_column_names_stay_as_they_are(name: str) -> None:
    assert release(source="t", quasi=[name], k=1, weights={name: 2}).columns == (ColumnSpec(name, "quasi", weight=2),)
    with pytest.raises(PolicyError) as raised:
        release(source="t", quasi=[name], k=1, weights={name: 0})
    (problem,) = raised.value.problems
    assert "\n" not in problem


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1), min_size=1, unique=True
    )
)
def test_any_names_give_their_columns_in_order(names: list[str]) -> None:
    assert [column.name for column in release(source="t", quasi=names[:1], insensitive=names[1:], k=1).columns] == names


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1))
def test_any_table_name_can_be_quoted(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    assert release(source=f"{quoted}.{quoted}", quasi="a", k=1).name == name


def test_none_means_no_columns() -> None:
    lists = (
        "sensitive",
        "identifiers",
        "insensitive",
        "mean",
        "readers",
        "dimensions",
        "accept_unique",
        "accept_repeats",
    )
    assert release(**BASE, **dict.fromkeys(lists)) == release(**BASE)
    wishes = ("persons", "max_loss", "max_extent", "maximize", "at_least", "presence", "refine")
    assert release(**BASE, **dict.fromkeys(wishes)) == release(**BASE)

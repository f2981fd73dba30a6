"""Exit groups: a class of 2k rows and more is divided when it is made, and a group leaves by itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from tests.frozen.model import lawful
from tests.frozen.wards import FRESH, classes, seen, spec_of, write

K, L = 3, 2
ILL = ("flu", "cold", "hiv")


def groups(db: Any, table: str, rows: dict[int, tuple[Any, ...]]) -> list[list[int]]:
    """The keys of each group, as the lineage has them."""
    found = defaultdict(list)
    for key, group in classes(db, table, rows).items():
        found[group].append(key)
    return list(found.values())


def test_a_large_class_is_divided_and_its_groups_leave_and_are_erased_alone(shared_db: Any) -> None:
    table = f"exit_{next(FRESH)}"
    spec, source = spec_of(table, k=K, l=L), {key: (5, 1, ILL[key % 3], 0) for key in range(30)}
    write(shared_db, table, source)
    report = shared_db.run(spec)
    found = groups(shared_db, table, source)
    assert sorted(map(len, found)) == [3] * 10
    assert all(lawful([source[key][2] for key in keys], K, L) for keys in found)
    assert (report.classes, report.min_class) == (10, 3)
    assert len(seen(shared_db, table)) == 3  # readers see one class: values differ, and nothing else
    rest = {key: row for key, row in source.items() if key not in found[0] and key != found[1][0]}
    write(shared_db, table, rest)
    left = shared_db.run(spec).lineage
    assert (left.left, left.retained, left.published) == (3, 1, 27)
    asked = shared_db.erase(spec, [{"id": found[2][0]}])
    assert (asked.classes, asked.rows) == (1, 3)
    shared_db.erase(spec, [{"id": found[2][0]}], confirmed=True)
    assert seen(shared_db, table) == Counter(
        (5, 5, 1, 1, source[key][2], 0) for keys in (found[1], *found[3:]) for key in keys
    )
    assert all(one.failing == 0 for one in shared_db.history(table))


def test_fewer_groups_where_the_smallest_do_not_meet_l(shared_db: Any) -> None:
    """Of twelve rows, half of which are alike, groups of three rows have two that are; groups of six are lawful."""
    table = f"exit_{next(FRESH)}"
    source = {key: (5, 1, "flu" if key < 6 else ILL[1 + key % 2], 0) for key in range(12)}
    write(shared_db, table, source)
    shared_db.run(spec_of(table, k=K, l=L))
    found = groups(shared_db, table, source)
    assert sorted(map(len, found)) == [6, 6]
    assert all(lawful([source[key][2] for key in keys], K, L) for keys in found)

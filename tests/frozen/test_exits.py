"""Exit groups: a class of 2k rows and more is divided when it is made, and a group leaves by itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from sqlanon.cli.show.run import format_sizes, lineage_lines
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
    assert len(seen(shared_db, table)) == 3  # readers see one class: values differ, and nothing else
    assert (report.classes, report.min_class, report.max_class) == (1, 30, 30)
    assert (report.lineage.groups, report.lineage.min_group, report.lineage.max_group) == (10, 3, 3)
    assert {one.name: one.reached for one in report.requirements} == {"k": 3, "l": 3}
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


def test_words_count_classes_as_readers_see_them_and_exit_groups_apart(shared_db: Any) -> None:
    """Of twelve rows of one cell and six of another: two classes, six exit groups.

    Then a row is no longer in the source, and one is new.
    """
    table = f"exit_{next(FRESH)}"
    source = {key: (5 if key < 12 else 70, 1, ILL[key % 3], 0) for key in range(18)}
    write(shared_db, table, source)
    shared_db.run(spec_of(table, k=K, l=L))
    del source[0]
    write(shared_db, table, source | {40: (1, 1, "flu", 0)})
    report = shared_db.run(spec_of(table, k=K, l=L))
    assert format_sizes(report) == "  classes   2 of 6 to 12 rows"
    assert "6 exit groups of 3 to 3 rows, each of which leaves whole" in lineage_lines(report.lineage)[-1]
    assert shared_db.releases(table)[-1].rows == 18
    page = shared_db.report(table, form="md")
    for line in (
        "rows of the source: 18",
        "rows published: 18, 0 of them new in this version",
        "no longer in the source: 1",
        "rows of the source that are not published: 1",
        "exit groups: 6 of 3 to 3 rows, each of which leaves whole",
        "classes: 2",
        "rows of a class: 6 to 12",
    ):
        assert line in page, line
    readers = shared_db.report(table, form="md", audience="readers")
    for line in ("rows that are no longer in the source: 1", "rows of the source that are not published: 1"):
        assert line in readers, line


def test_histories_compare_classes_as_readers_see_them(shared_db: Any) -> None:
    """Readers of two versions do not see exit groups.

    A run and `audit --history` compare the same classes, before and after one has left.
    """
    table = f"exit_{next(FRESH)}"
    source = {key: (5 if key < 12 else 70, 1, ILL[key % 3], 0) for key in range(18)}
    write(shared_db, table, source)
    shared_db.run(spec_of(table, k=K, l=L))
    group = next(keys for keys in groups(shared_db, table, source) if 0 in keys)
    write(shared_db, table, {key: row for key, row in source.items() if key not in group})
    assert shared_db.run(spec_of(table, k=K, l=L)).lineage.left == 3
    (found,) = shared_db.history(table)
    assert (found.common.groups, found.common.rows, found.left.groups, found.left.rows) == (2, 15, 1, 3)
    again = shared_db.run(spec_of(table, k=4, l=L), new_lineage=True)
    assert [*shared_db.history(table)] == [found, *again.history]


def test_fewer_groups_where_the_smallest_do_not_meet_l(shared_db: Any) -> None:
    """Of twelve rows, half of which are alike, groups of three rows have two that are; groups of six are lawful."""
    table = f"exit_{next(FRESH)}"
    source = {key: (5, 1, "flu" if key < 6 else ILL[1 + key % 2], 0) for key in range(12)}
    write(shared_db, table, source)
    shared_db.run(spec_of(table, k=K, l=L))
    found = groups(shared_db, table, source)
    assert sorted(map(len, found)) == [6, 6]
    assert all(lawful([source[key][2] for key in keys], K, L) for keys in found)

"""Classes that publish the same are one group to readers: under requirements that are not monotone it may fail.

Methods check every class that they make. Readers see a single group where classes have equal rows, or a format
shows their values alike; l over persons of the group may be less than of each class, and delta-disclosure that ignores
absent values may fail. Models over persons, which methods do not count (`Requirement.afterwards`), are first checked
here. Then a group that fails and the next in the order of publication become one class, until none fails. That ends, as
the whole table as one class meets the requirements (see `guards.check_feasible`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon.engines.base import TableRef
from sqlanon.formats import RecodedClasses, RowGroups
from sqlanon.privacy.base import Grouped, Requirement, Values
from sqlanon.privacy.counts import OfCounts
from sqlanon.privacy.population import of_population
from sqlanon.privacy.values import rows_of_codes, values_of
from sqlanon.table.class_rows import ClassedRows
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


def not_monotone(requirements: Sequence[Requirement]) -> list[Requirement]:
    """Requirements that a union of classes may fail; none without requirements on values or persons.

    A population is not counted in groups of rows.
    """
    compared = of_population(requirements)
    loose = [requirement for requirement in requirements if not requirement.monotone and requirement not in compared]
    return (
        loose if any(requirement.counts_persons or isinstance(requirement, OfCounts) for requirement in loose) else []
    )


def recode_classes(
    scratch: Scratch,
    classed: ClassedRows,
    spans: TableRef | None,
    requirements: Sequence[Requirement],
    recode: Callable[[ClassedRows, TableRef | None], RecodedClasses],
    blocks: Mapping[int, int] | None = None,
) -> tuple[ClassedRows, RecodedClasses, int]:
    """Recode classes, and unite those with failing groups.

    Args:
        scratch: the run.
        classed: the rows with their classes and the codes of all quasi columns.
        spans: the method's statement of the boxes of classes, or None.
        requirements: those that groups must meet: see `not_monotone`.
        recode: the format's recoding of classed rows and spans.
        blocks: of each class, those that it may be united with: every group then lies in one block; None: any.

    Returns:
        the classed rows, the recoding of their classes, and how many groups were united with others.
    """
    encoded, first, before, total = classed.encoded, classed.table, scratch.made, 0
    reads_values = any(requirement.reads_values for requirement in requirements)
    values = [values_of(scratch, domain) for domain in encoded.sensitive] if reads_values else []
    while True:
        recoded = recode(classed, spans)
        labels = _unite_failing(scratch, classed, recoded, requirements, values, blocks)
        if labels is None:
            return classed, recoded, total
        classes, united, failing = labels
        total += failing
        if blocks is not None:
            blocks = {
                label: blocks[class_number]
                for class_number, label in zip(classes.tolist(), united.tolist(), strict=True)
            }
        for table in scratch.made:
            if table not in (*before, classed.table):
                scratch.drop(table)
        if spans is not None:  # of classes that are no more
            scratch.drop(spans)
            before, spans = tuple(table for table in before if table != spans), None
        pairs = scratch.table("pairs")
        scratch.engine.load_arrays(pairs, {"class": classes, "united": united})
        rows = classed.table
        columns = [c.name for c in scratch.engine.look_up([rows]).columns(rows) if c.name != "class"]
        united_table = scratch.table("united" if rows != scratch.name_table("united") else "united_again")
        scratch.execute("table/united", united=united_table, classed=rows, pairs=pairs, columns=columns)
        scratch.drop(pairs)
        if rows != first:
            scratch.drop(rows)
        classed = replace(classed, table=united_table)


def write_notes(groups: int, requirements: Sequence[Requirement]) -> tuple[str, ...]:
    """Notes of a report about so many groups."""
    if not groups:
        return ()
    if any(requirement.afterwards for requirement in requirements):
        return (f"{groups} classes were united with others, as they did not meet what is asked over persons",)
    return (
        (
            f"{groups} groups of classes that publish the same were united with others, as together they did not meet "
            "what each met"
        ),
    )


def _unite_failing(
    scratch: Scratch,
    classed: ClassedRows,
    recoded: RecodedClasses,
    requirements: Sequence[Requirement],
    values: Sequence[Values],
    blocks: Mapping[int, int] | None,
) -> tuple[Longs, Longs, int] | None:
    """The classes with their new numbers, and how many groups fail; None if no group fails or all rows are one group.

    ``values`` are those of the sensitive columns by code, where a requirement reads values.
    """
    import numpy as np

    encoded = classed.encoded
    names = [domain.code for domain in encoded.sensitive]
    persons = [domain.reading.alias for domain in encoded.persons]
    # Groups are united in the order of what is published: their numbers are in no order on Spark.
    statement = scratch.sql("table/class_places", groups=recoded.groups, names=recoded.layout.of_class)
    arrays = scratch.fetch_arrays(statement, ["int64"] * 3)
    classes, place, rank = (array.astype(np.int64) for array in arrays)
    groups, block = recoded.groups, np.zeros(len(classes), np.int64)
    if blocks is not None:
        block = np.array([blocks[class_number] for class_number in classes.tolist()], np.int64)
        _, rank = np.unique(np.stack([block, rank]), axis=1, return_inverse=True)
        place = rank = rank.reshape(-1).astype(np.int64)
        groups = RowGroups(scratch.table("groups_of_blocks"), "class", "place")
        scratch.engine.load_arrays(groups.table, {"class": classes, "place": place})
    rows = scratch.table("rows_of_groups")
    scratch.execute("table/of_groups", rows=rows, classed=classed.table, groups=groups, columns=[*names, *persons])
    if blocks is not None:
        scratch.drop(groups.table)
    counts = [rows_of_codes(scratch, rows, domain) for domain in encoded.sensitive] if values else []
    failing = []
    for requirement in requirements:
        below = scratch.table("below_groups")
        requirement.below(scratch, below, Grouped(rows, ("place",), names, None, rows, names, persons, counts, values))
        statement = scratch.sql("table/places", places=below)
        failing.append(scratch.fetch_arrays(statement, ["int64"])[0].astype(np.int64))
        scratch.drop(below)
    scratch.drop(rows)
    fail = np.unique(np.concatenate(failing))
    if not len(fail):
        return None
    ranks, first, rank_of_class = np.unique(rank, return_index=True, return_inverse=True)
    joins = np.isin(ranks, rank[np.isin(place, fail)])  # each with the next one
    last = np.concatenate([block[first][1:] != block[first][:-1], [True]])  # of its block
    alone = last & np.concatenate([[True], last[:-1]])
    joins[:-1] |= (joins & last & ~alone)[1:]
    joins &= ~last
    if not joins.any():
        return None  # nothing is left to unite them with: verify refuses
    if any(isinstance(requirement, OfCounts) or requirement.afterwards for requirement in requirements):
        # Such models need many rows, so that nearly all groups may fail: in pairs no more are united than have to be.
        joins = _in_pairs(joins)
    label = np.concatenate([[0], np.cumsum(~joins[:-1])]).astype(np.int64)
    return classes, label[rank_of_class.reshape(-1)], len(fail)


def _in_pairs(joins: Flags) -> Flags:
    """Every second group of a sequence of groups to be joined with the next, from the first on.

    That way no group is in two pairs.
    """
    import numpy as np

    position = np.arange(len(joins))
    first = np.maximum.accumulate(np.where(joins & ~np.concatenate([[False], joins[:-1]]), position, 0))
    pairs: Flags = joins & ((position - first) % 2 == 0)
    return pairs

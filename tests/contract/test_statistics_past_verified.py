"""Two checks of the certificates of counts and sums, against their definitions on tiny tables."""

from __future__ import annotations

import random
import uuid
from collections import defaultdict
from typing import Any, NamedTuple

import pytest

from sqlanon.sqltext import statement
from tests.engines import create_table


class Atom(NamedTuple):
    """A finest combination of a version: which rows and persons it has, and of which combination it is a part."""

    atom: int
    batch: int
    n: int
    persons: int
    whole: int
    owner: int
    kind: int | None
    shown: str


ATOMS = {
    **dict.fromkeys(("atom", "batch", "n", "persons", "whole", "owner", "kind"), "BIGINT"),
    "v1_0": "TEXT",
}


def is_wrong(atoms: list[Atom], parts: bool) -> bool:
    """Whether the atoms of one combination of a version contradict each other."""
    first, persons = min(one.atom for one in atoms), sum(one.persons for one in atoms)
    numbers = [one.n for one in atoms]
    split = len(atoms) == 1 or (parts and all(one.kind is not None for one in atoms))
    return not (
        split
        and sum(numbers) > 0
        and min(numbers) >= 0
        and persons > 0
        and all(one.whole == first for one in atoms)
        and all(one.owner == (first if persons == 1 else -1) for one in atoms)
    )


def count_wrong(atoms: list[Atom], whole: dict[str, tuple[int, int]], parts: bool) -> int:
    """Combinations that are wrong in a version, or whose rows or persons are not those of all versions together."""
    groups: dict[tuple[str, int], list[Atom]] = defaultdict(list)
    for one in atoms:
        groups[one.shown, one.batch].append(one)
    sums: dict[str, tuple[int, int]] = {
        shown: (
            sum(one.n for one in atoms if one.shown == shown),
            sum(one.persons for one in atoms if one.shown == shown),
        )
        for shown in {one.shown for one in atoms}
    }
    wrong = {shown for (shown, _), own in groups.items() if is_wrong(own, parts)}
    matched = {shown for shown in sums.keys() & whole.keys() if sums[shown] == whole[shown]}
    # A combination that differs is missing on both sides.
    return len(wrong & matched) + len(sums.keys() - matched) + len(whole.keys() - matched)


def draw_atoms(draw: random.Random) -> list[Atom]:
    """Atoms that are right, of which one number is then changed in most tables."""
    atoms: list[Atom] = []
    for batch in (1, 2):
        for shown in draw.sample("xyz", draw.randrange(1, 3)):
            first, persons = len(atoms) + 1, draw.randrange(1, 3)
            owner = first if persons == 1 else -1
            for place in range(draw.randrange(1, 3)):
                own = persons if place == 0 else 0
                atoms.append(Atom(first + place, batch, draw.randrange(1, 3), own, first, owner, place, shown))
    if draw.random() < 0.8:
        place, field = draw.randrange(len(atoms)), draw.choice(["n", "persons", "whole", "owner", "kind"])
        value = None if field == "kind" else draw.randrange(-1, 4)
        atoms[place] = atoms[place]._replace(**{field: value})
    return atoms


@pytest.mark.parametrize("parts", [True, False])
def test_faults_of_the_atoms_of_all_versions_are_counted(shared_db: Any, parts: bool) -> None:
    draw, engine, seen = random.Random(parts), shared_db.engine, set()
    for _ in range(30):
        atoms = draw_atoms(draw)
        right = draw_atoms(draw) if draw.random() < 0.2 else atoms
        whole = {
            shown: (
                sum(one.n for one in right if one.shown == shown),
                sum(one.persons for one in right if one.shown == shown),
            )
            for shown in {one.shown for one in right}
        }
        names = [f"{name}_{uuid.uuid4().hex[:10]}" for name in ("atoms", "whole")]
        create_table(shared_db, names[0], ATOMS, atoms)
        rows = [(*numbers, shown) for shown, numbers in whole.items()]
        create_table(shared_db, names[1], {"n": "BIGINT", "persons": "BIGINT", "v1_0": "TEXT"}, rows)
        query = statement(
            "statistics/verify_past_atoms",
            engine.dialect,
            atoms=engine.target(names[0]),
            whole=engine.target(names[1]),
            columns=[{"levels": 1}],
            parts=["kind"] if parts else [],
        )
        ((failing,),) = engine.fetch(query)
        assert failing == count_wrong(atoms, whole, parts), atoms
        seen.add(min(int(failing), 2))
    assert seen == {0, 1, 2}


def test_witnesses_that_change_a_sum_as_outsiders_allow_are_counted(shared_db: Any) -> None:
    """A witness counts for a cell if as many of its changes outside of the limits are in the cell as there are."""
    draw, engine, seen = random.Random(5), shared_db.engine, set()
    for _ in range(30):
        limits = {atom: (-draw.randrange(2), draw.randrange(2)) for atom in range(3) if draw.random() < 0.7}
        witness = [(name, atom, draw.randrange(-2, 3)) for name in range(2) for atom in range(4)]
        moved = [(name, cell, draw.randrange(-2, 3), draw.randrange(3)) for name in range(2) for cell in range(2)]
        needs = [(cell, draw.randrange(0, 3), draw.randrange(0, 3), draw.randrange(2)) for cell in range(2)]
        compared = [(cell, draw.randrange(2)) for cell in range(2)]
        outside = {
            name: sum(
                not limits.get(atom, (0, 0))[0] <= change <= limits.get(atom, (0, 0))[1]
                for own, atom, change in witness
                if own == name
            )
            for name in range(2)
        }
        shown = sum(sensitive and not hidden for (_, _, _, sensitive), (_, hidden) in zip(needs, compared, strict=True))
        failing = 0
        for cell, up, down, _ in needs:
            changes = [change for name, of, change, among in moved if of == cell and among == outside[name]]
            more = up <= 0 or any(change >= up for change in changes)
            less = down <= 0 or any(change <= -down for change in changes)
            failing += not (more and less)
        tables = {
            "limits": (("atom", "low", "high"), [(atom, *ends) for atom, ends in limits.items()]),
            "witness": (("witness", "atom", "s1"), witness),
            "moved": (("witness", "cell", "s1", "outside1"), moved),
            "needs": (("cell", "up", "down", "sensitive"), needs),
            "compared": (("cell", "hidden"), compared),
        }
        targets = {}
        for name, (columns, rows) in tables.items():
            table = f"{name}_{uuid.uuid4().hex[:10]}"
            create_table(shared_db, table, dict.fromkeys(columns, "BIGINT"), rows)
            targets[name] = engine.target(table)
        query = statement("statistics/verify_sum_cells", engine.dialect, place=1, **targets)
        ((*counted,),) = engine.fetch(query)
        assert tuple(map(int, counted)) == (shown, failing)
        seen.add(failing)
    assert seen == {0, 1, 2}

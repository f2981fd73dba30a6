"""Divides the source of a trial: rows for the release, and a control group of other persons, drawn from a seed."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.table.domain import Domain
from sqlanon.table.domains import build_domains
from sqlanon.table.encode import encode

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Ints, Longs
    from sqlanon.release.prepare.staged_source import StagedSource
    from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Split:
    """The source in codes, divided.

    Attributes:
        quasi: the domains of the quasi columns of the whole source.
        exact: those of the columns that are published as they are: sensitive ones first.
        inside: int32[n, d], codes of the rows that are released.
        outside: int32[m, d], of those held out.
        victims: int64, a row of each person inside, by place; ``control`` of each person held out.
        counted: ``rows`` or ``persons``.
    """

    quasi: tuple[Domain, ...]
    exact: tuple[Domain, ...]
    inside: Ints
    outside: Ints
    victims: Longs
    control: Longs
    counted: str


class HoldOut:
    """Divides staged rows by a share and a seed; the result is in ``split`` after it was called.

    Args:
        share: of the persons that are held out.
        seed: of the draw.
        held: drops the tables of the whole source when it closes.
    """

    def __init__(self, share: float, seed: int, stack: ExitStack) -> None:
        self._share, self._seed, self._held = share, seed, stack
        self.split: Split | None = None

    def __call__(self, scratch: Scratch, staged: StagedSource) -> StagedSource:
        """The staged rows without those held out.

        Cost: the codes of all rows in memory, a sort of them, and a join.
        """
        if not staged.rows:
            raise PolicyError(f"{staged.spec.name}: its source has no rows")
        inner = self._held.enter_context(scratch.beside())
        roles = replace(staged.roles, sensitive=staged.roles.sensitive + staged.roles.insensitive, insensitive=())
        built = build_domains(inner, roles, staged.stage, staged.persons[:1])
        quasi, exact, persons = built.quasi, built.sensitive, built.persons
        domains = (*quasi, *exact, *persons)
        encoded = encode(inner, roles, staged.stage, built, staged.rows)
        query = inner.sql("control/rows", work=encoded.work, columns=[domain.code for domain in domains])
        rid, *columns = inner.fetch_arrays(query, ["int64", *["int32"] * len(domains)])
        codes: Ints = np.array(columns, np.int32).reshape(len(domains), len(rid))
        order, person = order_rows(codes[: len(quasi) + len(exact)], codes[-1] if persons else None)
        rid, codes = rid[order].astype(np.int64), codes[:, order].T
        held_out, first = divide_persons(person, len(rid), self._share, self._seed)
        remaining = np.flatnonzero(~held_out)
        table, place = np.ascontiguousarray(codes[:, : len(quasi) + len(exact)]), np.cumsum(~held_out) - 1
        self.split = Split(
            quasi,
            exact,
            table[remaining],
            table[held_out],
            place[first[~held_out[first]]].astype(np.int64),
            (np.cumsum(held_out) - 1)[first[held_out[first]]].astype(np.int64),
            "persons" if persons else "rows",
        )
        return _take_part(scratch, staged, rid[remaining].astype(np.int64))


def _take_part(scratch: Scratch, staged: StagedSource, rid: Longs) -> StagedSource:
    chosen, part = scratch.table("chosen"), scratch.table("part")
    scratch.engine.load_arrays(chosen, {"rid": rid, "place": np.arange(len(rid), dtype=np.int64)})
    there = scratch.engine.look_up([staged.stage]).columns(staged.stage)
    names = [column.name for column in there if column.name != "rid"]
    scratch.execute("control/part", part=part, stage=staged.stage, chosen=chosen, columns=names)
    scratch.drop(chosen)
    return replace(staged, stage=part, rows=len(rid))


def order_rows(codes: Ints, person: Ints | None) -> tuple[Longs, Ints | None]:
    """An order of rows, and their persons by number, that depend on the values of rows alone.

    Neither the engine's order nor the hashes of persons has a part in a draw: rows and persons that change places have
    the same values.

    Args:
        codes: int32[d, n].
        person: int32[n], in any numbering; None: each row is of another person.

    Returns:
        int64[n], places of rows, and int32[n], persons of these in turn.
    """
    order = np.lexsort(codes[::-1])
    if person is None:
        return order, None
    ordered, owner = codes[:, order], person[order].astype(np.int64)
    new = np.concatenate([[True], (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)])
    rank = np.cumsum(new)
    # Each value's rank as a random number of 64 bits: equal sums are, but for chance, those of equal rows.
    weights = np.random.default_rng(0).integers(0, 2**62, int(rank[-1]) + 1, np.uint64)
    _, number = np.unique(owner, return_inverse=True)
    total = np.zeros(int(number.max()) + 1, np.uint64)
    np.add.at(total, number, weights[rank])
    again = np.lexsort((rank, owner, total[number]))
    last = owner[again]
    changes = np.concatenate([[False], last[1:] != last[:-1]])
    return order[again], np.cumsum(changes).astype(np.int32)


def divide_persons(person: Ints | None, rows: int, share: float, seed: int) -> tuple[Flags, Longs]:
    """Which rows are held out, and a row of each person.

    Args:
        person: int32[n], the person of each row; None: each row is of another person.
        rows: n.
        share: of the persons that are held out.
        seed: of the draw.

    Returns:
        bool[n], and int64: places of rows, ascending.

    Raises:
        PolicyError: nobody would be held out, or nobody be left.
    """
    rng = np.random.default_rng([seed, *b"hold out"])
    if person is None:
        first, of = np.arange(rows), np.arange(rows)
    else:
        shuffled = rng.permutation(rows)
        _, places = np.unique(person[shuffled], return_index=True)
        first = shuffled[places]
        _, of = np.unique(person, return_inverse=True)
    number = round(share * len(first))
    if not 0 < number < len(first):
        raise PolicyError(
            f"attack: of {len(first)} persons or rows a share of {share:g} are {number}; a control group and a release "
            "need one at least"
        )
    is_chosen = np.zeros(len(first), np.bool_)
    is_chosen[rng.choice(len(first), number, replace=False)] = True
    return is_chosen[of], np.sort(first).astype(np.int64)

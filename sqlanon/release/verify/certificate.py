"""Verification of releases with a box for every row.

There are k matchings of rows and boxes, each box is the least cover of its rows, and the secret draws one matching.

The published table is not enough: points 0 to 4 with the intervals [0,1], [0,1], [0,2], [0,4], [0,4] have two or more
each, yet points 3 and 4 take both wide intervals, so that the interval of point 2 is certain. The proof is the
certificate: private tables of the edges and of the drawn boxes. It identifies the source row of every published row, so
it is as private as the source.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.declared import METHODS
from sqlanon.engines.base import Engine, Relation, TableRef
from sqlanon.engines.rows import read_integer, read_integers
from sqlanon.formats import Candidates, RecodedClasses, format_of
from sqlanon.formats.cover import count_wider_than_least
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement
from sqlanon.table.class_rows import ClassedRows
from sqlanon.table.encode import EncodedTable
from sqlanon.table.keyed_hashes import hash_keys
from sqlanon.table.scratch import Scratch
from sqlanon.table.work import Work

if TYPE_CHECKING:
    from sqlanon.arrays import Ints


_BITS = 62
"""Matchings that are bits of one integer in SQL."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The private tables of a version.

    Attributes:
        edges: matching, slot (a row), box.
        drawn: slot, link (a hash of the source row's identifying columns), box.
    """

    edges: TableRef
    drawn: TableRef

    @classmethod
    def of(cls, engine: Engine, physical: str) -> Certificate:
        """Certificate of a version, by the name of the version's table."""
        return cls(private_table(engine, f"{physical}_edges"), private_table(engine, f"{physical}_drawn"))

    @property
    def tables(self) -> tuple[TableRef, ...]:
        """The two private tables."""
        return self.edges, self.drawn

    def mark(self, engine: Engine, key: bytes) -> str:
        """Keyed hash of the draw, which changes if links or boxes of rows change places.

        The draw and the remix bind the edges to it.

        Reports contain the hash; without a key it would confirm a guess of the draw of a small table.
        """
        rows = hash_rows(engine, engine.look_up([self.drawn]).relations[self.drawn])
        return hmac.new(key, f"drawn\0{rows}".encode(), hashlib.sha256).hexdigest()


def check_matchings(scratch: Scratch, certificate: Certificate, rows: int, k: int) -> str | None:
    """Check that each matching is a bijection of rows onto boxes, and no two have an edge in common.

    Returns the problem, or None.
    """
    words = [range(first, min(first + _BITS, k)) for first in range(0, k, _BITS)]
    row = scratch.fetch("freeform/regular", edges=certificate.edges, drawn=certificate.drawn, k=k, words=words)[0]
    edges, pairs, *counts = read_integers(row)
    if (edges, pairs) == (k * rows, k * rows) and set(counts) == {rows}:
        return None
    return (
        f"the certificate has no {k} matchings of {rows} rows and boxes without a common edge: {edges} edges, {pairs} "
        f"of them different; {counts[1]} of {counts[0]} rows and {counts[3]} of {counts[2]} boxes are in every "
        "matching once"
    )


def find_misplaced(scratch: Scratch, candidates: Candidates, rows: int) -> str | None:
    """Check that boxes were made of the rows that the certificate names. Returns the problem, or None.

    Boxes and their cover are judged by row id, matchings and draw by slot. If the two numberings differed, a row could
    be published in a box that does not cover it, and every other check would pass.
    """
    row = scratch.fetch("freeform/placed", edges=candidates.edges, slots=candidates.slots)[0]
    counts = read_integers(row)
    if counts == (rows, rows, rows, candidates.k * rows):
        return None
    return (
        f"{candidates.k * rows - counts[3]} of {candidates.k * rows} edges are of another row than the certificate says"
    )


def check_covers(
    scratch: Scratch, encoded: EncodedTable, recoded: RecodedClasses, candidates: Candidates
) -> str | None:
    """Check that each box is exactly the least cover of the rows in it. Returns the problem, or None."""
    form = format_of(recoded.form.facts.name)
    for name, wide in count_wider_than_least(form, scratch, encoded.quasi, candidates.matched, recoded).wide.items():
        if wide:
            return f"{wide} boxes are not the least cover of their rows in column {name}"
    return None


def check_numbers(
    scratch: Scratch, classed: ClassedRows, candidates: Candidates, spec: ReleaseSpec, secret: str
) -> str | None:
    """Check that no method can choose the numbers of rows or the key of random numbers. Returns the problem, or None.

    Otherwise whoever makes a release could try orders of rows, or contents of the key, until the draw suits them.
    Everything is computed again from the original values: the codes, the order by codes and keyed hashes, and the
    content of the key.
    """
    import numpy as np

    encoded = classed.encoded
    names = [domain.code for domain in encoded.quasi]
    with scratch.beside() as again:
        work = Work(again, classed.table, encoded.quasi, encoded.rows).table()
        hashed = hash_keys(again, classed.table, encoded.roles, secret)
        row = again.fetch("freeform/misnumbered", slots=candidates.slots, work=work, keyed=hashed, codes=names)[0]
        if read_integer(row[0]):
            return (
                f"{row[0]} of {encoded.rows} rows are not numbered in the order of their quasi values and of the keyed "
                "hash"
            )
        codes = again.sql("freeform/codes", slots=candidates.slots, work=work, codes=names)
        slot, *columns = again.fetch_arrays(codes, ["int32"] * (len(names) + 1))
        lined = np.empty((len(names), encoded.rows), np.int32)
        for line, column in zip(lined, columns, strict=True):
            line[slot] = column
        content = _content(again, encoded, lined, spec, secret)
    if content != candidates.content:
        return "the random numbers are not keyed by the secret, the policy's options and the quasi values"
    return None


def _content(scratch: Scratch, encoded: EncodedTable, lined: Ints, spec: ReleaseSpec, secret: str) -> str:
    """Independent computation of `sqlanon.methods.freeform.secret.content_of`.

    It covers method, options, k, codes and geometry.
    """
    from sqlanon.table.geometry import geometry_of

    options = METHODS[spec.method.name].values(spec.method.options)
    settings = {**options, "k": spec.privacy.k, "method": spec.method.name}
    digest = hmac.new(secret.encode(), b"freeform content\0", hashlib.sha256)
    digest.update(b"".join(f"{name}={settings[name]}\0".encode() for name in sorted(settings)))
    for array in (lined, *geometry_of(scratch, encoded.quasi)):
        digest.update(b"".join(size.to_bytes(8, "little") for size in array.shape))
        digest.update(array.astype(f"<i{array.itemsize}", copy=False).tobytes())
    return digest.hexdigest()


def check_draw(scratch: Scratch, certificate: Certificate, rows: int, k: int, key: bytes) -> str | None:
    """Check that the rows are published in the boxes of a single matching, the one that the secret draws.

    Returns the problem, or None.
    """
    row = scratch.fetch("freeform/draw", edges=certificate.edges, drawn=certificate.drawn)[0]
    drawn_rows, least_one, greatest = (read_integer(cell) if cell is not None else -1 for cell in row)
    if drawn_rows != rows or least_one != greatest:
        return f"the draw is none of the matchings: {drawn_rows} of {rows} rows are published in a box of theirs"
    if not _check_remix(scratch, certificate, rows, k, key, least_one):
        return "remix and draw are not those of the release's secret"
    return None


def _check_remix(scratch: Scratch, certificate: Certificate, rows: int, k: int, key: bytes, draw: int) -> bool:
    """Check that the secret gives this remix and this draw for the graph.

    A constant draw would pass all other checks.

    Reads only the graph from the certificate: the rows of each box. Boxes are numbered by their rows, which leaves no
    choice of numbers.
    """
    import numpy as np

    from sqlanon.kernels.freeform_graph import are_in_order, list_rows_of_boxes
    from sqlanon.methods.freeform import draw as drawing

    matchings = np.full((k, rows), -1, np.int32)
    for t in range(k):
        query = scratch.sql("freeform/of_matching", edges=certificate.edges, matching=t)
        slot, box = scratch.fetch_arrays(query, ["int32"] * 2)
        if len(slot) == 0 or slot.min() < 0 or slot.max() >= rows:
            return False
        matchings[t, slot] = box
    regular, box_rows = list_rows_of_boxes(matchings)
    return bool(
        regular
        and are_in_order(box_rows)
        and np.array_equal(drawing.remix_matchings(box_rows, key), matchings)
        and draw == drawing.draw_matching(k, key)
    )


def hash_rows(engine: Engine, physical: Relation) -> str:
    """Hash of a table's rows, independent of their order.

    A changed cell, or values that change places between rows, change it. Cost: a scan. It is compared with stored
    hashes, which are the same for NULL, 0.0, NaN and infinity on PostgreSQL.
    """
    names = [
        {"source": "r", "name": column.name, "as_text": column.own_operators, "kind": ""} for column in physical.columns
    ]
    rows, mark = engine.fetch(statement("verify/fingerprint", engine.dialect, target=physical.ref, published=names))[0]
    return f"{rows}:{mark}"


def recheck(scratch: Scratch, certificate: Certificate, rows: int, k: int, key: bytes) -> str | None:
    """Check a stored certificate again, without the source. Returns the problem, or None.

    The least covers were checked when the release was made, and are not checked again.
    """
    return check_matchings(scratch, certificate, rows, k) or check_draw(scratch, certificate, rows, k, key)

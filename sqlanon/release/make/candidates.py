"""Boxes of their own between method and publication: every row once for each box that it fits, and what of that is kept."""

from __future__ import annotations

from sqlanon.engines.base import TableRef
from sqlanon.formats import Candidates, Recoded
from sqlanon.methods.base import Matches
from sqlanon.release.store.private_tables import private_table
from sqlanon.table.encode import Encoded
from sqlanon.table.scratch import Scratch


def matched(scratch: Scratch, encoded: Encoded, classed: TableRef, matches: Matches) -> TableRef:
    """A scratch table of the classed rows, every one once for each of its boxes: boxes are recoded and verified as classes are.

    Cost: a join, k rows for every row.
    """
    table = scratch.table("matched")
    columns = [domain.reading.alias for domain in encoded.quasi] + [domain.code for domain in encoded.quasi]
    scratch.execute("freeform/matched", matched=table, edges=matches.edges, classed=classed, columns=columns)
    return table


def of(scratch: Scratch, matches: Matches | None, rows: TableRef) -> Candidates | None:
    """What is known of a run's candidates; the certificate's table is named when the release has a version."""
    if matches is None:
        return None
    unnamed = private_table(scratch.engine, "edges")
    return Candidates(matches.k, rows, matches.edges, matches.slots, unnamed, matches.content)


def counted(scratch: Scratch, encoded: Encoded, recoded: Recoded) -> TableRef:
    """The boxes as losses count them: by the rows that are published in each."""
    if recoded.candidates is None:
        return recoded.boxes
    table = scratch.table("single")
    codes = [domain.code for domain in encoded.quasi]
    scratch.execute("freeform/single", single=table, boxes=recoded.boxes, columns=codes)
    return table


def surest(
    scratch: Scratch, encoded: Encoded, classed: TableRef, recoded: Recoded
) -> dict[str, dict[str, float]]:
    """How sure the likeliest sensitive value of a row is to a reader, mean and worst, per column; l could not be kept. Cost: a join each."""
    own, found = recoded.candidates, {}
    for domain in encoded.sensitive if own is not None else ():
        assert own is not None
        alias = domain.reading.alias
        row = scratch.fetch("freeform/surest", edges=own.edges, classed=classed, alias=alias, k=own.k)[0]
        found[domain.reading.name] = {"mean": float(str(row[0])), "worst": float(str(row[1]))}
    return found

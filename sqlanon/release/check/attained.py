"""Are the ends of published ranges, and the members of published sets, values of rows? What answers of queries may rest on.

That every value of a row lies in its box, `sqlanon.release.check.verify` has found. Here the original values are asked by statements of
their own whether the box ends where they do. What is not so of every class is no violation: the metadata do not list the column, and
nothing rests on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.formats.cover import Claim, claim_of
from sqlanon.table.wide import FEW

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.formats import Recoded
    from sqlanon.table.encode import Encoded
    from sqlanon.table.scratch import Scratch


def attained(scratch: Scratch, encoded: Encoded, classed: TableRef, recoded: Recoded) -> tuple[str, ...]:
    """The quasi columns of which each published end, or member of a set, is the value of some row of its class.

    None where the format does not declare it, where levels decide what is published, and where every row has a box of its own: of the one
    row that is published with it the ends say nothing. Nodes of hierarchies, and values that became others before (`recode`), are not asked.

    Args:
        scratch: the run.
        encoded: the quasi columns.
        classed: staged rows with their original values and class.
        recoded: what is published of every class.

    Cost: the rows are grouped by class once for eight ordered columns, and once for each column of sets.
    """
    if not recoded.form.facts.attains or recoded.leveled or recoded.candidates is not None:
        return ()
    found: dict[str, bool] = {}
    ordered: list[tuple[str, Claim]] = []
    for domain in encoded.quasi:
        reading, names = domain.reading, recoded.layout.names[domain.code]
        if reading.treatment == "hierarchy" or reading.spec.recode is not None:
            continue
        found[reading.name] = False
        if reading.treatment == "nominal":
            rows = scratch.fetch(
                "verify/attained_members", classed=classed, released=recoded.released, alias=reading.alias, value=names.value
            )  # fmt: skip
            found[reading.name] = int(str(rows[0][0])) == 0
        else:
            claim = claim_of(recoded.form, scratch, domain, recoded.released, names, of="_attained")
            ordered.append((reading.name, claim))
    for at in range(0, len(ordered), FEW):
        some = ordered[at : at + FEW]
        columns = [claim for _, claim in some]
        row = scratch.fetch(
            "verify/attained_ends", classed=classed, released=recoded.released, columns=columns
        )[0]
        found |= {name: int(str(missed)) == 0 for (name, _), missed in zip(some, row, strict=True)}
    return tuple(name for name, attained in found.items() if attained)


__all__ = ["attained"]

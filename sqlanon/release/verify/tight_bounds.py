"""Checks that ends of published ranges and members of published sets are values of rows.

Answers of queries may rest on that.

That every value of a row lies in its box, `sqlanon.release.verify.verify` finds: of the columns whose ends are the
least and greatest value it need not ask again. A box that is the least cover of its rows ends where they do. What is
not so of every class is no violation: the metadata do not list the column, and nothing rests on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.formats.cover import count_wider_than_least
from sqlanon.formats.levels import NOT_ASKED

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.formats.base import Recoded
    from sqlanon.formats.levels import Least
    from sqlanon.table.encode import Encoded
    from sqlanon.table.scratch import Scratch


def least_covers(scratch: Scratch, encoded: Encoded, classed: TableRef, recoded: Recoded) -> Least:
    """The quasi columns with published ends, or members of sets, that are values of rows of the class.

    In these columns no cell is more than the least cover of its rows.

    Nothing is asked where the format does not declare it, where levels decide what is published, where boxes are wider,
    and where every row has a box of its own: of the one row that is published with it the ends say nothing. Nodes of
    hierarchies, and values that became others before (`recode`), are not asked.

    Args:
        scratch: the run.
        encoded: the quasi columns.
        classed: staged rows with their original values and class.
        recoded: what is published of every class.

    Cost: see `sqlanon.formats.cover.count_wider_than_least`.
    """
    if not recoded.form.facts.attains or recoded.wider or recoded.leveled or not recoded.members.attain:
        return NOT_ASKED
    asked = [
        domain
        for domain in encoded.quasi
        if domain.reading.treatment != "hierarchy" and domain.reading.spec.recode is None
    ]
    return count_wider_than_least(recoded.form, scratch, asked, classed, recoded)

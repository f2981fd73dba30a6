"""TP+: another method divides the residue of TP (Xiao, Yi and Tao 2010, section 5.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon.methods.base import Context
from sqlanon.spec import MethodSpec

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.methods.suppress.solve import SolvedClasses


def divide_residue(context: Context, table: TableRef, solved: SolvedClasses, name: str) -> TableRef:
    """The classes with the residue divided by the method ``name``.

    Args:
        context: the run.
        table: row -> class, all rows; it is dropped.
        solved: which class is the residue. It is eligible, so that the method finds classes.
        name: the method, with default options.
    """
    from sqlanon.methods.method import make_method

    scratch, encoded = context.scratch, context.encoded
    work, with_rest = scratch.table("residue"), scratch.table("with_rest")
    codes = [domain.code for domain in encoded.quasi + encoded.sensitive]
    scratch.execute(
        "suppress/residue", residue=work, work=encoded.work, assign=table, number=solved.residue, codes=codes
    )
    part = replace(encoded, coded=work, rows=solved.left, numbers=encoded.past)
    inner = replace(context, encoded=part, execution="auto", refine=None, listed=False, read_again=True)
    assignment = make_method(MethodSpec(name)).assign(inner)
    scratch.execute("suppress/rest", made=with_rest, assign=table, rest=assignment.table, number=solved.residue)
    for scratch_table in (table, work, assignment.table, *([assignment.spans] if assignment.spans else [])):
        scratch.drop(scratch_table)
    return with_rest

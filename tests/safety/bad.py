"""Methods that do wrong: Mondrian, and then somebody tampers with the assignment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.mondrian.method import Mondrian


def tampering(*statements: str, as_one: bool = False) -> type[Mondrian]:
    """A method whose assignment (``{t}``: rid, class) is changed by these statements.

    Args:
        statements: what to do with it.
        as_one: begin with all rows in class 0.
    """

    class Bad(Mondrian):
        def assign(self, context: Context) -> Assignment:
            made = super().assign(replace(context, requirements=()))
            table = f'"{made.table.name}"'
            if as_one:
                context.scratch.engine.execute(f"UPDATE {table} SET class = 0")
            for statement in statements:
                context.scratch.engine.execute(statement.format(t=table))
            if made.spans is not None:  # boxes of the classes that were
                context.scratch.drop(made.spans)
            return replace(made, spans=None)

    return Bad


def tampered_release(function: Any, *statements: str) -> Any:
    """`Format.recode`, after which the released boxes are changed by these statements (``{t}``: one row a class)."""

    def recode(form: Any, scratch: Any, *arguments: Any) -> Any:
        made = function(form, scratch, *arguments)
        for statement in statements:
            scratch.engine.execute(statement.format(t=f'"{made.released.name}"'))
        return made

    return recode

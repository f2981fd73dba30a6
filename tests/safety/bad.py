"""Methods that do wrong: Mondrian, and then somebody tampers with the assignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from sqlanon.engines.base import Statement, TableRef
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.mondrian.method import Mondrian
from sqlanon.table.scratch import Scratch


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


def changed_after(monkeypatch: pytest.MonkeyPatch, template: str, *changes: str) -> None:
    """Change the physical table that a template writes, just after it was written, by SQL (``{t}``: its name)."""
    sql, execute_all = Scratch.sql, Scratch.execute_all
    written: list[TableRef] = []

    def noted(self: Scratch, name: str, *arguments: Any, **context: Any) -> Statement:
        if name == template:
            written.append(context["physical"])
        return sql(self, name, *arguments, **context)

    def then(self: Scratch, statements: Sequence[Statement]) -> None:
        execute_all(self, statements)
        for table in written:
            for change in changes:
                self.engine.execute(change.format(t=f'"{table.schema}"."{table.name}"'))
        written.clear()

    monkeypatch.setattr(Scratch, "sql", noted)
    monkeypatch.setattr(Scratch, "execute_all", then)

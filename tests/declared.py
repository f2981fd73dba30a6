"""Methods of a test's own, or with other limits, in the registry for as long as the test runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sqlanon.declared import METHODS, MethodDeclaration
from sqlanon.declared.cost import Cost
from sqlanon.lack import UNDECLARED


def declare(monkeypatch: pytest.MonkeyPatch, name: str, code: type[Any], like: str | None = None, **more: Any) -> None:
    """Add a method.

    Args:
        monkeypatch: takes it out again.
        name: as policies write it.
        code: its class.
        like: a method whose options and limits it has; None: it has none.
        more: further fields of its declaration.
    """
    empty = MethodDeclaration(name, "A method of a test.", code, Cost(0.0, 0.0), pushdown=UNDECLARED)
    made = replace(METHODS[like] if like else empty, name=name, code=code, **more)
    monkeypatch.setitem(METHODS._known, name, made)


def limited(monkeypatch: pytest.MonkeyPatch, name: str, most: int) -> None:
    """Let a method take at most so many rows or columns, wherever it has a limit."""
    method = METHODS[name]
    limits = tuple(replace(limit, most=most) for limit in method.limits)
    monkeypatch.setitem(METHODS._known, name, replace(method, limits=limits))

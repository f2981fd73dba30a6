"""Adds a declaration to its registry during a check."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlanon.declared import MethodDeclaration, Registry, RequirementDeclaration

T = TypeVar("T", MethodDeclaration, RequirementDeclaration)


@contextmanager
def add_declaration(registry: Registry[T], declared: T) -> Iterator[None]:
    """Add a declaration, unless it is there already, and take it out at the end.

    Raises:
        ValueError: another declaration has the name.
    """
    if registry.get(declared.name) is declared:
        yield
        return
    registry.add(declared)
    try:
        yield
    finally:
        registry.discard(declared.name)

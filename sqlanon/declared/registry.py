"""A registry: what is declared under a name, each name once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Named(Protocol):
    """Anything with a name of its own."""

    @property
    def name(self) -> str:
        """As policies write it."""


T = TypeVar("T", bound=Named)


class Registry(Mapping[str, T]):
    """Declarations by name, in the order in which they were added.

    Args:
        kind: what is declared, one of them in words, for messages.
        known: the first declarations.
    """

    def __init__(self, kind: str, known: Iterable[T] = ()) -> None:
        self.kind = kind
        self._known: dict[str, T] = {}
        for one in known:
            self.add(one)

    def add(self, declared: T) -> T:
        """Add a declaration and return it.

        Raises:
            ValueError: the name is taken, or is not of lower-case letters, digits and underscores.
        """
        if not _NAME.fullmatch(declared.name):
            raise ValueError(
                f"{declared.name!r} cannot be the name of a {self.kind}: lower-case letters, digits and _, a letter first"
            )
        if declared.name in self._known:
            raise ValueError(f"there is a {self.kind} {declared.name} already; choose another name")
        self._known[declared.name] = declared
        return declared

    def __getitem__(self, name: str) -> T:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

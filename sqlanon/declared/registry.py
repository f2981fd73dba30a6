"""A registry: what is declared under a name, each name once, by the package itself and by extensions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from threading import RLock
from typing import ClassVar, Protocol, TypeVar

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Named(Protocol):
    """Anything with a name of its own."""

    @property
    def name(self) -> str:
        """As policies write it."""


T = TypeVar("T", bound=Named)


class Registry(Mapping[str, T]):
    """Declarations by name, in the order in which they were added.

    The first question to any registry with a group adds the extensions of all of them (`sqlanon.declared.extensions`);
    where one cannot be used, every question raises `PolicyError`.

    Args:
        kind: what is declared, one of them in words, for messages.
        known: the first declarations.
        group: of the entry points by which extensions add theirs; empty: they cannot.
    """

    _extensible: ClassVar[dict[str, Registry[Named]]] = {}
    _complete: ClassVar[bool] = False
    _adding: ClassVar[bool] = False
    _lock: ClassVar[RLock] = RLock()

    def __init__(self, kind: str, known: Iterable[T] = (), group: str = "") -> None:
        self.kind = kind
        self._known: dict[str, T] = {}
        for one in known:
            self.add(one)
        self.own: tuple[T, ...] = tuple(self._known.values())
        """What the package declares itself; to read it adds no extension."""
        self._group = group
        if group:
            self._extensible[group] = self  # type: ignore[assignment]

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

    def discard(self, name: str) -> None:
        """Take a declaration out, if it is there."""
        self._known.pop(name, None)

    def _all(self) -> dict[str, T]:
        if self._group and not Registry._complete:
            self._extend()
        return self._known

    @classmethod
    def _extend(cls) -> None:
        from sqlanon.declared.extensions import add_all

        with cls._lock:
            # The module of an extension may itself ask, and gets what there is.
            if Registry._complete or Registry._adding:
                return
            Registry._adding = True
            try:
                add_all(cls._extensible)
                Registry._complete = True
            finally:
                Registry._adding = False

    def __getitem__(self, name: str) -> T:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

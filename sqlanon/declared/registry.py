"""A registry: declarations by name, each name once, of the package itself and of extensions.

The package's own declarations may be named in place of given, ``module:NAME`` as entry points name them: each is then
next to the code that it is about, which no import of this room reaches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from threading import RLock
from typing import ClassVar, Protocol, TypeVar, cast

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class NamedEntry(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """As policies write it."""


T = TypeVar("T", bound=NamedEntry)


class Registry(Mapping[str, T]):
    """Declarations by name, in the order in which they were added.

    The first question to any registry with a group adds the extensions of all of them (`sqlanon.declared.extensions`);
    where an extension cannot be used, every question raises `PolicyError`.

    Args:
        kind: kind of the declarations, in words and in the singular, for messages.
        declarations: the first ones, or where each is; those are imported at the first question to the registry.
        group: of the entry points by which extensions add theirs; empty: they cannot.
    """

    _extensible: ClassVar[dict[str, Registry[NamedEntry]]] = {}
    _complete: ClassVar[bool] = False
    _adding: ClassVar[bool] = False
    _lock: ClassVar[RLock] = RLock()

    def __init__(self, kind: str, declarations: Iterable[T | str] = (), group: str = "") -> None:
        self.kind = kind
        self._first = tuple(declarations)
        self._believed: set[str] = set()
        self._group = group
        if group:
            self._extensible[group] = self  # type: ignore[assignment]

    @cached_property
    def own(self) -> tuple[T, ...]:
        """Declarations of the package itself, without extensions; to read it adds none."""
        return tuple(cast("T", _import_object(entry)) if isinstance(entry, str) else entry for entry in self._first)

    @cached_property
    def _known(self) -> dict[str, T]:
        entries: dict[str, T] = {}
        for entry in self.own:
            self._put(entry, entries)
            self._believed.add(entry.name)
        return entries

    def believes(self, name: str) -> bool:
        """Whether this distribution declares it, itself or as an extension, so that its statements are trusted."""
        return name in self._all() and name in self._believed

    def add(self, declared: T, *, believed: bool = False) -> T:
        """Add a declaration and return it: after the declaration that it names by ``after``, or as the last.

        Raises:
            ValueError: the name is taken, or is not of lower-case letters, digits and underscores.
        """
        self._put(declared, self._known)
        if believed:
            self._believed.add(declared.name)
        return declared

    def _put(self, declared: T, declarations: dict[str, T]) -> None:
        if not _NAME.fullmatch(declared.name):
            raise ValueError(
                f"{declared.name!r} cannot be the name of a {self.kind}: lower-case letters, digits and _, a letter "
                "first"
            )
        if declared.name in declarations:
            raise ValueError(f"there is a {self.kind} {declared.name} already; choose another name")
        names = list(declarations)
        after = getattr(declared, "after", "")
        behind = names[names.index(after) + 1 :] if after in declarations else []
        declarations[declared.name] = declared
        for name in behind:
            declarations[name] = declarations.pop(name)

    def discard(self, name: str) -> None:
        """Take a declaration out, if it is there."""
        self._known.pop(name, None)
        self._believed.discard(name)

    def _all(self) -> dict[str, T]:
        if self._group and not Registry._complete:
            self._extend()
        return self._known

    @classmethod
    def _extend(cls) -> None:
        from sqlanon.declared.extensions import add_all

        with cls._lock:
            # The module of an extension may itself ask, and gets the declarations so far.
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


def _import_object(place: str) -> object:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)

"""Extensions: declarations by entry points of distributions, added when a registry is first asked.

An entry point names a declaration, ``module:NAME``, and has the name that is declared. The module is imported whenever
a registry is asked, so it must be cheap to import: it names its code, or imports dependencies in the code that needs
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

from sqlanon.errors import PolicyError

_OWN = "sqlanon"
"""The distribution with trusted extensions: those of `sqlanon.papers`."""


class ExtensibleRegistry(Protocol):
    """A registry, as extensions see it."""

    kind: str

    @property
    def own(self) -> tuple[Any, ...]:
        """Declarations of the package itself."""

    def add(self, declared: Any, *, believed: bool = False) -> Any:  # noqa: ANN401 - of the registry's kind
        """Add a declaration."""

    def discard(self, name: str) -> None:
        """Take a declaration out."""


def add_all(registries: Mapping[str, ExtensibleRegistry]) -> None:
    """Add the declarations of entry points.

    Args:
        registries: by the group of entry points that they take.

    Raises:
        PolicyError: extensions that cannot be used, all at once, each with the distribution and entry point.

    Cost: reading the names of the entry points of all installed distributions, some milliseconds for 70 of them.
    """
    points, problems, complete = entry_points(), [], False
    added: list[tuple[ExtensibleRegistry, str]] = []
    try:
        for group, registry in registries.items():
            for point in sorted(points.select(group=group), key=lambda point: (point.name, point.value)):
                try:
                    added.append((registry, _add(point, registry)))
                except Exception as error:  # noqa: BLE001 - whatever the module of an extension raises
                    what = str(error) if isinstance(error, _UnusableObjectError) else f"{type(error).__name__}: {error}"
                    problems.append(f"extension {_describe_place(point)}: {what}; repair or uninstall it")
        complete = not problems
    finally:
        if not complete:
            for registry, name in added:
                registry.discard(name)
    if problems:
        raise PolicyError(problems)


class _UnusableObjectError(Exception):
    """The object named by an entry point cannot be used; the text says why."""


def _add(point: EntryPoint, registry: ExtensibleRegistry) -> str:
    declared: Any = point.load()
    kind = type(registry.own[0])
    if not isinstance(declared, kind):
        raise _UnusableObjectError(f"it names no {kind.__name__}")
    if declared.name != point.name:
        raise _UnusableObjectError(f"it declares the {registry.kind} {declared.name}: both names must be the same")
    try:
        registry.add(declared, believed=point.dist is not None and point.dist.name == _OWN)
    except ValueError as error:
        raise _UnusableObjectError(str(error)) from None
    return point.name


def _describe_place(point: EntryPoint) -> str:
    """The distribution and the entry point."""
    whose = f"{point.dist.name} {point.dist.version}" if point.dist is not None else "of an unknown distribution"
    return f"{whose}, entry point {point.name} = {point.value} of {point.group}"

"""sqlanon: anonymize tables where they live.

The public names, imported on first use, so that ``import sqlanon`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sqlanon._version import __version__

if TYPE_CHECKING:
    from sqlanon.database import Database, Release, anonymize, connect
    from sqlanon.errors import (
        DatabaseError,
        DependentsError,
        GuardError,
        InfeasibleError,
        LockedError,
        PolicyError,
        PrivacyViolation,
        SchemaChangedError,
        SqlanonError,
        UnsupportedError,
    )
    from sqlanon.policy import load as load_policy

_HOMES = {
    "Database": "database",
    "Release": "database",
    "anonymize": "database",
    "connect": "database",
    "load_policy": "policy",
    "DatabaseError": "errors",
    "DependentsError": "errors",
    "GuardError": "errors",
    "InfeasibleError": "errors",
    "LockedError": "errors",
    "PolicyError": "errors",
    "PrivacyViolation": "errors",
    "SchemaChangedError": "errors",
    "SqlanonError": "errors",
    "UnsupportedError": "errors",
}


def __getattr__(name: str) -> object:
    if name == "dbt":
        return import_module("sqlanon.dbt")
    if name not in _HOMES:
        raise AttributeError(f"module 'sqlanon' has no attribute {name!r}")
    module = import_module(f"sqlanon.{_HOMES[name]}")
    return getattr(module, "load" if name == "load_policy" else name)


def __dir__() -> list[str]:
    """The public names, imported or not, and what every module has; not what this one imports for itself."""
    own = {name for name in globals() if name.startswith("__")}
    return sorted({*own, *__all__, "dbt"})


__all__ = [
    "Database",
    "DatabaseError",
    "DependentsError",
    "GuardError",
    "InfeasibleError",
    "LockedError",
    "PolicyError",
    "PrivacyViolation",
    "Release",
    "SchemaChangedError",
    "SqlanonError",
    "UnsupportedError",
    "__version__",
    "anonymize",
    "connect",
    "load_policy",
]

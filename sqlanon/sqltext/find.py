"""Finds templates: in the checkout's ``sql/`` first, else in the copy of the wheel."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def _root() -> Path:
    checkout = _PACKAGE.parent / "sql"
    shipped = _PACKAGE / "_sql"
    return checkout if (checkout / "core").is_dir() else shipped


@cache
def template_path(name: str, dialect: str) -> tuple[Path, str]:
    """The file of template ``name`` (such as ``table/stage``) for a dialect, and the dialect it is written in.

    Files are looked for once: templates are not added to while sqlanon runs.

    Raises:
        FileNotFoundError: there is no such template.
    """
    override = _root() / dialect / f"{name}.sql"
    if override.is_file():
        return override, dialect
    core = _root() / "core" / f"{name}.sql"
    if not core.is_file():
        raise FileNotFoundError(f"no SQL template {name}")
    return core, "duckdb"


def template_source(name: str) -> str:
    """The text of a file below ``sql/``, such as ``core/table/stage.sql``, which a template extends.

    Raises:
        FileNotFoundError: there is no such file.
    """
    return (_root() / name).read_text(encoding="utf-8")


_ADDED: dict[str, str] = {}
"""Texts of templates that extensions brought, by name."""


def add_template(name: str, text: str) -> None:
    """Add a core template that is not a file of ours; ``text`` begins with its header, as those in ``sql/core`` do.

    Raises:
        ValueError: there is another template of that name.
    """
    paths = [_root() / folder / f"{name}.sql" for folder in ("core", "duckdb", "postgres", "spark")]
    if _ADDED.get(name, text) != text or any(path.is_file() for path in paths):
        raise ValueError(f"there is an SQL template {name} already; choose another name")
    _ADDED[name] = text


def find_added_template(name: str) -> str | None:
    """The text of a template that an extension brought; None where there is none."""
    return _ADDED.get(name)


def template_names() -> list[str]:
    """Every template, core and overrides, once."""
    return sorted({str(path.relative_to(_root()).with_suffix("")).split("/", 1)[1] for path in _root().rglob("*.sql")})


@cache
def own_functions() -> tuple[str, ...]:
    """The stored functions that sqlanon can install; their texts are the templates ``functions/<name>``."""
    return tuple(name.removeprefix("functions/") for name in template_names() if name.startswith("functions/"))

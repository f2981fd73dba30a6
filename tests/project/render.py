"""A script: renders and compiles every template for every engine, with samples for parameters.

Prints what failed as JSON.

It runs on an installed sqlanon, so it imports nothing of the tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jinja2
import jinja2.meta

import sqlanon
from sqlanon.sqltext import statement, template_names, template_path

DIALECTS = ("duckdb", "postgres", "spark")
FILTERS = ("ident", "table", "literal", "scratch", "link_of")

STORED_LINKS = ("postgres", "spark")
"""Engines whose staged rows always have a column ``link`` (no capability ``staged_hashes``).

It is never made of others.
"""


class Sample(str):
    """Represents any parameter: a name, a number, a table, a record with any field, a list of two of them."""

    __slots__ = ()

    def __getattr__(self, field: str) -> Sample:
        if field.startswith("__"):
            raise AttributeError(field)
        return Sample("sample")

    def __iter__(self) -> Iterator[Sample]:
        return iter((Sample("one"), Sample("two")))

    def __len__(self) -> int:
        return 2

    def __add__(self, other: str) -> Sample:
        return self

    __radd__ = __sub__ = __mul__ = __add__

    def __gt__(self, other: object) -> bool:
        return True

    __lt__ = __ge__ = __le__ = __gt__

    def __index__(self) -> int:
        return 2

    def __contains__(self, item: object) -> bool:
        return not isinstance(item, str) or super().__contains__(item)

    def __getitem__(self, index: object) -> Sample:
        return Sample("sample")


def needed(path: Path) -> set[str]:
    """The parameters that a template's text uses."""
    environment = jinja2.Environment()
    environment.filters.update(dict.fromkeys(FILTERS, str))
    tree = environment.parse(path.read_text())
    names = jinja2.meta.find_undeclared_variables(tree)
    for extended in jinja2.meta.find_referenced_templates(tree):
        names |= needed(path.parents[len(Path(extended).parts) - 1] / extended)
    return names - {"dialect"} - {macro.name for macro in tree.find_all(jinja2.nodes.Macro)}


def main() -> None:
    """Render all and report what failed, how many there were, and where they came from."""
    failed, folders = [], set()
    for name in template_names():
        for dialect in DIALECTS:
            try:
                path, _ = template_path(name, dialect)
            except FileNotFoundError:
                continue  # another engine's own
            folders.add(str(path.parents[name.count("/") + 1]))
            try:
                samples: dict[str, object] = {field: Sample("sample") for field in needed(path)}
                if dialect in STORED_LINKS and "link_of" in path.read_text():
                    samples["link"] = ()
                text = statement(name, dialect, **samples).text
            except Exception as error:  # noqa: BLE001 - reported with the others
                failed.append(f"{name} for {dialect}: {error!r}")
            else:
                failed += [f"{name} for {dialect}: leftover template syntax"] if "{{" in text or "{%" in text else []
    print(
        json.dumps(
            {
                "from": sqlanon.__file__,
                "folders": sorted(folders),
                "names": template_names(),
                "failed": failed,
            }
        )
    )


if __name__ == "__main__":
    main()

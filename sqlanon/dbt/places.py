"""Places of a model's ``anonymize`` keys in the project's files, for errors with file and line.

The line is given where it is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as FilePath

from sqlanon.declared.records import Path
from sqlanon.declared.words import show
from sqlanon.errors import PolicyError
from sqlanon.policy.document import Document, read

KEY = "anonymize"
"""The key of a model's or a column's ``meta`` that is ours."""

_HOMES: tuple[Path, ...] = (("config", "meta", KEY), ("meta", KEY))
"""Where it may be below a model or a column; dbt merges both."""


class Yaml:
    """The project's YAML files, each read once."""

    def __init__(self) -> None:
        self._known: dict[FilePath, Document | None] = {}

    def document(self, file: FilePath) -> Document | None:
        """The file with lines; None if it cannot be read as plain YAML, which dbt may still accept."""
        if file not in self._known:
            try:
                self._known[file] = read(file, {})
            except PolicyError:
                self._known[file] = None
        return self._known[file]


@dataclass(frozen=True, slots=True)
class Places:
    """Says where a path of a model's release is: the `Origin` of problems.

    Attributes:
        model: the model's name.
        patch: the YAML file that describes it; None if none does.
        file: the model's own file.
        yaml: reads the former.
    """

    model: str
    patch: FilePath | None
    file: FilePath
    yaml: Yaml

    def place(self, path: Path) -> tuple[int, str]:
        """The line to sort by, and ``file:line: model name: key``."""
        column = str(path[1]) if len(path) > 1 and path[0] == "columns" else None
        rest = path[2:] if column is not None else path
        file, line = self._line(column, rest)
        words = [f"{file}{f':{line}' if line else ''}", f"model {show(self.model)}"]
        if column is not None:
            words.append(f"column {show(column)}")
        if path != ("columns",):
            words.append(".".join([KEY, *(show(str(part)) for part in rest)]))
        return line, ": ".join(words)

    def display(self, path: Path, text: str) -> str:
        """The file name itself: the project holds it."""
        return text

    def _line(self, column: str | None, rest: Path) -> tuple[FilePath, int]:
        document = self.yaml.document(self.patch) if self.patch else None
        item = _item(document, ("models",), self.model) if document else None
        if document is None or item is None or self.patch is None:
            return self.patch or self.file, 0
        if column is not None:
            item = _item(document, (*item, "columns"), column) or item
        for home in _HOMES:
            if document.holds((*item, *home)):
                return self.patch, document.line((*item, *home, *rest))
        if column is None and rest and rest != ("columns",):
            return self.file, 0  # the block is in the model's own config(), or in dbt_project.yml
        return self.patch, document.line(item)


def _item(document: Document, path: Path, name: str) -> Path | None:
    """The path of the list item with this name."""
    data: object = document.data
    for part in path:
        if isinstance(data, list) and isinstance(part, int):
            data = data[part]
        else:
            data = data.get(str(part)) if isinstance(data, dict) else None
    for index, item in enumerate(data if isinstance(data, list) else []):
        if isinstance(item, dict) and item.get("name") == name:
            return (*path, index)
    return None

"""Reading a YAML file as plain data with the line of every key, and environment variables put in.

Scalars stay the text that was written, so that a column called ``no`` or a value ``1e3`` keeps the spelling; only an
empty or null scalar is None. Nothing is ever constructed from tags, and aliases that grow without bound are stopped.
The meaning of keys belongs in `models`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import TypeAlias

import yaml

from sqlanon.bounded_file import read_bounded
from sqlanon.declared.records import Path
from sqlanon.declared.words import show
from sqlanon.errors import PolicyError

Data: TypeAlias = "dict[str, Data] | list[Data] | str | None"

LARGEST = 200_000
"""Values of a file at most, aliases followed."""
_LARGE = f"{{}}: holds more than {LARGEST} values, aliases followed; long lists of values go into files of their own"

DEEPEST = 20
"""Mappings and lists inside each other at most."""

KEPT = (("secret",), ("publish_to",))
"""Keys that keep ``${NAME}`` as written: a run reads the variable."""

READ = ("connection", "hierarchy")
"""Keys with ``${NAME}`` replaced by the variable, as in `OF_DATABASES`.

`plan`, errors and readers show the values of all other keys.
"""

OF_DATABASES = (("connection",), ("state",))
"""Places of URLs."""

_TAG = "tag:yaml.org,2002:"
_PLAIN = {_TAG + tag for tag in ("str", "int", "float", "bool", "null", "timestamp", "value", "merge")}
_VARIABLE = re.compile(r"\$\$\{|\$\{([^}]*)\}|\$\{")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HINTS = (
    (
        "cannot start any token",
        "a character that cannot start a value (a tab, @, ` or %)",
        "indent with spaces; put text in quotes",
    ),
    ("undefined alias", "an alias without its anchor", "put text that starts with * in quotes"),
    ("second occurrence", "an anchor given twice", "each anchor once"),
    (
        "mapping values are not allowed",
        "a colon where no key is allowed",
        "put text that holds a colon in quotes; check the indentation",
    ),
    ("another document", "a second document", "one document in a file"),
)


class Document:
    """A policy file: data, lines and problems of the text itself.

    Attributes:
        file: the file as the user named it.
        data: content of the file.
        found: problems so far: path, problem, allowed values.
        unread: paths with values that could not be read; the data holds nothing there.
    """

    def __init__(self, file: str, text: str, environ: Mapping[str, str], *, connection: bool = True) -> None:
        self.file = file
        self._connection = connection
        self.found: list[tuple[Path, str, str]] = []
        self.unread: set[Path] = set()
        self._environ = environ
        self._lines: dict[Path, int] = {(): 1}
        self._written: dict[Path, str] = {}
        self._count = 0
        root = _compose(file, text)
        self.data: Data = None if root is None else self._value((), root)

    def place(self, path: Path) -> tuple[int, str]:
        """The line and ``file:line: key.key``; a path that is not in the file counts as the nearest key above it."""
        known_path = path = self._find_shared(path)
        while known_path not in self._lines:
            known_path = known_path[:-1]
        where = self._describe_place(path)
        return self._lines[known_path], f"{self.file}:{self._lines[known_path]}" + (f": {where}" if where else "")

    def display(self, path: Path, text: str) -> str:
        """The file name as it was written, when a variable of the environment is part of it."""
        return self._written.get(self._find_shared(path), text)

    def holds(self, path: Path) -> bool:
        """Whether the file has this key."""
        return self._find_shared(path) in self._lines

    def _find_shared(self, path: Path) -> Path:
        """Place of a key that the tables of a release share.

        ``releases[0].tables[1].key`` is written as ``releases[0].key``.
        """
        if path[2:3] != ("tables",) or len(path) < 5 or path[:5] in self._lines:
            return path
        shared = (*path[:2], *path[4:])
        return shared if shared[:3] in self._lines else path

    def line(self, path: Path) -> int:
        """The line of a path."""
        return self.place(path)[0]

    def _describe_place(self, path: Path) -> str:
        words: list[str] = []
        for depth, part in enumerate(path):
            if isinstance(part, int):
                words[-1] += f"[{self._item(path[: depth + 1])}]"
            else:
                words.append(show(part))
        return ".".join(words)

    def _item(self, path: Path) -> str:
        """A release by name if it has a name, anything else by number."""
        index = path[-1]
        if len(path) == 2 and isinstance(self.data, dict) and (*path, "name") not in self._written:
            items = self.data.get(str(path[0]))
            item = items[index] if isinstance(items, list) and isinstance(index, int) else None
            if isinstance(item, dict) and isinstance(name := item.get("name"), str) and name:
                return show(name)
        return str(index)

    def _value(self, path: Path, node: yaml.Node) -> Data:
        self._count += 1
        if self._count > LARGEST:
            raise PolicyError(_LARGE.format(self.file))
        if len(path) > DEEPEST:
            raise PolicyError(f"{self.file}:{_line(node)}: nested deeper than {DEEPEST} levels; no key of a policy is")
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._read_mapping(path, node)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            items: list[Data] = []
            for index, item in enumerate(node.value):
                self._lines[(*path, index)] = _line(item)
                items.append(self._value((*path, index), item))
            return items
        if isinstance(node, yaml.ScalarNode) and node.tag in _PLAIN:
            if node.tag == _TAG + "null" and node.style is None:
                return None
            return self._expand(path, str(node.value))
        self.unread.add(path)
        self.found.append((path, "a YAML tag is not allowed", "plain values, without !tags"))
        return None

    def _read_mapping(self, path: Path, node: yaml.MappingNode) -> dict[str, Data]:
        result: dict[str, Data] = {}
        first: dict[str, int] = {}
        for key, line, value, merged in self._entries(path, node, 0):
            if key not in result:
                self._lines[(*path, key)] = first[key] = line
                result[key] = self._value((*path, key), value)
            elif not merged:
                self.found.append(
                    ((*path, key), f"the key occurs twice, in line {first[key]} and in line {line}", "each key once")
                )
        return result

    def _entries(self, path: Path, node: yaml.MappingNode, depth: int) -> Iterator[tuple[str, int, yaml.Node, bool]]:
        """Key, line, value and whether it was merged: own keys first, then those that ``<<`` brings."""
        merges: list[yaml.Node] = []
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag not in _PLAIN:
                self.found.append((path, f"the key in line {_line(key)} is not text", "text"))
            elif key.tag == _TAG + "merge":
                merges += value.value if isinstance(value, yaml.SequenceNode) else [value]
            else:
                yield str(key.value), _line(key), value, depth > 0
        for merge in merges:
            if isinstance(merge, yaml.MappingNode) and depth < DEEPEST:
                self._count += 1
                yield from self._entries(path, merge, depth + 1)
            else:
                self.found.append((path, "<< merges something that is not a mapping", "an alias of a mapping"))

    def _expand(self, path: Path, text: str) -> str:
        """Put in the environment's values; ``$${`` is a plain ``${``."""

        def value(match: re.Match[str]) -> str:
            name = match[1]
            if match[0] == "$${":
                return "${"
            if name is None or not _VARIABLE_NAME.fullmatch(name):
                self.found.append(
                    (
                        path,
                        "${ without the name of an environment variable and }",
                        "${NAME}; write $${ for the characters ${ themselves",
                    )
                )
            elif name not in self._environ:
                self.found.append(
                    (path, f"the environment variable {name} is not set", f"set {name}, or change the policy")
                )
            else:
                return self._environ[name]
            self.unread.add(path)
            return ""

        of_database = path in OF_DATABASES
        if "${" not in text or path[-1:] in KEPT or (of_database and not self._connection):
            return text
        if not (of_database or any(key in READ for key in path[-2:])) and any(
            match[0] != "$${" for match in _VARIABLE.finditer(text)
        ):
            self.found.append(
                (
                    path,
                    "a variable of the environment",
                    (
                        "variables are read in connection, state, secret and hierarchy; write the value, or $${ for "
                        "the characters ${ themselves"
                    ),
                )
            )
            self.unread.add(path)
            return ""
        expanded = _VARIABLE.sub(value, text)
        if expanded != text:
            self._written[path] = text
        return expanded


def read(path: FilePath, environ: Mapping[str, str], *, connection: bool = True) -> Document:
    """Read a policy file; without ``connection`` the variables of that key are not read, as another database is used.

    Raises:
        PolicyError: if it cannot be read or is not YAML; problems that leave the rest readable are in ``found``.
    """
    try:
        content = read_bounded(path)
    except OSError as error:
        raise PolicyError(f"{path}: cannot be read ({error.strerror}); sqlanon init proposes a policy") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PolicyError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from None
    return Document(str(path), text, environ, connection=connection)


class _TooMany(Exception):
    """More keys and values than a policy may have."""


class _BoundedLoader(yaml.SafeLoader):
    """Stops at once where a text has too many keys and values, also where keys are written again and again."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._nodes += 1
        if self._nodes > 2 * LARGEST:  # each value may have a key
            raise _TooMany
        return super().compose_node(parent, index)


def _compose(file: str, text: str) -> yaml.Node | None:
    loader: yaml.SafeLoader | None = None
    try:
        loader = _BoundedLoader(text)
        return loader.get_single_node()
    except _TooMany:
        raise PolicyError(_LARGE.format(file)) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise PolicyError(
            f"{file}:{line}: a control character; YAML takes printable text, escape it in quotes"
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise PolicyError(f"{file}:{line}: not YAML: {_hint(error.problem or '', text, line)}") from None
    except (yaml.YAMLError, ValueError):
        raise PolicyError(f"{file}: not YAML") from None
    except RecursionError:
        raise PolicyError(f"{file}: nested too deeply; no key of a policy is") from None
    finally:
        if loader is not None:
            loader.dispose()


def _hint(problem: str, text: str, line: int) -> str:
    """The parser's problem without the text it quotes, which may be a secret."""
    for sign, what, allowed in _HINTS:
        if sign in problem:
            return f"{what}; {allowed}"
    if "${" in text.split("\n")[line - 1]:
        return "a bracket out of place; inside { } and [ ] put ${NAME} in quotes"
    return re.sub(r"""(['"]).*\1""", "…", problem) + "; check quotes, brackets and indentation"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1

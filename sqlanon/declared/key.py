"""The description of a key of a policy: one entry of the table in `keys`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, Literal

from sqlanon.declared.registry import Registry
from sqlanon.declared.values import REQUIRED, Value

Names = str | Sequence[str]
FileName = str | os.PathLike[str]
Number = int | float | str | Fraction | Decimal
Asked = Number | Mapping[str, object]
"""A number for every sensitive column, or more than a number: see `sqlanon.declared.records`."""
Goal = Literal["k", "l"]
Presence = Literal["disclosed"]
Boxes = Literal["own"]

ROLE = ("columns", "*", "role")
PRIVACY = ("privacy",)
"""Requirements by name: keys of `privacy` that extensions add."""


class Form(Enum):
    """How a value is written on the command line."""

    TEXT = "text"
    WORD = "one of a few words"
    WHOLE = "whole number"
    FLAG = "an option without a value"
    NAMES = "comma list of columns"
    PAIRS = "column=value, once for each column"
    SETTINGS = "comma list of key=value"
    SWITCH = "nothing, or a comma list of key=whole number"
    KEY_PAIRS = "key=value, once for each key"
    REQUIREMENT_PAIRS = "requirement=value, once for each requirement"


_FORMS = {
    "Names": Form.NAMES,
    "int": Form.WHOLE,
    "bool": Form.FLAG,
    **dict.fromkeys(("Effort", "Execution", "NullPerson", "Persons", "Rest", "RowsAre", "RowSecurity"), Form.WORD),
}
"""The form of a type, where a key says no other."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a policy.

    Attributes:
        path: where it is in a release, ``*`` for a column's name; ``policy:`` in the file itself, ``tables:`` in a
            release of several tables. A role lies below `role`: the argument lists the columns that have it.
        kind: values in files; None: a part with keys of its own, the value of a requirement, or an argument.
        default: the value where it is left out; None: nothing is asked.
        text: the meaning, for the reference and for editors.
        type: type of the keyword argument, None aside, as `options` writes it; empty: only files have the key.
        option: of the command line; empty: files and Python alone have the key.
        short: one line about the key, for ``--help``.
        named: the keyword argument, if it is not called as the key.
        value: name of the value in ``--help``, if not by the form.
        written: the form of the value on the command line, if it is not that of the type.
        empty: where the default is None, a file may have the key with nothing behind it, which is the same.
        words: the registry of the names that it takes there, extensions included; None: the words of the type.
    """

    path: str
    kind: Value | None
    default: object
    text: str
    type: str = ""
    option: str = ""
    short: str = ""
    named: str = ""
    value: str = ""
    written: Form | None = None
    words: Registry[Any] | None = None
    empty: bool = True

    @property
    def place(self) -> tuple[str, ...]:
        """The parts of the path."""
        return tuple(self.path.split("."))

    @property
    def name(self) -> str:
        """The keyword argument."""
        return self.named or self.place[-1]

    @property
    def of_columns(self) -> bool:
        """Whether it is a setting of columns, which each has by itself."""
        return self.path.startswith("columns.")

    @property
    def is_role(self) -> bool:
        """Whether the argument lists the columns of a role."""
        return self.place[:-1] == ROLE

    @property
    def form(self) -> Form:
        """Form of the value on the command line."""
        return self.written or _FORMS.get(self.type) or (Form.PAIRS if self.of_columns else Form.TEXT)

    @property
    def metavar(self) -> str | None:
        """Name of the value in ``--help``; None: by the type."""
        if self.words is not None:
            # Words that need no extension: to ask for theirs here would be done at every start.
            return f"[{'|'.join(word.name for word in self.words.own)}]"
        return self.value or ("COLUMNS" if self.form is Form.NAMES else None)

    @property
    def assumed(self) -> object:
        """The value where the argument is not given; None for settings of columns."""
        return None if self.default is REQUIRED or self.of_columns else self.default

    @property
    def required(self) -> bool:
        """Whether a release cannot do without the argument."""
        return self.is_role and self.name == "quasi"

    @property
    def optional(self) -> bool:
        """Whether the argument may be None: it is the same as nothing."""
        return not self.required and self.assumed in (None, ())

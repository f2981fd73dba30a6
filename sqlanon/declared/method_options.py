"""The kinds of options that a method has: a word, a whole number, a column's name, or several methods."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.declared.kinds import Kind
from sqlanon.declared.values import Integer, OneOf, Value

Given = str | int
"""The value of an option."""

_METHODS = Kind("a list of methods, each as name:option=value", {"type": "string"}, str)
_COLUMN = Kind("a column's name", {"type": "string"}, str)


class _ReadOption:
    """Common part of options: they are read by their kind of value."""

    __slots__ = ()

    @property
    def kind(self) -> Value:
        """The kind of value that it takes."""
        raise NotImplementedError

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return self.kind.allowed

    def read(self, text: str) -> Given:
        """The value that is written as ``text``.

        Raises:
            ValueError: not an allowed value; the message does not repeat it.
        """
        value: Given = self.kind.read(text)
        return value


@dataclass(frozen=True, slots=True)
class Word(_ReadOption):
    """An option that takes a word of a few.

    Attributes:
        name: as policies write it.
        words: the allowed values, the default first.
        about: the decision it makes, for the reference.
        shown: whether reports name it even with the default value.
    """

    name: str
    words: tuple[str, ...]
    about: str
    shown: bool = False

    @property
    def default(self) -> str:
        """The value where the policy has none."""
        return self.words[0]

    @property
    def kind(self) -> Value:
        return OneOf(self.words)


@dataclass(frozen=True, slots=True)
class Whole(_ReadOption):
    """An option that takes a whole number from ``low`` to ``high``; see `Word` for the other attributes."""

    name: str
    low: int
    high: int
    default: int
    about: str
    shown: bool = False

    @property
    def kind(self) -> Value:
        return Integer(self.low, self.high)


@dataclass(frozen=True, slots=True)
class MethodsOption(_ReadOption):
    """An option that takes several methods, each with own options; see `Word` for the attributes.

    In a policy a list; kept as a text, which `sqlanon.declared.candidates` reads. The named methods are checked by
    `check`.
    """

    name: str
    default: str
    about: str
    shown: bool = False

    @property
    def kind(self) -> Value:
        """A text."""
        return _METHODS


@dataclass(frozen=True, slots=True)
class ColumnOption(_ReadOption):
    """An option that names a column of the policy, or nothing; see `Word` for the attributes.

    The method's code looks the column up.
    """

    name: str
    about: str
    default: str = ""
    shown: bool = False

    @property
    def kind(self) -> Value:
        """A text."""
        return _COLUMN


Option = Word | Whole | MethodsOption | ColumnOption

"""The kinds of options that a method has: a word, a whole number, a column's name, or several methods."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.declared.values import whole

Given = str | int
"""The value of an option."""


@dataclass(frozen=True, slots=True)
class Word:
    """An option that takes one word of a few.

    Attributes:
        name: as policies write it.
        words: the allowed values, the default first.
        about: what it decides, for the reference.
        shown: whether reports name it even where it has its default.
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
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return ", ".join(self.words)

    def read(self, text: str) -> str:
        """The value that is written as ``text``.

        Raises:
            ValueError: not an allowed one; the message does not repeat it.
        """
        if text not in self.words:
            raise ValueError("not a value known here")
        return text


@dataclass(frozen=True, slots=True)
class Whole:
    """An option that takes a whole number from ``low`` to ``high``; see `Word` for the other attributes."""

    name: str
    low: int
    high: int
    default: int
    about: str
    shown: bool = False

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return f"a whole number from {self.low} to {self.high}"

    def read(self, text: str) -> int:
        """See `Word.read`."""
        return whole(text, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Several:
    """An option that takes several methods, each with options of its own; see `Word` for the attributes.

    In a policy a list; kept as one text, which `sqlanon.declared.candidates` reads. What it names is checked by
    `check`.
    """

    name: str
    default: str
    about: str
    shown: bool = False

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return "a list of methods, each as name:option=value"

    def read(self, text: str) -> str:
        """See `Word.read`."""
        return text


@dataclass(frozen=True, slots=True)
class Named:
    """An option that names a column of the policy, or nothing; see `Word` for the attributes.

    The method's code looks the column up.
    """

    name: str
    about: str
    default: str = ""
    shown: bool = False

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return "a column's name"

    def read(self, text: str) -> str:
        """See `Word.read`."""
        return text


Option = Word | Whole | Several | Named

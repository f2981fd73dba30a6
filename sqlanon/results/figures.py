"""Numbers and names as people read them, on a screen and in reports."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int) -> str:
    """``1,200``."""
    return f"{number:,}"


def join_names(names: Sequence[str], most: int = 12) -> str:
    """Names as text, and how many more there are.

    >>> join_names(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    more = len(names) - most
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:most])} and {count(more)} more"


def things(number: int, singular: str) -> str:
    """``1 row``, ``1,200 rows``, ``2 classes``: ``singular`` is the word for a single thing."""
    plural = "" if number == 1 else "es" if singular.endswith("s") else "s"
    return f"{count(number)} {singular}{plural}"


def format_rows(number: int) -> str:
    """``1 row``, ``1200 rows``, for errors."""
    return f"{number} row{'s' * (number != 1)}"


def measure(number: float) -> str:
    """A requirement's or a risk's value: ``10``, ``3.25``, ``1.2e+09``."""
    if number == int(number) and abs(number) < 1e15:
        return count(int(number))
    return f"{number:,.4g}"


def share(part: float, whole: float) -> str:
    """``12.5 %``, and never 0 or 100 unless exactly so."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    if 0 < percent < 0.01:
        return "< 0.01 %"
    if 99.99 < percent < 100:
        return "> 99.99 %"
    return f"{percent:.4g} %"


def clean(text: object) -> str:
    """A name or a released value with anything a terminal would obey replaced."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in str(text))


def in_words(model: str, reached: float | None) -> str:
    """Meaning of the worst class's figure under a privacy model, for readers who do not know the model.

    It is "" for an unknown model.
    """
    if reached is None:
        return "a class lacks a value, or raises one further than the model allows at all: no figure"
    words = {
        "k": lambda x: f"{measure(x)} rows look alike, at least",
        "l": lambda x: f"the surest guess of a value is right in {share(1, x)} of a class",
        "distinct_l": lambda x: f"{measure(x)} different values in a class, at least",
        "entropy_l": lambda x: f"as uncertain as {measure(x)} equally frequent values",
        "alpha": lambda x: f"one value has up to {share(x, 1)} of a class",
        "t": lambda x: f"a class differs from the table by up to {measure(x)} (0: the same, 1: nothing in common)",
        "beta": lambda x: (
            f"a value is up to {measure(float(f'{1 + x:.4g}'))} times as frequent in a class as in the table"
        ),
        "delta_disclosure": lambda x: (
            f"shares differ from the table's by a factor of up to {measure(float(f'{2 ** min(x, 60):.4g}'))}"
        ),
    }
    return words[model](reached) if model in words else ""

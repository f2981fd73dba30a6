"""Methods: published algorithms, one file each, behind one registry. They see codes, positions and spans, never values.

A method returns an assignment, row -> class. It is never trusted: verify measures what was released.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from sqlanon.errors import PolicyError
from sqlanon.methods.anatomy import Anatomy
from sqlanon.methods.base import Assignment, Context, Method, Problem
from sqlanon.methods.mondrian.method import Mondrian
from sqlanon.methods.onedim.method import Hilbert, HilbertFast, IDistance, IDistanceFast, Tree
from sqlanon.methods.topdown import TopDown
from sqlanon.spec import MethodSpec

METHODS: Mapping[str, type[Method]] = {
    kind.name: kind
    for kind in (Tree, Hilbert, HilbertFast, IDistance, IDistanceFast, Mondrian, TopDown, Anatomy)
}
"""Every method by name; a new one is a file, its templates and kernels, and an entry here."""


def method(spec: MethodSpec) -> Method:
    """The configured method that a spec names.

    Raises:
        PolicyError: no such method, option or value; the text lists what there is and does not repeat what was given, which
            may be a secret or a cell value in the wrong place.
    """
    kind = METHODS.get(spec.name)
    if kind is None:
        raise PolicyError(
            f"method: there is no such method{_near(spec.name, METHODS)}; methods: {', '.join(METHODS)}"
        )
    unknown = sorted(set(spec.options) - set(kind.options) - set(kind.numbers))
    if unknown:
        known = [f"{name} ({' | '.join(allowed)})" for name, allowed in kind.options.items()]
        known += [f"{name} ({span[0]} to {span[-1]})" for name, span in kind.numbers.items()]
        hint = _near(unknown[0], [*kind.options, *kind.numbers])
        raise PolicyError(f"method {spec.name}: no such option{hint}; options: {', '.join(known) or 'none'}")
    for name, value in spec.options.items():
        span = kind.numbers.get(name)
        if span is None:
            if value not in kind.options[name]:
                raise PolicyError(
                    f"method {spec.name}: {name}: not a value known here; allowed are {', '.join(kind.options[name])}"
                )
        elif not re.fullmatch("[0-9]{1,18}", value) or int(value) not in span:
            raise PolicyError(
                f"method {spec.name}: {name}: not a number known here; allowed are whole numbers from {span[0]} to {span[-1]}"
            )
    return kind(**spec.options)


def _near(word: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {found[0]}?)" if found else ""


__all__ = ["METHODS", "Assignment", "Context", "Method", "Problem", "method"]

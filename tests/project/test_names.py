"""Local variables say what they hold: words that fit any value are not used for them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from tests.project.tree import MODULES, label

WORDS = frozenset(
    {"asked", "at", "done", "drawn", "found", "given", "held", "kept", "known", "made", "named", "one", "own"}
    | {"said", "taken", "wanted", "written"}
)
"""Names that say nothing of a value: CONTRIBUTING.md names the noun instead."""


def weak_names(code: CodeType) -> Iterator[str]:
    """Such names of variables, each with the line of the function or comprehension; arguments do not count."""
    arguments, more, keywords = inspect.getargs(code)
    names = {*code.co_varnames, *code.co_cellvars} - {*arguments, more, keywords}
    yield from (f"{code.co_firstlineno} {name}" for name in sorted(WORDS & names))
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from weak_names(inner)


def read_code(path: Path) -> CodeType:
    return compile(path.read_text(encoding="utf-8"), path, "exec", dont_inherit=True)


@pytest.mark.parametrize(
    "code",
    [
        "found = 1",
        "return [one for one in y]",
        "for at, b in a: pass",
        "if made := 1: pass",
        "return lambda: [kept := 1]",
    ],
)
def test_a_weak_name_is_noticed(code: str) -> None:
    assert len(list(weak_names(compile(f"def f(a):\n    {code}", "code.py", "exec")))) == 1


def test_fields_and_arguments_do_not_count() -> None:
    code = "class C:\n    kept: int = 1\n    def f(self, found, *named, one, **own):\n        found = found or one\n"
    assert list(weak_names(compile(code, "code.py", "exec"))) == []


def test_local_variables_say_what_they_hold() -> None:
    assert [f"{label(path)}:{name}" for path in MODULES for name in weak_names(read_code(path))] == []

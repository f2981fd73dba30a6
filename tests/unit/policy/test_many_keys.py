"""Policies of very many keys end soon: in one error with the first problems and the number of the others."""

from __future__ import annotations

import pytest

from sqlanon import policy
from sqlanon.errors import PolicyError
from sqlanon.policy import document
from sqlanon.policy.problems import Problems

COLUMNS = "version: 1\nreleases:\n  - name: t\n    source: t\n    columns:\n"


class Lines:
    """Every path is in the line that its last part says."""

    def place(self, path: tuple[str | int, ...]) -> tuple[int, str]:
        return int(path[-1]) if path else 0, f"line {path[-1] if path else 0}"

    def display(self, path: tuple[str | int, ...], text: str) -> str:
        return text


def test_the_first_problems_are_listed() -> None:
    problems = Problems(Lines())
    for line in reversed(range(1, 251)):
        problems.add(("a", line), "wrong")
        problems.add(("a", line), "wrong")
    assert problems.broken(("a",))
    assert problems.broken(("a", 7))
    assert problems.broken(("a", 7, "b"))
    assert not problems.broken(("a", 251))
    assert not problems.broken(("b",))
    with pytest.raises(PolicyError) as caught:
        problems.stop()
    assert caught.value.problems == [*(f"line {line}: wrong" for line in range(1, 101)), "and 150 more problems"]


@pytest.mark.parametrize(
    "text",
    [
        COLUMNS + "      a: {role: quasi}\n" * 300,
        "version: 1\n" + "x: 1\n" * 900,
        "[" * 15 + ",".join("ab" * 450) + "]" * 15,
    ],
)
def test_keys_that_are_written_again_count(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """They were no values, so that a file of them was read to its end, and each was a problem."""
    monkeypatch.setattr(document, "LARGEST", 400)
    with pytest.raises(PolicyError, match="holds more than 200000 values") as caught:
        policy.loads(text, {})
    assert len(caught.value.problems) == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    "line", ["      c{i}: {{role: quasi}}\n", "      a: {{role: quasi}}\n", "      c{i}: {{rle: quasi}}\n"]
)
def test_a_quarter_of_a_million_columns(line: str) -> None:
    with pytest.raises(PolicyError, match="holds more than 200000 values"):
        policy.loads(COLUMNS + "".join(line.format(i=i) for i in range(250_000)), {})

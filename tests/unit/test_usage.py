"""Usage and Meter: what is done is charged once, to the innermost part that is open."""

from __future__ import annotations

from contextlib import suppress

import pytest

from sqlanon.cli.show.cost import format_bytes
from sqlanon.progress import SilentProgress, Stopwatch
from sqlanon.results.cost import cost_of
from sqlanon.usage import OUTSIDE, Meter, Part, Usage


class Counting:
    """Counters that a test moves."""

    def __init__(self, start: Usage) -> None:
        self.now = start

    def read(self) -> Usage:
        return self.now

    def add(self, usage: Usage) -> None:
        self.now = self.now + usage


def test_what_is_done_is_charged_to_the_innermost_part() -> None:
    engine = Counting(Usage(7, 70, 700))
    meter = Meter(engine.read)
    engine.add(Usage(1, 1, 1))
    with meter.measure(Part("a", "publish")):
        engine.add(Usage(2, 2, 2))
        with meter.measure(Part("b", "verify")):
            engine.add(Usage(4, 4, 4))
        engine.add(Usage(8, 8, 8))
    with suppress(RuntimeError), meter.measure(Part("a", "publish")):
        engine.add(Usage(16, 16, 16))
        raise RuntimeError
    engine.add(Usage(32, 32, 32))
    parts = meter.parts()
    assert {part: usage.statements for part, usage in parts.items()} == {
        OUTSIDE: 33,
        Part("a", "publish"): 26,
        Part("b", "verify"): 4,
    }
    assert meter.parts() == parts


def test_an_engine_that_comes_later_counts_from_then_on() -> None:
    first, second = Counting(Usage(5, None, None)), Counting(Usage(100, 100, 100, 100))
    meter = Meter(first.read)
    with meter.measure(Part("a", "publish")):
        first.add(Usage(1, 1, 1))
        meter.count(second.read)
        meter.count(second.read)
        second.add(Usage(2, 2, 2, 2))
    usage = meter.parts()[Part("a", "publish")]
    assert usage == Usage(3, None, None, 2)  # the first engine does not say its bytes


def test_costs_are_those_of_a_release_in_the_order_of_its_stages() -> None:
    parts = {
        Part("a", "verify"): Usage(1, 10, 0),
        OUTSIDE: Usage(2, 0, 0),
        Part("a", "state"): Usage(4, 5, 3, 9),
        Part("b", "state"): Usage(100, 100, 100),
    }
    cost = cost_of(parts, "a", {"state": 0.5, "verify": 0.25})
    assert [(stage.stage, stage.seconds, stage.statements) for stage in cost.stages] == [
        ("state", 0.5, 4),
        ("verify", 0.25, 1),
        ("outside", None, 2),
    ]
    assert (cost.statements, cost.bytes_read, cost.bytes_written, cost.bytes_shuffled) == (7, 15, 3, 9)
    hidden = cost_of(parts, "a", {"state": 0.5, "verify": 0.25}, shown=False)
    amounts = (hidden.bytes_read, hidden.bytes_written, hidden.bytes_shuffled)
    assert (hidden.statements, *amounts) == (7, None, None, None)
    assert all(stage.bytes_read is stage.bytes_written is stage.bytes_shuffled is None for stage in hidden.stages)


def test_a_stopwatch_measures_by_its_meter() -> None:
    engine = Counting(Usage())
    watch = Stopwatch("people", SilentProgress(), Meter(engine.read))
    with watch.stage("encode"):
        engine.add(Usage(3, 5, 7))
    assert watch.meter.parts() == {OUTSIDE: Usage(0, 0, 0), Part("people", "encode"): Usage(3, 5, 7)}


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (12_345, "12.3 kB"), (999_600, "1 MB"), (5 * 10**15, "5e+03 TB")],
)
def test_bytes_have_three_digits(number: int, text: str) -> None:
    assert format_bytes(number) == text

"""Metrics that are asked for: the paper's own figures, an oracle's on tables of every type, and what is refused."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from sqlanon.declared import METRICS
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Assignment
from sqlanon.policy import release as spec_of
from sqlanon.workload_spec import QuerySpec, WorkloadSpec
from tests.contract.anatomies import release_pair
from tests.contract.axes import Way
from tests.contract.cases import QI, Case, multiset, published_classes, release_rows
from tests.contract.samples import CORE, DIVERSE, JOINT, MIXED, TREES
from tests.contract.test_generalized import Raised, level
from tests.declared import declare
from tests.engines import PAIR, quote
from tests.oracle.domains import Quasi, Table
from tests.oracle.information import Cell, Show, everything, exact, hidden, information, node, shown
from tests.oracle.recode import released
from tests.oracle.requirements import Privacy

OWN = {name for name, one in METRICS.items() if one.asked} - {"least_gcp", "sse"}
"""Others have tests of their own: `test_least_gcp`, `test_microaggregation`."""
TREE = Way("tree", {"minimize": "gcp", "solver": "auto"})


def check(report: Any, case: Case, found: tuple[dict[str, float], list[dict[str, float]]]) -> None:
    plain, sensitive = found
    assert {name: report.loss.more[name] for name in plain} == pytest.approx(plain, rel=1e-9, abs=1e-12)
    assert list(report.loss.sensitive) == list(case.sensitive)
    for name, values in zip(case.sensitive, sensitive, strict=True):
        assert report.loss.sensitive[name] == pytest.approx(values, rel=1e-9, abs=1e-12), name
        assert set(plain) | set(values) == OWN


# --- the paper's table, section 5.1 -----------------------------------------------------------------------------------


class Given:
    """A toy: rows by quasi code, sensitive code and row id get the classes that a test lists."""

    classes: ClassVar[Sequence[int]] = ()

    def refusal(self, problem: Any) -> str | None:
        return None

    def assign(self, context: Any) -> Assignment:
        scratch, encoded = context.scratch, context.encoded
        rows = scratch.engine.fetch(f"SELECT rid FROM {quote(encoded.work.name)} ORDER BY c1, a1, rid")
        table = scratch.table("assign")
        arrays = {"rid": np.array(rows, np.int32)[:, 0], "class": np.array(self.classes, np.int32)}
        scratch.engine.load_arrays(table, arrays)
        return Assignment(table, "kernel")


NINE = Case(
    "nine",
    {"d": "TEXT", "s": "INTEGER"},
    tuple(zip("aaaabbbbc", (0, 0, 0, 1, 0, 1, 1, 1, 1), strict=True)),
    {"d": QI("nominal")},
    ("s",),
    Privacy(k=3),
)
"""Its codes: a, b, c; and 1 before 0, by frequency."""
H = math.log2(9) - (5 * math.log2(5) + 4 * 2) / 9
THIRD = math.log2(3) - 2 / 3
"""Entropy of one against two."""
G1 = -(6 * math.log2(3 / 4) + 2 * math.log2(5 / 9) + math.log2(4 / 9)) / 9
G2 = -(5 * math.log2(3 / 4) + math.log2(1 / 4) + 2 * math.log2(4 / 9) + math.log2(5 / 9)) / 9
MI = (3 * math.log2(9) - 4) / 9
"""Three rows lose what of 9 rows; they were one of 4, one of 4, and alone."""


@pytest.mark.parametrize("kind", ["ranges", "suppressed"])
@pytest.mark.parametrize(
    ("classes", "pmi", "lost", "cm", "entropies"),
    [
        ([1, 0, 0, 0, 2, 2, 2, 1, 1], G1, -0.126, 1 / 9, [0, THIRD, 0]),
        ([0, 0, 0, 1, 2, 2, 2, 1, 1], G2, 0.086, 2 / 9, [THIRD, THIRD, 0]),
    ],
    ids=["g1", "g2"],
)
def test_the_papers_table(
    shared_db: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    classes: list[int],
    pmi: float,
    lost: float,
    cm: float,
    entropies: list[float],
    kind: str,
) -> None:
    declare(monkeypatch, "given", Given)
    monkeypatch.setattr(Given, "classes", classes)
    _, report = release_rows(shared_db, NINE, tmp_path, method="given", metrics="all", format=kind)
    more = dict(report.loss.more)
    assert more.pop("least_gcp") == pytest.approx(2 / 27, abs=1e-6)  # c and two others, one row of nine
    assert more.pop("sse") == 0  # of a column without an order
    assert more == pytest.approx({"am": 15 / 9, "lm_values": 1 / 3, "level": 1 / 3, "mi_loss": MI})
    found = report.loss.sensitive["s"]
    assert found["pmi_lost"] == pytest.approx(lost, abs=0.0005)
    assert found == pytest.approx(
        {
            "pmi_loss": pmi,
            "pmi_lost": pmi + (6 * math.log2(3 / 4) + 2 * math.log2(1 / 4)) / 9,
            "pmi_max": H - pmi,
            "pmi_l2": H - pmi,
            "cm": cm,
            "sensitive_entropy": sum(entropies) / 3,
            "sensitive_entropy_rows": sum(entropies) / 3,
        }
    )


def test_two_columns_by_hand(shared_db: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Four rows: a column that determines the sensitive value, and one that does not.

    The range 1 to 3 holds no row with 2.
    """
    case = Case(
        "four",
        {"p": "INTEGER", "q": "TEXT", "s": "TEXT"},
        ((1, "u", "x"), (3, "u", "x"), (5, "u", "y"), (5, "u", "y")),
        {"p": QI(), "q": QI("nominal")},
        ("s",),
        Privacy(k=2),
    )
    declare(monkeypatch, "given", Given)
    monkeypatch.setattr(Given, "classes", [0, 0, 1, 1])
    _, report = release_rows(shared_db, case, tmp_path, method="given", metrics="all")
    # |R| of p: 2, 2, 1, 1 of |A| = 3; q has one value. log2 F is 1 in all rows of p, and 0 and 1 at the source.
    more = dict(report.loss.more)
    assert more.pop("least_gcp") == pytest.approx((1 / 2 + 1 / 2) / 8, abs=1e-6)  # of p, by rows; q loses nothing
    assert more == pytest.approx(
        {"am": 6 / 4, "lm_values": (2 * 0.5) / 8, "level": 2 / 8, "mi_loss": 2 / 8, "sse": 2 / 11}
    )
    # p shares 1 bit of 1 with it before and after, q none.
    assert report.loss.sensitive["s"] == pytest.approx(
        {
            "pmi_loss": 0.5,
            "pmi_lost": 0,
            "pmi_max": 1,
            "pmi_l2": math.sqrt(0.5),
            "cm": 0,
            "sensitive_entropy": 0,
            "sensitive_entropy_rows": 0,
        }
    )


# --- an oracle --------------------------------------------------------------------------------------------------------

SHOWN: dict[str, Show] = {"ranges": shown, "labels": shown, "points": shown, "suppressed": hidden}


@pytest.mark.cover
@pytest.mark.parametrize("kind", list(SHOWN))
@pytest.mark.parametrize("case", CORE, ids=lambda case: case.name)
def test_metrics_equal_oracle(shared_db: Any, case: Case, kind: str, tmp_path: Path) -> None:
    _, report = release_rows(shared_db, case, tmp_path, **TREE.arguments, metrics="all", format=kind)
    classes = TREE.classes(case)
    groups = published_classes(case, classes, kind)
    check(report, case, information(case.table, classes, groups, SHOWN[kind]))


@pytest.mark.cover
@pytest.mark.parametrize("engine", PAIR)
@pytest.mark.parametrize("case", [JOINT, TREES], ids=lambda case: case.name)
def test_metrics_on_every_engine(connect_module: Any, engine: Any, case: Case, tmp_path: Path) -> None:
    """Several sensitive columns; a hierarchy; those that are named, and no others."""
    names = ["am", "pmi_lost", "mi_loss"]
    _, report = release_rows(connect_module(engine), case, tmp_path, **TREE.arguments, metrics=names)
    classes = TREE.classes(case)
    plain, sensitive = information(case.table, classes, published_classes(case, classes))
    assert report.loss.more == pytest.approx({name: plain[name] for name in ("am", "mi_loss")})
    for name, values in zip(case.sensitive, sensitive, strict=True):
        assert report.loss.sensitive[name] == pytest.approx({"pmi_lost": values["pmi_lost"]})


def test_exact_rows_lose_nothing(shared_db: Any, tmp_path: Path) -> None:
    case = DIVERSE
    pair = release_pair(shared_db, case, tmp_path, **TREE.arguments, metrics="all", presence="disclosed")
    classes = TREE.classes(case)
    check(pair.report, case, information(case.table, classes, classes, exact))


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "suppressed"])
@pytest.mark.parametrize("case", [MIXED, TREES], ids=lambda case: case.name)
def test_levels_and_starred_rows(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, case: Case, kind: str
) -> None:
    declare(monkeypatch, "raised", Raised, like="tree", suppresses="rows")
    monkeypatch.setattr(Raised, "stars", True)
    monkeypatch.setattr(Raised, "raises", True)
    _, report = release_rows(
        shared_db, case, tmp_path, method="raised", suppression={"limit": 1}, metrics="all", format=kind
    )
    classes = TREE.classes(case)
    codes = list(zip(*(column.codes for column in case.table.quasi), case.table.sa_codes, strict=True))
    starred = min(classes, key=lambda rows: sorted(codes[row] for row in rows))
    levels = {i: [level(column, rows) for column in case.table.quasi] for i, rows in enumerate(classes)}
    looks = released(Table(case.table.quasi), classes, kind, starred=classes.index(starred), levels=levels)
    alike: dict[Any, list[int]] = {}
    for row, look in zip((row for rows in classes for row in rows), looks, strict=True):
        (published,) = multiset([look])
        alike.setdefault(published, []).append(row)
    groups = list(alike.values())

    def raised(column: Quasi, rows: Sequence[int]) -> Cell:
        at = level(column, rows)
        if at >= (len(column.levels[0]) - 1 if column.kind == "hierarchy" else 1):
            any_value = kind == "suppressed" or column.has_null or column.kind == "hierarchy"
            return everything(column) if any_value else shown(column, range(case.table.rows))
        own = {column.values[row] for row in rows}
        if column.kind != "hierarchy" or own == {None}:
            return shown(column, rows)
        if kind == "suppressed" or None in own:
            return everything(column)
        (label,) = {column.tree.paths[value][at] for value in own}
        return node(column, at, label)

    check(report, case, information(case.table, classes, groups, raised, starred))


def test_rows_that_are_left_out_lost_everything(shared_db: Any, tmp_path: Path) -> None:
    """Of six rows one is left out: its value is a cell of all values, in every column, and its class is none."""
    case = Case(
        "left",
        {"p": "INTEGER", "s": "TEXT"},
        ((1, "x"), (1, "x"), (1, "y"), (2, "x"), (2, "y"), (9, "y")),
        {"p": QI()},
        ("s",),
        Privacy(k=2),
    )
    _, report = release_rows(
        shared_db,
        case,
        tmp_path,
        method="fulldomain:search=global,metric=dm",
        suppression={"limit": "1/6", "rows": "left_out"},
        metrics="all",
    )
    assert (report.suppressed, report.left_out) == (1, 1)
    classes = [[0, 1, 2], [3, 4]]
    check(report, case, information(case.table, classes, classes, shown, [5]))
    assert report.loss.more["sse"] == pytest.approx(361 / 444)  # 9 is 19 / 3 from the mean 8 / 3, and loses that
    assert report.loss.more["least_gcp"] == pytest.approx(7 / 48, abs=1e-6)  # 2 to 9 of 1 to 9, one row of six


@pytest.mark.thorough
def test_many_columns_and_large_sets(shared_db: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """More columns than a statement joins, and a set of more values than bits.

    Products that are computed by logarithms.
    """
    monkeypatch.setattr("sqlanon.loss.facts._LARGEST", 0.0)
    rng = random.Random(4)
    rows = tuple((f"w{i}", *(rng.choice([None, 1, 2, 3, 5]) for _ in range(9)), rng.choice("xyz")) for i in range(70))
    names = [f"q{i}" for i in range(9)]
    case = Case(
        "wide",
        {"word": "TEXT", **dict.fromkeys(names, "INTEGER"), "s": "TEXT"},
        rows,
        {"word": QI("nominal"), **{name: QI() for name in names}},
        ("s",),
        Privacy(k=5),
    )
    declare(monkeypatch, "given", Given)
    monkeypatch.setattr(Given, "classes", [i // 5 for i in range(70)])
    published, report = release_rows(shared_db, case, tmp_path, method="given", metrics="all")
    words = {word: i for i, (word, *_) in enumerate(rows)}
    classes = [list(rows) for rows in {tuple(sorted(words[word] for word in row["word"])) for row in published}]
    assert sorted(row for rows in classes for row in rows) == list(range(70))
    check(report, case, information(case.table, classes, published_classes(case, classes)))


def test_an_evaluation_has_the_loss_of_the_version(shared_db: Any, tmp_path: Path) -> None:
    source = MIXED.create(shared_db)
    asked = {**MIXED.arguments(tmp_path), **TREE.arguments, "metrics": "am", "allow_weaker": True}
    release = shared_db.anonymize(source, **asked)
    evaluated = release.evaluate(WorkloadSpec((QuerySpec("rows", f"SELECT count(*) AS n FROM {source}"),)))
    assert list(release.loss().more) == ["am"]
    assert evaluated.loss == release.loss()
    assert evaluated.to_dict()["loss"]["more"] == release.loss().more


def test_each_is_described_by_itself() -> None:
    """Reports list metrics in an order of their own: none can refer to the one before."""
    assert [name for name, one in METRICS.items() if one.about.lower().startswith(("the same", "this", "it "))] == []


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_run_measures_none_unless_asked(shared_db: Any, tmp_path: Path) -> None:
    _, report = release_rows(shared_db, MIXED, tmp_path, **TREE.arguments)
    assert (report.loss.more, report.loss.sensitive) == ({}, {})


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ("gcp", "not a word known here"),
        (["am", "am"], "a name is listed twice"),
        (["am", "entropy"], "one of am, lm_values"),
        (7, "not a list of names"),
        ("pmi_loss", "about a sensitive column, and there is none"),
    ],
)
def test_unknown_metrics(metrics: Any, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        spec_of(source="t", quasi="q", k=2, metrics=metrics)


def test_all_without_a_sensitive_column_is_what_can_be_measured(shared_db: Any, tmp_path: Path) -> None:
    assert spec_of(source="t", quasi="q", k=2, metrics="all").metrics == ("all",)
    case = Case("bare", {"p": "INTEGER"}, ((1,), (1,), (2,), (4,)), {"p": QI()}, (), Privacy(k=2))
    _, report = release_rows(shared_db, case, tmp_path, **TREE.arguments, metrics="all")
    assert set(report.loss.more) == {"am", "lm_values", "level", "mi_loss", "sse", "least_gcp"}
    assert report.loss.more["least_gcp"] == pytest.approx(1 / 4, abs=1e-5)  # 0, 0, 1 / 3 and 2 / 3
    assert report.loss.more["sse"] == pytest.approx(2 / 6)  # 2 and 4 from 3; all from 2
    assert report.loss.sensitive == {}

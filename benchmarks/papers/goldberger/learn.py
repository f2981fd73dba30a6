"""Learning from a suppressed release.

It measures a naive Bayes classifier, judged on rows that were held out, and COUNT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.goldberger.data import QUASI, SENSITIVE

if TYPE_CHECKING:
    from benchmarks.papers.goldberger.data import Adult

QUERIES, COLUMNS, SHARE = 300, 2, 0.4
"""COUNT queries; columns that each asks about; the share of a column's values that it asks for."""


def parts(adult: Adult, rows: int) -> tuple[str, str]:
    """Tables of four fifths of so many rows, and of the other fifth."""
    train, test = adult.part(rows * 4 // 5), "held_out"
    adult.db.engine.execute(
        f"CREATE OR REPLACE TABLE {test} AS FROM adult ORDER BY place LIMIT {rows - rows * 4 // 5} OFFSET "
        f"{rows * 4 // 5}"
    )
    return train, test


def _columns(adult: Adult, table: str) -> dict[str, np.ndarray]:
    names = (*QUASI, SENSITIVE)
    listed = ", ".join(f"CAST({name} AS TEXT)" for name in names)
    rows = adult.db.engine.fetch(f"SELECT {listed} FROM {table}")
    return dict(zip(names, np.array(rows, dtype=np.str_).T, strict=True))


def learned(adult: Adult, release: str, train: str, test: str) -> dict[str, Any]:
    """The accuracy on held-out rows, and that of the most frequent value; the median relative error of COUNT."""
    shown, source, held = (_columns(adult, table) for table in (release, train, test))
    values = np.unique(source[SENSITIVE])
    of_class = [shown[SENSITIVE] == value for value in values]
    score = np.array([[np.log(mask.sum() + 1)] * len(held[SENSITIVE]) for mask in of_class])
    for name in QUASI:
        known, place = np.unique(np.concatenate([source[name], held[name]]), return_inverse=True)
        where = np.searchsorted(known, shown[name])
        where[where == len(known)] = 0
        seen = known[where] == shown[name]  # what is suppressed says nothing
        for c, mask in enumerate(of_class):
            counts = np.bincount(where[mask & seen], minlength=len(known)) + 1
            score[c] += np.log(counts / counts.sum())[place[len(source[name]) :]]
    guessed = values[score.argmax(axis=0)]
    most = max((source[SENSITIVE] == value).sum() for value in values) / len(source[SENSITIVE])
    return {
        "accuracy": float((guessed == held[SENSITIVE]).mean()),
        "majority": float(most),
        "count_error": _count_error(shown, source),
    }


def _count_error(shown: dict[str, np.ndarray], source: dict[str, np.ndarray]) -> float:
    """Random values of two columns and of the sensitive one.

    A suppressed value is any of the domain with the same chance.
    """
    rng, errors, rows = np.random.default_rng(1), [], len(source[SENSITIVE])
    asked = [name for name in QUASI if name != "fnlwgt"]
    for _ in range(QUERIES):
        truth, estimate = np.ones(rows, bool), np.ones(rows)
        value = rng.choice(np.unique(source[SENSITIVE]))
        for name in rng.choice(asked, COLUMNS, replace=False):
            domain = np.unique(source[name])
            chosen = rng.choice(domain, max(1, round(SHARE * len(domain))), replace=False)
            truth &= np.isin(source[name], chosen)
            hidden = ~np.isin(shown[name], domain)
            estimate *= np.where(hidden, len(chosen) / len(domain), np.isin(shown[name], chosen))
        truth &= source[SENSITIVE] == value
        estimate *= shown[SENSITIVE] == value
        errors.append(abs(estimate.sum() - truth.sum()) / max(truth.sum(), rows / 1000))
    return float(np.median(errors))

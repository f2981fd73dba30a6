"""Individual risk of a sample.

It is the expected 1 / F of a row, where only sampling weights inform on the population's F.

Benedetti and Franconi 1998, "Statistical and technological solutions for controlled data dissemination"; Franconi and
Polettini 2004, "Individual risk estimation in mu-Argus: a review", section 3. Given f rows in the sample, F is negative
binomial with f successes of probability p, estimated by f / (sum of the weights of the class), and the risk is

    r = E(1 / F | f) = p^f / f  2F1(f, f; f + 1; 1 - p).

It is computed as the integral of p y^(f-1) / (p + q y) over y from 0 to 1, q = 1 - p, which is the same: 1 / F is the
integral of s^(F-1) over s from 0 to 1, and the generating function of F is (p s / (1 - q s))^f. Then y = p s / (1 - q
s).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlanon.engines.base import Engine, Relation
from sqlanon.engines.rows import count
from sqlanon.errors import PolicyError
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Doubles, Longs

MOST_WEIGHT = 1e15
"""Of a row."""
_STEPS = 30
"""Of the recurrence, which is taken for few rows and p below 1/2, where the series is slow."""
_TERMS = 400
"""Of the series, at most: with q <= 1/2, or more than 30 rows, 1e-17 is reached long before."""


def measure_individual(f: npt.ArrayLike, p: npt.ArrayLike) -> Doubles:
    """E(1 / F | f) for classes of ``f`` rows that were drawn with probability ``p``.

    Args:
        f: int64[m], at least 1.
        p: float64[m], above 0 and at most 1.

    >>> measure_individual([1, 2], [0.5, 0.5]).round(6).tolist()
    [0.693147, 0.306853]
    """
    import numpy as np

    rows, fractions = np.broadcast_arrays(np.asarray(f, np.float64), np.asarray(p, np.float64))
    few = (rows <= _STEPS) & (fractions < 0.5)
    risks = np.empty(rows.shape)
    risks[few] = _by_recurrence(rows[few], fractions[few])
    risks[~few] = _by_series(rows[~few], fractions[~few])
    return risks


def of_weights(n: Longs, w: Doubles) -> Doubles:
    """The risk of rows whose class has n rows, int64[m], with weights that sum to w, float64[m]."""
    return measure_individual(n, n / w)


def _by_recurrence(f: Doubles, p: Doubles) -> Doubles:
    """I_1 = -ln p / q and I_f = (1 / (f - 1) - p I_(f-1)) / q; p < q, so that errors shrink."""
    import numpy as np

    q = 1 - p
    term = -np.log(p) / q
    risks = np.where(f == 1, term, 0.0)
    for i in range(2, int(f.max(initial=1)) + 1):
        term = (1 / (i - 1) - p * term) / q
        risks = np.where(f == i, term, risks)
    return p * risks


def _by_series(f: Doubles, p: Doubles) -> Doubles:
    """The sum over m of q^m B(f, m + 1), all terms positive: the integrand as a geometric series in q (1 - y)."""
    q = 1 - p
    term = 1 / f
    total = term.copy()
    for m in range(1, _TERMS):
        term = term * (q * m / (f + m))
        total += term
        if not (term > 1e-17 * total).any():
            break
    return p * total


def weigh_classes(
    engine: Engine, relation: Relation, quasi: Sequence[str], weight: str
) -> tuple[Longs, Doubles, Longs]:
    """Classes by rows and sum of weights: rows of a class, sum of their weights, how many classes have both.

    Args:
        engine: where the table is.
        relation: the table.
        quasi: columns that make the classes.
        weight: the column that says how many persons of the population a row represents.

    Raises:
        PolicyError: the column is no number, or a weight is missing, below 1 or above `MOST_WEIGHT`.
    """
    import numpy as np

    kind = next(column.kind for column in relation.columns if column.name == weight)
    if kind not in ("integer", "float", "decimal"):
        raise PolicyError(f"weight {weight} of {relation.ref} is no number; a sampling weight is a number of persons")
    bad = statement("risk/bad_weights", engine.dialect, {"most": MOST_WEIGHT}, target=relation.ref, weight=weight)
    rows = count(engine, bad)
    if rows:
        raise PolicyError(
            f"weight {weight} of {relation.ref}: {rows} rows have none, or one below 1 or above {MOST_WEIGHT:.0e}; a "
            "row represents itself at least"
        )
    text = statement("risk/weights", engine.dialect, target=relation.ref, classes=list(quasi), weight=weight)
    n, w, classes = engine.fetch_arrays(text, ["int64", "float64", "int64"])
    return (n.astype(np.int64, copy=False), w.astype(np.float64, copy=False), classes.astype(np.int64, copy=False))

"""Inference by a classifier that learnt from the released rows: the extra ``attack`` (scikit-learn).

Extremely randomized trees (Geurts, Ernst and Wehenkel 2006). A released row has of each known column the mean of the
codes that the cell covers; a person has codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.control.base import Attack, MissingFigure, Outcome, Successes, Trial
from sqlanon.attack.control.inference import guess_most_frequent
from sqlanon.errors import UnsupportedError

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs
    from sqlanon.attack.kernels.nearest import Space

TREES = 50
MOST_LEARNT = 50_000
"""Released rows that it learns from, at most; more are drawn at random."""
MOST_VALUES = 200
"""Different sensitive values, at most."""
MOST_TRIED = 5000
"""Victims of each group, at most."""


def classify(trial: Trial) -> Iterator[Outcome | MissingFigure]:
    """Guess every sensitive column from quasi and insensitive ones."""
    try:
        from sklearn.ensemble import ExtraTreesClassifier
    except ImportError:
        yield MissingFigure("classifier: scikit-learn is not installed; pip install 'sqlanon[attack]'")
        return
    space = trial.space
    known_columns = trial.with_role("quasi", "insensitive")
    rows = _draw_rows(trial, space.members)
    features = np.array([middles(space, a, rows) for a in known_columns]).reshape(len(known_columns), len(rows)).T
    inside, outside, every = trial.draw(MOST_TRIED)
    for secret in trial.with_role("sensitive"):
        name = trial.columns[secret].name
        if space.codes[secret] > MOST_VALUES:
            yield MissingFigure(f"{name} by a classifier: it has more than {MOST_VALUES} values")
            continue
        model = ExtraTreesClassifier(TREES, random_state=trial.seed % 2**32, n_jobs=trial.threads)
        model.fit(features, space.low[secret][rows])
        guessed = [model.predict(some[:, list(known_columns)].astype(np.float64)) for some in (inside, outside)]
        main, control = (
            Successes(int((guesses == some[:, secret]).sum()), len(some))
            for guesses, some in zip(guessed, (inside, outside), strict=True)
        )
        naive = guess_most_frequent(trial, secret, inside)
        yield Outcome(f"{name} by a classifier", (name,), main, control, naive, every)


def measure_auc(trial: Trial, target: int, *, original: bool = False) -> float | None:
    """The area under the ROC curve of a model that learnt a column, over persons held out.

    Of more than two values the mean over values, each against the others. 0.5: it learnt nothing.

    Args:
        trial: the release and the persons.
        target: the place of a column that is published as it is.
        original: it learns from the source's rows.

    Returns:
        None: the persons held out have a single value, or the column more than `MOST_VALUES`.

    Raises:
        UnsupportedError: scikit-learn is not installed.
    """
    try:
        from sklearn.ensemble import ExtraTreesClassifier
        from sklearn.metrics import roc_auc_score
    except ImportError:
        raise UnsupportedError("a target needs scikit-learn: pip install 'sqlanon[attack]'") from None
    known_columns = [place for place in trial.with_role("quasi", "insensitive") if place != target]
    if trial.space.codes[target] > MOST_VALUES or not known_columns:
        return None
    if original:
        rows = _draw_rows(trial, np.ones(len(trial.inside), np.int64))
        features, values = trial.inside[rows][:, known_columns].astype(np.float64), trial.inside[rows, target]
    else:
        rows = _draw_rows(trial, trial.space.members)
        features = np.array([middles(trial.space, a, rows) for a in known_columns]).T
        values = trial.space.low[target][rows]
    model = ExtraTreesClassifier(TREES, min_samples_leaf=5, random_state=trial.seed % 2**32, n_jobs=trial.threads)
    model.fit(features, values)
    _, tested, _ = trial.draw(MOST_TRIED)
    guessed = model.predict_proba(tested[:, known_columns].astype(np.float64))
    areas = [
        float(roc_auc_score(tested[:, target] == value, guessed[:, place]))
        for place, value in enumerate(model.classes_)
        if 0 < (tested[:, target] == value).sum() < len(tested)
    ]
    return sum(areas) / len(areas) if areas else None


def _draw_rows(trial: Trial, members: Longs) -> Longs:
    """Places of rows, each as often as it has members; at most `MOST_LEARNT` of them, drawn at random."""
    total = int(members.sum())
    if total <= MOST_LEARNT:
        return np.repeat(np.arange(len(members)), members)
    learnt = np.sort(trial.rng("classifier").choice(total, MOST_LEARNT, replace=False))
    return np.searchsorted(np.cumsum(members), learnt, "right")


def middles(space: Space, a: int, rows: Longs) -> Doubles:
    """The mean code of the cells of released rows in a column, float64; that of all codes where a cell has none."""
    if space.kinds[a]:
        kinds = int(space.kinds[a])
        has = space.sets[space.start[a] : space.start[a] + space.codes[a] * kinds].reshape(-1, kinds)
        number = has.sum(axis=0)
        mean = (np.arange(len(has)) @ has) / np.maximum(number, 1)
        of_sets: Doubles = np.where(number > 0, mean, (space.codes[a] - 1) / 2)[space.cells[a]][rows]
        return of_sets
    middles_of: Doubles = (space.low[a][rows].astype(np.float64) + space.high[a][rows]) / 2
    return middles_of


CLASSIFIER = Attack("classifier", "sensitive values guessed by a classifier that learnt from the release", classify)

"""Proposal of ``sqlanon init`` for a table: made of counts, tried by `plan`, cut to columns of acceptable loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlanon import policy
from sqlanon.declared import FORMATS
from sqlanon.engines.base import Engine
from sqlanon.errors import InfeasibleError, PolicyError, SqlanonError
from sqlanon.results import PlanReport
from sqlanon.spec import FormatSpec
from sqlanon.table.column_pairs import count_owned, count_pairs, count_varying, group_equal
from sqlanon.table.profile import ColumnProfile

if TYPE_CHECKING:
    from sqlanon.database.readable import ReadableDatabase

MOST_LOSS = 0.25
"""The mean NCP of the quasi columns from which a proposal has too many of them."""
LEAST_QUASI = 3
"""Quasi columns that a proposal keeps, whatever they lose on average."""
MOST_OF_ONE = 0.8
"""NCP from which a quasi column says next to nothing, so that only the last such column is kept."""


def count_related(
    engine: Engine, source: str, profile: Sequence[ColumnProfile], labels: dict[str, list[str]] | None
) -> policy.RelatedCounts:
    """Counts over several columns of a table together.

    Cost: a GROUP BY for each column that may be a person's number, for each twin, and, where there are persons, for
    each column of many values that would be published in clear.
    """
    keys, looked = policy.keys_to_try(profile)
    varying_of = {}
    for key in keys if looked else ():
        varying = count_varying(engine, source, key, looked)
        if varying is not None:
            varying_of[key] = policy.VaryingAttributes(*varying)
    by_name = {column.name: column for column in profile}
    groups = []
    for names in policy.group_alike(profile):
        first = by_name[names[0]]
        groups += group_equal(engine, source, names, first.distinct + (first.nulls > 0))
    person = policy.propose(profile, labels, policy.RelatedCounts(varying_of, groups)).person
    if not person:
        return policy.RelatedCounts(varying_of, groups)
    looked = [column.name for column in profile if column.name != person[0] and policy.is_shown(column)]
    return policy.RelatedCounts(
        varying_of,
        groups,
        {name: count_pairs(engine, source, name, person[0]) for name in looked},
        {name: count_owned(engine, source, name, person[0]) for name in looked},
    )


def fit_proposal(database: ReadableDatabase, proposal: policy.Proposal, source: str) -> policy.Proposal:
    """The proposal without the quasi columns that make it lose too much, and with the loss of each column.

    The least wanted columns go first.

    Losses are those that `plan` measures, of at most `sqlanon.release.trials.sample.MOST_MEASURED` rows. Cost: a plan
    for each attempt, of which each has a quarter of the columns less.
    """
    while True:
        fitted, plan = try_proposal(database, proposal, source)
        losses = _losses(plan)
        if not losses or fitted.refused:
            return fitted
        rank = {column.name: column.rank for column in fitted.columns}
        ranked = sorted(losses, key=lambda name: (rank[name], losses[name]))
        mean = sum(losses.values()) / len(losses)
        if mean > MOST_LOSS and len(ranked) > LEAST_QUASI:
            dropped = ranked[max(LEAST_QUASI, len(ranked) - max(1, len(ranked) // 4)) :]
        else:
            dropped = [name for name in ranked if losses[name] > MOST_OF_ONE]
            dropped = dropped[1:] if len(dropped) == len(ranked) else dropped
        if not dropped:
            return fitted.with_losses(losses)
        proposal = fitted.without(dropped, losses, mean)


def try_proposal(
    database: ReadableDatabase, proposal: policy.Proposal, source: str
) -> tuple[policy.Proposal, PlanReport | None]:
    """A proposal with the result of `plan`, and the plan.

    The format is the first that `plan` accepts; if `plan` refuses all, the result has the reasons.
    """
    if proposal.refused:
        return proposal, None
    refused: tuple[str, ...] = ()
    # A format that adds no columns, with names that could be taken or too long, is the second choice.
    plain = next(facts.name for facts in FORMATS.values() if facts.source_names)
    for weaker in proposal.weaker():
        for form in (FormatSpec().kind, plain):
            tried = weaker.with_format(form)
            try:
                (spec,) = policy.loads(tried.policy(None, source), {}).releases
                return tried, database.plan(spec)
            except PolicyError as error:
                refused = refused or tuple(error.problems)
            except InfeasibleError as error:
                refused = refused or tuple(error.problems)
                break
            except SqlanonError as error:
                return proposal.because(refused or tuple(error.problems)), None
    return proposal.because(refused), None


def _losses(plan: PlanReport | None) -> dict[str, float]:
    columns = plan.columns if plan else ()
    return {column.name: column.loss for column in columns if column.loss is not None and column.distinct > 1}


def propose_for_table(
    database: ReadableDatabase, source: str, labels: dict[str, list[str]] | None, warned: tuple[str, ...]
) -> policy.Proposal:
    """A proposal for a table, tried and cut.

    Args:
        database: the database of the table.
        source: the table.
        labels: the security labels of the columns, which decide first.
        warned: warnings about the rows that were read.
    """
    profile = database.profile(source)
    proposed = policy.propose(profile, labels, count_related(database.engine, source, profile, labels))
    return fit_proposal(database, replace(proposed, warned=warned), source)

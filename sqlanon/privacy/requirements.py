"""Requirements for every class of a release. Each is one file with its tally, its SQL and its own query.

Methods see a requirement's `tally` or `below`; `measure` is a separately written query over released columns, which
feasibility, verify and audit use. A method never judges itself. Keys and values of policies are in
`sqlanon.declared.requirements`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlanon.column_spec import ColumnSpec
from sqlanon.declared.requirements import REQUIREMENTS, RequirementDeclaration
from sqlanon.errors import PolicyError
from sqlanon.privacy.base import (
    Coded,
    Grouped,
    Measured,
    Requirement,
    Shape,
    Values,
    beyond_rows,
    least_rows,
    shapes_beyond_rows,
)
from sqlanon.privacy.beta.requirement import BetaLikeness
from sqlanon.privacy.closeness.requirement import TCloseness
from sqlanon.privacy.counts import OfCounts
from sqlanon.privacy.delta.requirement import DeltaDisclosure
from sqlanon.privacy.over_persons import OverPersons
from sqlanon.privacy.persons import of_persons
from sqlanon.privacy.persons_within import within_others
from sqlanon.spec import PrivacySpec


def make_requirements(
    privacy: PrivacySpec, sensitive: tuple[str, ...], persons: tuple[str, ...] = (), columns: Sequence[ColumnSpec] = ()
) -> tuple[Requirement, ...]:
    """The requirements that a policy asks for, in the registry's order.

    Args:
        privacy: the requirements asked.
        sensitive: the release's sensitive columns.
        persons: the identifiers that count persons, where persons may have several rows; none where a row is a person.
        columns: the policy's settings of the columns; none where hashes represent unknown values.
    """
    by_name = {column.name.lower(): column for column in columns}
    requirements = tuple(
        item.of_column(by_name[item.column.lower()]) if item.column and item.column.lower() in by_name else item
        for kind in REQUIREMENTS.values()
        for item in class_of(kind).from_policy(privacy, sensitive, persons)
    )
    if privacy.compared_with == "source":
        requirements = tuple(
            replace(item, of_source=True) if isinstance(item, TCloseness | BetaLikeness | DeltaDisclosure) else item
            for item in requirements
        )
    if not privacy.of_persons:
        return requirements
    over = tuple(
        OverPersons(requirement, i)
        for i in range(len(persons))
        for requirement in requirements
        if isinstance(requirement, OfCounts) and REQUIREMENTS[requirement.name].of_persons
    )
    joint = within_others(privacy, sensitive, persons)
    return requirements + of_persons(privacy, sensitive, persons) + joint + over


def class_of(declared: RequirementDeclaration) -> type[Requirement]:
    """The code of a declared requirement."""
    if not isinstance(declared.code, str):
        return declared.code
    module, _, name = declared.code.partition(":")
    model: type[Requirement] = getattr(importlib.import_module(module), name)
    return model


def read_stored(policy: Mapping[str, Any]) -> PrivacySpec:
    """The requirements of a policy, from the `privacy` part in the catalog.

    Raises:
        PolicyError: it asked for a requirement that is not installed here, so that it cannot be checked.
    """
    missing = [
        key for key in policy if key not in REQUIREMENTS and key not in NOT_REQUIREMENTS and policy[key] is not None
    ]
    if missing:
        raise PolicyError(f"requirement {', '.join(sorted(missing))} is not installed here; install what adds it")
    values = {
        key: requirement.value.read(policy[key])
        for key, requirement in REQUIREMENTS.items()
        if policy.get(key) is not None
    }
    share = policy.get("person_share")
    return PrivacySpec.of(
        values,
        joint=bool(policy.get("joint")),
        of_persons=bool(policy.get("of_persons")),
        whole=bool(policy.get("whole")),
        person_share=None if share is None else Fraction(share),
        compared_with=policy.get("compared_with", "released"),
    )


NOT_REQUIREMENTS = (
    "joint",
    "accuracy",
    "presence_disclosed",
    "own_boxes",
    "of_persons",
    "whole",
    "person_share",
    "compared_with",
)
"""Keys of `privacy` in the catalog that name no requirement."""

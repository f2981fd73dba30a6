"""Tallies of kernels, groups in SQL and the queries of verification.

Each agrees with the definition of a requirement.
"""

from __future__ import annotations

from typing import Any

import pytest

from sqlanon.declared import REQUIREMENTS
from sqlanon.testing.requirements import RequirementCheck, check_groups, check_tally
from tests.contract.value_models import MODELS, Model, spec_of
from tests.covering import seeds


def checked(model: Model) -> RequirementCheck:
    declared = REQUIREMENTS[model.name]
    return RequirementCheck(
        declared, declared.value.read(model.asked), lambda _, own, everything: model.meets(own, everything)
    )


@pytest.mark.parametrize("seed", seeds(40, always=4))
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.label)
def test_the_tally_is_the_definition(model: Model, seed: int) -> None:
    (one,) = spec_of(model)
    check_tally(checked(model), seed, one)


@pytest.mark.cover("model")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.label)
def test_groups_in_sql_and_the_measured_table_are_the_definition(shared_db: Any, model: Model) -> None:
    (one,) = spec_of(model)
    check_groups(shared_db, checked(model), one)

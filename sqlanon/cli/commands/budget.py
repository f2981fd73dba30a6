"""``sqlanon budget``: spending of differentially private statistics, and their limits."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import typer

from sqlanon.cli.options import Db, PolicyFile, find_url, load, open_database, option
from sqlanon.cli.screen import Screen
from sqlanon.declared.noisy_keys import EPSILON
from sqlanon.errors import PolicyError

Because = Annotated[str | None, option("--because", "TEXT", "Why; it is recorded in the ledger.")]


def budget(
    screen: Screen,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME] | raise NAME | recover NAME",
            show_default=False,
            help="Only this budget; record a larger one; or take over what the anchor has after a restore.",
        ),
    ] = None,
    epsilon: Annotated[
        str | None, option("--epsilon", "NUMBER", "With raise: what may be spent in all (default: the policy's).")
    ] = None,
    because: Because = None,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Show the budgets of statistics, spent and left, or raise one."""
    words = words or []
    spec = load(policy, db)
    changes = len(words) == 2 and words[0] in ("raise", "recover")
    if len(words) > 1 and not changes:
        raise PolicyError("budget wants nothing, a NAME, raise NAME or recover NAME: sqlanon budget raise patients")
    name = words[-1] if words else None
    declared = next((budget_spec for budget_spec in spec.budgets if budget_spec.name == name), None)
    if not changes and (epsilon or because):
        raise PolicyError("--epsilon and --because go with: sqlanon budget raise NAME")
    with open_database(find_url(db, spec), screen, read_only=not changes) as connected:
        if changes:
            if declared is None:
                raise PolicyError(f"{name} is no budget of the policy")
            if not because:
                raise PolicyError(f"budget {words[0]}: --because records why")
            if words[0] == "raise":
                try:
                    largest = declared.epsilon if epsilon is None else Fraction(EPSILON.read(epsilon))
                except ValueError as wrong:
                    raise PolicyError(f"--epsilon: {wrong}; {EPSILON.allowed}") from None
                connected.raise_budget(declared, largest, because)
            else:
                connected.recover_budget(declared, because)
        reports = connected.budgets(spec.budgets, name)
    screen.emit({"budgets": [report.to_dict() for report in reports]})
    if not screen.silent:
        from sqlanon.cli.show.budget import budget_report

        if not reports:
            screen.show("the policy has no budgets")
        for report in reports:
            budget_report(screen, report)
    return None

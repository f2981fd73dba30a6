"""Keys of a policy about requirements on every class; `keys` has the others."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, get_args

from sqlanon.declared.key import Boxes, Form, Goal, Key, Presence
from sqlanon.declared.kinds import FLAG
from sqlanon.declared.records import ByName
from sqlanon.declared.requirements import REQUIREMENTS
from sqlanon.declared.values import REQUIRED, SHARE, Number, OneOf
from sqlanon.spec import ComparedWith

_OWN = {requirement.name: requirement for requirement in REQUIREMENTS.own}

_MAPPING = "str | Mapping[str, object]"
LARGEST_EXTENT = 10**39
"""Every engine's widest integers and decimals are below it."""


def _requirement(name: str, kind: str, short: str, value: str = "", *, empty: bool = True) -> Key:
    """The key of a requirement, as it declares itself."""
    requirement, option = _OWN[name], f"--{name.replace('_', '-')}"
    return Key(
        f"privacy.{name}", requirement.value, None, requirement.about, kind, option, short, value=value, empty=empty
    )


PRIVACY_KEYS: Final[tuple[Key, ...]] = (
    _requirement(
        "k",
        "int",
        "Rows in every class, at least. Needed, except with --maximize, --k-map, --delta-presence and the format "
        "anatomy.",
        empty=False,
    ),
    _requirement("l", "Number", "No sensitive value above 1/L of a class.", "L"),
    _requirement("distinct_l", "int", "Distinct sensitive values in a class."),
    _requirement("entropy_l", "Asked", "Entropy of a class, at least that of L values.", "L"),
    _requirement("recursive_cl", _MAPPING, "Recursive (c, l)-diversity.", "c=C,l=L"),
    _requirement("alpha", "Asked", "Share of a sensitive value in a class, at most.", "SHARE"),
    _requirement("t", "Asked", "Distance of a class's values to all, at most.", "T[ ordered]"),
    _requirement("beta", _MAPPING, "How much a class may raise a value's share.", "[basic|enhanced]=B"),
    _requirement("delta_disclosure", "Asked", "Bits between a value's shares in a class and in all.", "D[ ignored]"),
    _requirement("k_map", _MAPPING, "Rows of a population in every cell, at least.", "k=K,population=TABLE"),
    _requirement(
        "delta_presence", _MAPPING, "Probability that a row of a population is here.", "min=P,max=P,population=TABLE"
    ),
    Key(
        "privacy.joint",
        FLAG,
        False,
        "With several sensitive columns: l and distinct_l also hold within every value of the others.",
        "bool",
        "--joint",
        "l also within each value of the others.",
    ),
    Key(
        "privacy.compared_with",
        OneOf(get_args(ComparedWith)),
        "released",
        "The rows that `t`, `beta` and `delta_disclosure` compare classes with: the `released` ones, or all of the "
        "`source`, which `suppression: {rows: left_out}` needs. Of left-out rows nothing is then promised.",
        "ComparedWith",
        "--compared-with",
        "The rows that t, beta and delta_disclosure compare classes with.",
    ),
    Key(
        "privacy.maximize",
        OneOf(get_args(Goal)),
        None,
        "Make this as large as `max_loss` and `max_extent` allow, at least one of which it needs, and no "
        "smaller than `at_least`. Not together with `k`, `l`, `distinct_l` and `joint`.",
        "Goal",
        "--maximize",
        "As large as the bounds on the loss allow.",
        value="[k|l]",
    ),
    Key("privacy.max_loss", None, None, "With `maximize`: what every class may lose, at most."),
    Key(
        "privacy.max_extent",
        ByName(Number(Fraction(0), Fraction(LARGEST_EXTENT)), "age: 10"),
        None,
        "With `maximize`: quasi columns and how far a class may reach there, at most, in the column's own "
        "units: numbers as they are, days for dates and timestamps, leaves of a hierarchy's node.",
        "Mapping[str, Number]",
        "--max-extent",
        "With --maximize: extent of a class there, at most.",
        written=Form.PAIRS,
        value="COL=N",
    ),
    Key(
        "privacy.at_least",
        None,
        None,
        "With `maximize`, required: the least that is accepted.",
        "Mapping[str, Number]",
        "--at-least",
        "With --maximize: the least that is accepted.",
        written=Form.REQUIREMENT_PAIRS,
        value="[k|l]=N",
    ),
    Key(
        "privacy.presence",
        OneOf(get_args(Presence)),
        None,
        "Format anatomy: `disclosed` accepts that exact quasi values meet no k and confirm who is in the "
        "table, so that k may be asked for nevertheless.",
        "Presence",
        "--presence",
        "Anatomy: accept that it shows who is in the table.",
        value="disclosed",
    ),
    Key(
        "privacy.boxes",
        OneOf(get_args(Boxes)),
        None,
        "Method freeform: `own` accepts that every row has a box of its own, which k rows fit, in place of a class of "
        "k rows. That is weaker: docs/threat-model.md says how.",
        "Boxes",
        "--boxes",
        "Freeform: accept k candidates of every row in place of classes.",
        value="own",
    ),
    Key(
        "privacy.max_loss.per_class_ncp",
        SHARE,
        REQUIRED,
        "The weighted NCP of a class, at most: a number from 0 to 1, taken exactly as it is written. 0 keeps "
        "every quasi value as it is.",
        "Number",
        "--max-loss",
        "With --maximize: NCP of a class, at most.",
        named="max_loss",
        value="NCP",
    ),
    Key("privacy.at_least.k", _OWN["k"].value, None, "Rows in a class, at least."),
    Key(
        "privacy.at_least.l",
        _OWN["l"].value,
        None,
        "Frequency l-diversity, as `privacy.l`. 1 asks for nothing; 2 is the least that hides a value.",
    ),
)

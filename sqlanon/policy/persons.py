"""Checks of `person` and of the keys that go with it: `persons`, `null_person`, `person_share`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from sqlanon.declared import FORMATS, REQUIREMENTS
from sqlanon.declared.records import Path
from sqlanon.declared.words import join_words, near, show
from sqlanon.policy.models import ReleaseModel
from sqlanon.policy.problems import Problems
from sqlanon.spec import Persons, PrivacySpec, RowsAre

MOST_L = 1000
"""l over persons, at most: so that weights of persons times l fit 64 bits."""


def kind_of_rows(model: ReleaseModel) -> RowsAre:
    """The meaning of a row: `person` implies events."""
    return "events" if model.person else model.rows_are


def list_person_columns(model: ReleaseModel) -> tuple[str, ...]:
    """The columns of `person` as `columns` spells them."""
    by_name = {name.lower(): name for name in model.columns}
    return tuple(name if name in model.columns else by_name.get(name.lower(), name) for name in model.person)


def check_persons(model: ReleaseModel, path: Path, problems: Problems, unread: set[str] | None) -> None:
    """Check the keys that go with `person` and its columns; note requirements not counted over persons yet.

    Args:
        model: the release.
        path: where it is.
        problems: collects the problems.
        unread: columns of the release that could not be read; None: they are not known.
    """
    if problems.broken((*path, "person")):
        return
    if not model.person:
        _check_without(model, path, problems)
        return
    _check_columns(model, path, problems, unread)
    if "rows_are" in model.given and model.rows_are == "persons":
        what = "person says whose row it is, where a person may have several"
        problems.add((*path, "rows_are"), what, "leave rows_are out, which is then events, or leave person out")
    if model.persons == "ignored":
        allowed = "say persons: rows or persons: whole, or leave person out"
        problems.add((*path, "persons"), "person asks that persons are counted", allowed)
    if model.person_share == 0 and not problems.broken((*path, "person_share")):
        problems.add((*path, "person_share"), "too small", "a number above 0 and at most 1, such as 0.5 or 1/2")


def choose_stronger(model: ReleaseModel) -> Persons | None:
    """The promise for persons: the stronger of the two where the policy names a person and does not say."""
    return "whole" if model.person and model.persons is None else model.persons


def _check_without(model: ReleaseModel, path: Path, problems: Problems) -> None:
    if model.persons in ("rows", "whole"):
        allowed = "name the column of the person: person: patient_id"
        problems.add((*path, "persons"), f"persons: {model.persons} without person", allowed)
    elif model.persons is not None and model.rows_are != "events" and not problems.broken((*path, "rows_are")):
        problems.add((*path, "persons"), "the rows are persons", "persons goes with rows_are: events")
    for key in ("null_person", "person_share"):
        if getattr(model, key) is not None:
            problems.add((*path, key), "without person", f"{key} goes with person")


def _check_columns(model: ReleaseModel, path: Path, problems: Problems, unread: set[str] | None) -> None:
    by_name = {name.lower(): column for name, column in model.columns.items()}
    person_path = (*path, "person")
    able = join_words(
        show(name) for name, column in model.columns.items() if column.role in ("identifier", "pseudonym")
    )
    allowed = f"columns with the role identifier or pseudonym: {able or 'none here'}"
    if len({name.lower() for name in model.person}) < len(model.person):
        problems.add(person_path, "a column is named twice", "each column once")
    for name in model.person:
        column = by_name.get(name.lower())
        if column is None:
            if unread is not None and name not in unread:
                problems.add(person_path, "a column that is not listed" + near(name, model.columns), allowed)
        elif column.role not in ("identifier", "pseudonym"):
            problems.add(person_path, f"the column {show(name)} is {column.role}", allowed)
        elif column.accept_repeats:
            what = f"the column {show(name)} has accept_repeats: equal values are not one person"
            problems.add(person_path, what, "leave accept_repeats out, or name another column")


def of_persons(model: ReleaseModel, privacy: PrivacySpec, path: Path, problems: Problems) -> PrivacySpec:
    """The same, over persons as well; notes requirements that cannot be counted so."""
    if not model.person:
        return privacy
    privacy_path = (*path, "privacy")
    for key, value in privacy.more.items():
        declared = REQUIREMENTS[key]
        if value is None or not declared.sensitive or declared.persons:
            continue
        if not declared.of_persons:
            able = [name for name, requirement in REQUIREMENTS.items() if requirement.of_persons]
            what = f"{key} is not counted over persons yet"
            problems.add(
                (*privacy_path, key),
                what,
                f"with person ask for k, l, distinct_l, {join_words(able)}, or leave person out",
            )
    if privacy.accuracy is not None:
        what = "no method counts persons while it maximizes"
        problems.add((*privacy_path, "maximize"), what, "with person ask for k and l, or leave person out")
    if privacy.l is not None and privacy.l > MOST_L:
        problems.add((*privacy_path, "l"), "too large", f"with person at most {MOST_L}")
    if FORMATS[model.format.kind].exact and not problems.broken((*path, "format", "kind")):
        what = (
            f"the format {model.format.kind} publishes exact quasi values, by which one person's rows are found "
            "together"
        )
        problems.add((*path, "format"), what, "with person use the format ranges, or leave person out")
    share = model.person_share if model.person_share != Fraction(0) else None
    return replace(
        privacy,
        of_persons=choose_stronger(model) in ("rows", "whole"),
        whole=choose_stronger(model) == "whole",
        person_share=share,
    )

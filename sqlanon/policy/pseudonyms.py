"""Checks of columns with the role `pseudonym`: which tokens may be published, and with which other keys."""

from __future__ import annotations

from sqlanon.declared import FORMATS
from sqlanon.declared.records import Path
from sqlanon.declared.words import show
from sqlanon.policy.models import ReleaseModel
from sqlanon.policy.persons import choose_stronger
from sqlanon.policy.problems import Problems


def check_pseudonyms(model: ReleaseModel, path: Path, problems: Problems) -> None:
    """Note every pseudonym without a person, and every key that would let linked rows reveal more than classes do."""
    pseudonyms = {name: column for name, column in model.columns.items() if column.role == "pseudonym"}
    if not pseudonyms or problems.broken((*path, "person")):
        return
    columns_path = (*path, "columns")
    persons = {name.lower() for name in model.person}
    of_persons = [name for name in pseudonyms if name.lower() in persons]
    first = (*columns_path, next(iter(pseudonyms)), "role")
    if not model.person:
        allowed = "name the column of the person: person: patient_id"
        problems.add(first, "tokens link rows, and nothing says whose they are", allowed)
        return
    if len(model.person) > 1:
        what = "a token of one of several columns of a person is shared by other persons"
        problems.add(first, what, "make one column of them in a view of the source")
        return
    if not of_persons:
        what = f"a token of an event, and the person {show(model.person[0])} has none"
        problems.add(first, what, f"give {show(model.person[0])} the role pseudonym, or make this column an identifier")
        return
    of_events = [name for name in pseudonyms if name not in of_persons]
    for name in of_events[1:]:
        what = f"a second token of an event, next to {show(of_events[0])}"
        problems.add((*columns_path, name, "role"), what, "at most one: make the others identifiers")
    for name in of_events:
        for key in ("scope", "secret"):
            if getattr(pseudonyms[name], key) is not None:
                problems.add(
                    (*columns_path, name, key), "the column is not the person's", f"{key} goes with the person's column"
                )
    if choose_stronger(model) != "whole":
        what = "who knows several events of a person finds the token that has them all"
        problems.add((*path, "persons"), what, "with pseudonyms persons: whole, which is the default")
    if model.null_person is not None:
        what = "a row without a person has no token"
        problems.add((*path, "null_person"), what, "with pseudonyms leave such rows out in a view of the source")
    if model.suppression is not None and model.suppression.rows != "left_out":
        what = "a starred row would have a token, which links it with the person's other rows"
        problems.add((*path, "suppression", "rows"), what, "with pseudonyms rows: left_out")
    scoped = any(pseudonyms[name].scope for name in of_persons)
    if scoped and model.publish_file is not None:
        what = "what is published in another file cannot be checked together with the scope's other tables"
        problems.add((*path, "publish_file"), what, "leave publish_file out, or scope")
    if FORMATS[model.format.kind].paired and not problems.broken((*path, "format", "kind")):
        problems.add((*path, "format"), "its groups are not what tokens are checked by", "with pseudonyms use ranges")

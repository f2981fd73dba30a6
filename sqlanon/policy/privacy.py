"""The `privacy` part of a release: the requirements, and whether they fit each other, the columns and the format.

A release is either as good as the requirements allow, or as private as a bound on the loss allows (`maximize`); the
keys of these two kinds cannot be combined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlanon.declared import FORMATS, METHODS, REQUIREMENTS
from sqlanon.declared.keys import KEYS
from sqlanon.declared.parameters import Closeness
from sqlanon.declared.records import MISSING, Path
from sqlanon.declared.words import join_words, near, show
from sqlanon.policy.models import AtLeastModel, ReleaseModel
from sqlanon.policy.persons import kind_of_rows
from sqlanon.policy.problems import Problems
from sqlanon.spec import Accuracy, MethodSpec, PrivacySpec

_BOUNDS = ("max_loss", "max_extent")

_INSTEAD = {
    "k": "put it under at_least",
    "l": "put it under at_least",
    "distinct_l": "ask for l under at_least: no value above 1/l of a class means at least l different values",
    "joint": "ask for l of each sensitive column under at_least",
}
"""Advice for a key that cannot be combined with maximize."""


def read_privacy(
    model: ReleaseModel, raw: Mapping[str, Any], path: Path, problems: Problems, unread: set[str] | None
) -> PrivacySpec:
    """Check the `privacy` part and make the spec; it is only good if there are no problems.

    Args:
        model: the release.
        raw: the release as it was written.
        path: where it is.
        problems: collects the problems.
        unread: columns of the release that could not be read; None: they are not known.
    """
    privacy, privacy_path = model.privacy, (*path, "privacy")
    if problems.broken((*privacy_path, "maximize")):
        accuracy, least = None, privacy.at_least or AtLeastModel()
    elif privacy.maximize is None:
        _check_direct(model, raw.get("privacy"), path, problems)
        accuracy, least = None, AtLeastModel(k=privacy.k, l=privacy.l)
    else:
        _check_dual(model, privacy_path, problems)
        least = privacy.at_least or AtLeastModel()
        accuracy = Accuracy(
            privacy.maximize,
            privacy.max_loss.per_class_ncp if privacy.max_loss else None,
            tuple((privacy.max_extent or {}).items()),
        )
    more = privacy.more
    if accuracy is not None:
        for key in more:
            problems.add(
                (*privacy_path, key), "cannot be combined with maximize", "leave it out, or leave maximize out"
            )
    _check_extents(model, (*privacy_path, "max_extent"), problems, unread)
    requirements = {key: getattr(privacy, key, None) for key in REQUIREMENTS} | {**more}
    _check_sensitive(model, privacy_path, requirements, problems, complete=unread == set())
    _check_columns(model, privacy_path, more, problems, unread)
    _check_persons(model, path, requirements, problems, complete=unread == set())
    _check_presence(model, path, requirements, problems)
    own_boxes = privacy.boxes == "own"
    return PrivacySpec(
        k=least.k or 1,
        # Every row alone meets 1, and with boxes of their own no table has groups in which it could be measured.
        l=None if own_boxes and least.l == 1 else least.l,
        distinct_l=None if own_boxes and privacy.distinct_l == 1 else privacy.distinct_l,
        joint=privacy.joint,
        accuracy=accuracy,
        presence_disclosed=privacy.presence == "disclosed",
        own_boxes=own_boxes,
        compared_with=privacy.compared_with,
        more=more,
    )


def _check_direct(model: ReleaseModel, section: object, path: Path, problems: Problems) -> None:
    """Without maximize: k is there, keys that go with maximize are not."""
    privacy, privacy_path = model.privacy, (*path, "privacy")
    dual = [key for key in (*_BOUNDS, "at_least") if getattr(privacy, key) is not None]
    for key in dual:
        problems.add((*privacy_path, key), "maximize is missing", f"{key} goes with maximize: k or maximize: l")
    sure = not problems.broken((*privacy_path, "k")) and not problems.broken((*path, "format", "kind"))
    alone = isinstance(section, Mapping) and any(
        requirement.population and section.get(key) is not None for key, requirement in REQUIREMENTS.items()
    )
    if privacy.k is None and not dual and not alone and sure and not FORMATS[model.format.kind].exact:
        problems.add((*privacy_path, "k"), MISSING, KEYS["privacy.k"].text)


def _check_dual(model: ReleaseModel, place: Path, problems: Problems) -> None:
    """Check the keys that go with ``maximize``.

    The bound on the loss and the least accepted privacy must be there, and keys that they replace must not.
    """
    privacy, method = model.privacy, METHODS.get(model.method.name if model.method else MethodSpec().name)
    if method is not None and privacy.maximize not in (method.maximizes or ()):
        return  # the method is refused, whatever else is there
    for key, instead in _INSTEAD.items():
        if key in privacy.given and getattr(privacy, key) not in (None, False):
            problems.add((*place, key), "cannot be combined with maximize", instead)
    if not any(getattr(privacy, key) is not None or problems.broken((*place, key)) for key in _BOUNDS):
        allowed = "maximize goes with max_loss: {per_class_ncp: 0.3} or max_extent: {column: 10} or both"
        problems.add((*place, "maximize"), "nothing bounds the loss", allowed)
    goal, least = str(privacy.maximize), privacy.at_least
    if problems.broken((*place, "at_least", goal)):
        return
    advice = f"maximize: {goal} needs the least {goal} that is accepted, such as at_least: {{{goal}: 2}}"
    if least is None:
        problems.add((*place, "at_least"), "is missing", advice)
    elif getattr(least, goal) is None:
        problems.add((*place, "at_least", goal), "is missing", advice)


def _check_extents(model: ReleaseModel, place: Path, problems: Problems, unread: set[str] | None) -> None:
    """An extent is for a quasi column; whether the column's type has extents is for the method to say."""
    quasi = join_words(show(name) for name, column in model.columns.items() if column.role == "quasi")
    allowed = f"quasi columns: {quasi or 'none here'}"
    extents = model.privacy.max_extent
    if extents == {} and not problems.broken(place):
        problems.add(place, "no column", allowed)
    for name in extents or ():
        column = model.columns.get(name)
        if column is None and unread is not None and name not in unread:
            problems.add((*place, name), "a column that is not listed" + near(name, model.columns), allowed)
        elif column is not None and column.role != "quasi":
            problems.add((*place, name), f"the column is {column.role}", allowed)


def _check_sensitive(
    model: ReleaseModel, path: Path, asked_of: Mapping[str, Any], problems: Problems, *, complete: bool
) -> None:
    """Requirements on sensitive values need sensitive columns."""
    privacy = model.privacy
    sensitive = sum(column.role == "sensitive" for column in model.columns.values())
    keys = [key for key, value in asked_of.items() if value is not None and REQUIREMENTS[key].sensitive]
    joint = [key for key, requirement in REQUIREMENTS.items() if requirement.joint]
    places: list[Path] = [(key,) for key in keys]
    if privacy.maximize == "l":
        places.append(("maximize",))
    elif privacy.at_least is not None and privacy.at_least.l is not None:
        places.append(("at_least", "l"))
    if complete and not sensitive:
        for place in places:
            key = "maximize: l" if place == ("maximize",) else place[-1]
            problems.add((*path, *place), "no sensitive column", f"{key} needs a column with the role sensitive")
    if complete and sensitive:
        for key in keys:
            needed = REQUIREMENTS[key].sensitive
            if sensitive < needed:
                what = f"{sensitive} of {needed} sensitive columns"
                problems.add((*path, key), what, f"{key} needs {needed} columns with the role sensitive")
    if privacy.joint and privacy.maximize is None:
        if complete and sensitive < 2:
            problems.add(
                (*path, "joint"), "fewer than two sensitive columns", "joint needs two columns with the role sensitive"
            )
        if not set(keys) & set(joint) and not any(problems.broken((*path, key)) for key in joint):
            alone = [key for key, value in asked_of.items() if value is not None and key in REQUIREMENTS]
            why = "".join(f"; {key}: {lack.why}" for key in alone if not (lack := REQUIREMENTS[key].joint))
            missing = f"neither {' nor '.join(joint)} is asked for{why}"
            problems.add((*path, "joint"), missing, f"joint goes with {' or '.join(joint)}")


def _check_columns(
    model: ReleaseModel, path: Path, more: Mapping[str, Any], problems: Problems, unread: set[str] | None
) -> None:
    """Requirements by column name sensitive columns."""
    by_name = {name.lower(): column for name, column in model.columns.items()}
    allowed = join_words(show(name) for name, column in model.columns.items() if column.role == "sensitive")
    for key, value in more.items():
        _check_distances(model, (*path, key), value, problems)
        if not isinstance(value, Mapping) or unread is None:
            continue
        for name in value:
            column = by_name.get(name.lower())
            if column is None and name not in unread:
                what = "a column that is not listed" + near(name, model.columns)
                problems.add((*path, key), what, f"sensitive columns: {allowed or 'none here'}")
            elif column is not None and column.role != "sensitive":
                what = f"the column {show(name)} is {column.role}"
                problems.add((*path, key), what, f"sensitive columns: {allowed or 'none here'}")


def _check_distances(model: ReleaseModel, place: Path, distances: object, problems: Problems) -> None:
    """A distance by a hierarchy needs a hierarchy; whether a column's type has an order is for the database to say."""
    sensitive = {name: column for name, column in model.columns.items() if column.role == "sensitive"}
    by_column = distances if isinstance(distances, Mapping) else dict.fromkeys(sensitive, distances)
    for name, bound in by_column.items():
        column = sensitive.get(name)
        if isinstance(bound, Closeness) and column is not None:
            if bound.distance == "hierarchical" and column.hierarchy is None:
                what = f"the column {show(name)} has no hierarchy"
                problems.add(place, what, "give it a hierarchy, or use distance equal or ordered")
            elif bound.distance == "ordered" and column.hierarchy is not None:
                what = f"the column {show(name)} has a hierarchy, and an order is asked"
                problems.add(place, what, "use distance hierarchical, or leave hierarchy out")


def _check_persons(
    model: ReleaseModel, path: Path, asked_of: Mapping[str, Any], problems: Problems, *, complete: bool
) -> None:
    """Requirements that count persons need identifiers that name them."""
    privacy_path = (*path, "privacy")
    counting = int(bool(model.person)) or sum(
        column.role == "identifier" and not column.accept_repeats for column in model.columns.values()
    )
    of_events = kind_of_rows(model) == "events"
    for key, value in asked_of.items():
        needed = REQUIREMENTS[key].persons
        if value is None or not needed:
            continue
        if not of_events and not problems.broken((*path, "rows_are")):
            problems.add(
                (*privacy_path, key), "the rows are persons", f"{key} counts persons and goes with rows_are: events"
            )
        elif of_events and complete and counting < needed:
            what = f"{counting} of {needed} identifiers that count persons"
            problems.add(
                (*privacy_path, key), what, f"{key} needs {needed} with the role identifier and without accept_repeats"
            )


def _check_presence(model: ReleaseModel, path: Path, asked_of: Mapping[str, Any], problems: Problems) -> None:
    """A format of exact quasi values cannot hide who is in the table, which k promises elsewhere."""
    if problems.broken((*path, "format", "kind")):
        return
    privacy, privacy_path = model.privacy, (*path, "privacy")
    form = FORMATS[model.format.kind]
    if not form.exact:
        if privacy.presence is not None:
            exact = join_words(facts.name for facts in FORMATS.values() if facts.exact)
            allowed = f"presence: disclosed goes with the format {exact}"
            problems.add((*privacy_path, "presence"), f"the format is {model.format.kind}", allowed)
        return
    least = privacy.at_least or AtLeastModel()
    least_keys: list[Path] = [("k",)] if (privacy.k or 1) > 1 else []
    if (least.k or 1) > 1 or privacy.maximize == "k":
        least_keys.append(("at_least", "k"))
    for place in least_keys:
        sure = not problems.broken((*privacy_path, *place)) and not problems.broken((*privacy_path, "presence"))
        if sure and privacy.presence is None:
            problems.add(
                (*privacy_path, *place),
                f"the format {form.name} publishes exact quasi values, which meet no k and confirm who is in the table",
                "say presence: disclosed to accept that, or drop k",
            )
    hiding = [
        key for key, requirement in REQUIREMENTS.items() if requirement.sensitive and asked_of.get(key) is not None
    ]
    unsure = any(problems.broken((*privacy_path, key)) for key in (*REQUIREMENTS, "maximize", "at_least"))
    if not least_keys and not hiding and privacy.maximize is None and not unsure:
        allowed = f"the format {form.name} hides nothing but which sensitive value is whose; ask for l"
        problems.add((*privacy_path, "l"), "is missing", allowed)

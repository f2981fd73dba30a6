"""What the `privacy` part of a release asks for, and whether it fits together and fits the columns and the format.

A release is either as good as its requirements allow, or as private as a bound on its loss allows (`maximize`); the
words of one do not stand beside those of the other.
"""

from __future__ import annotations

from sqlanon.declared import FORMATS
from sqlanon.policy.models import AtLeastModel, PrivacyModel, ReleaseModel
from sqlanon.policy.problems import Path, Problems, listed, near, show
from sqlanon.spec import Accuracy, PrivacySpec

_BOUNDS = ("max_loss", "max_extent")

_INSTEAD = {
    "k": "put it under at_least",
    "l": "put it under at_least",
    "distinct_l": "ask for l under at_least: no value above 1/l of a class means at least l different values",
    "joint": "ask for l of each sensitive column under at_least",
}
"""What to write instead of a key that does not stand beside maximize."""


def read_privacy(model: ReleaseModel, path: Path, problems: Problems, unread: set[str] | None) -> PrivacySpec:
    """Check the `privacy` part and make its spec; it is only good if there are no problems.

    Args:
        model: the release.
        path: where it stands.
        problems: takes what is wrong.
        unread: columns of the release that could not be read; None: they are not known.
    """
    privacy, at = model.privacy, (*path, "privacy")
    if problems.broken((*at, "maximize")):
        accuracy, least = None, privacy.at_least or AtLeastModel()
    elif privacy.maximize is None:
        _check_direct(model, path, problems)
        accuracy, least = None, AtLeastModel(k=privacy.k, l=privacy.l)
    else:
        _check_dual(privacy, at, problems)
        least = privacy.at_least or AtLeastModel()
        accuracy = Accuracy(
            privacy.maximize,
            privacy.max_loss.per_class_ncp if privacy.max_loss else None,
            tuple((privacy.max_extent or {}).items()),
        )
    _check_extents(model, (*at, "max_extent"), problems, unread)
    _check_sensitive(model, at, problems, complete=unread == set())
    _check_presence(model, path, problems)
    return PrivacySpec(
        k=least.k or 1,
        l=least.l,
        distinct_l=privacy.distinct_l,
        joint=privacy.joint,
        accuracy=accuracy,
        presence_disclosed=privacy.presence == "disclosed",
    )


def _check_direct(model: ReleaseModel, path: Path, problems: Problems) -> None:
    """Without maximize: k is there, what goes with maximize is not."""
    privacy, at = model.privacy, (*path, "privacy")
    dual = [key for key in (*_BOUNDS, "at_least") if getattr(privacy, key) is not None]
    for key in dual:
        problems.add((*at, key), "maximize is missing", f"{key} goes with maximize: k or maximize: l")
    sure = not problems.broken((*at, "k")) and not problems.broken((*path, "format", "kind"))
    if privacy.k is None and not dual and sure and not FORMATS[model.format.kind].exact:
        description = PrivacyModel.model_fields["k"].description
        problems.add((*at, "k"), "is missing", description or "")


def _check_dual(privacy: PrivacyModel, at: Path, problems: Problems) -> None:
    """With maximize: a bound on the loss and the least that is accepted are there, what belongs there is nowhere else."""
    for key, instead in _INSTEAD.items():
        if key in privacy.model_fields_set and getattr(privacy, key) not in (None, False):
            problems.add((*at, key), "stands beside maximize", instead)
    if not any(getattr(privacy, key) is not None or problems.broken((*at, key)) for key in _BOUNDS):
        allowed = "maximize goes with max_loss: {per_class_ncp: 0.3} or max_extent: {column: 10} or both"
        problems.add((*at, "maximize"), "nothing bounds the loss", allowed)
    goal, least = str(privacy.maximize), privacy.at_least
    if problems.broken((*at, "at_least", goal)):
        return
    wanted = f"maximize: {goal} needs the least {goal} that is accepted, such as at_least: {{{goal}: 2}}"
    if least is None:
        problems.add((*at, "at_least"), "is missing", wanted)
    elif getattr(least, goal) is None:
        problems.add((*at, "at_least", goal), "is missing", wanted)


def _check_extents(model: ReleaseModel, at: Path, problems: Problems, unread: set[str] | None) -> None:
    """An extent is for a quasi column; whether the column's type has extents is for the method to say."""
    quasi = listed(show(name) for name, column in model.columns.items() if column.role == "quasi")
    allowed = f"quasi columns: {quasi or 'none here'}"
    extents = model.privacy.max_extent
    if extents == {} and not problems.broken(at):
        problems.add(at, "no column", allowed)
    for name in extents or ():
        column = model.columns.get(name)
        if column is None and unread is not None and name not in unread:
            problems.add((*at, name), "a column that is not listed" + near(name, model.columns), allowed)
        elif column is not None and column.role != "quasi":
            problems.add((*at, name), f"the column is {column.role}", allowed)


def _check_sensitive(model: ReleaseModel, at: Path, problems: Problems, *, complete: bool) -> None:
    """What speaks of sensitive values needs sensitive columns."""
    privacy = model.privacy
    sensitive = sum(column.role == "sensitive" for column in model.columns.values())
    asked = [key for key in ("l", "distinct_l") if getattr(privacy, key) is not None]
    places: list[Path] = [(key,) for key in asked]
    if privacy.maximize == "l":
        places.append(("maximize",))
    elif privacy.at_least is not None and privacy.at_least.l is not None:
        places.append(("at_least", "l"))
    if complete and not sensitive:
        for place in places:
            key = "maximize: l" if place == ("maximize",) else place[-1]
            problems.add(
                (*at, *place), "no sensitive column", f"{key} needs a column with the role sensitive"
            )
    if privacy.joint and privacy.maximize is None:
        if complete and sensitive < 2:
            problems.add(
                (*at, "joint"),
                "fewer than two sensitive columns",
                "joint needs two columns with the role sensitive",
            )
        if not asked and not any(problems.broken((*at, key)) for key in ("l", "distinct_l")):
            problems.add(
                (*at, "joint"), "neither l nor distinct_l is asked for", "joint goes with l or distinct_l"
            )


def _check_presence(model: ReleaseModel, path: Path, problems: Problems) -> None:
    """What k promises elsewhere a format of exact quasi values cannot promise."""
    if problems.broken((*path, "format", "kind")):
        return
    privacy, at = model.privacy, (*path, "privacy")
    form = FORMATS[model.format.kind]
    if not form.exact:
        if privacy.presence is not None:
            exact = listed(facts.name for facts in FORMATS.values() if facts.exact)
            allowed = f"presence: disclosed goes with the format {exact}"
            problems.add((*at, "presence"), f"the format is {model.format.kind}", allowed)
        return
    least = privacy.at_least or AtLeastModel()
    asked: list[Path] = [("k",)] if (privacy.k or 1) > 1 else []
    if (least.k or 1) > 1 or privacy.maximize == "k":
        asked.append(("at_least", "k"))
    for place in asked:
        sure = not problems.broken((*at, *place)) and not problems.broken((*at, "presence"))
        if sure and privacy.presence is None:
            problems.add(
                (*at, *place),
                f"the format {form.name} publishes exact quasi values, which meet no k and confirm who is in the table",
                "say presence: disclosed to accept that, or drop k",
            )
    values = (privacy.l, privacy.distinct_l, privacy.maximize)
    unsure = any(problems.broken((*at, key)) for key in ("k", "l", "distinct_l", "maximize", "at_least"))
    if not asked and values == (None, None, None) and not unsure:
        allowed = f"the format {form.name} hides nothing but which sensitive value is whose; ask for l"
        problems.add((*at, "l"), "is missing", allowed)

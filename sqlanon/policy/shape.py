"""The shape of one release: keys and single values checked by the models, errors in our words.

`read` also repairs what is broken, so that `checks` can go on and find what is wrong between values.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sqlanon.declared import REQUIREMENTS
from sqlanon.policy.models import (
    AtLeastModel,
    CohortModel,
    ColumnModel,
    FormatModel,
    HierarchyModel,
    HistoryModel,
    MaxLossModel,
    MethodModel,
    PolicyModel,
    PrivacyModel,
    RefineModel,
    RefreshModel,
    ReleaseModel,
    SuppressionModel,
    TablesModel,
)
from sqlanon.policy.problems import Path, Problems, listed, near, show

_PARTS: dict[str, type[BaseModel]] = {
    "privacy": PrivacyModel,
    "max_loss": MaxLossModel,
    "at_least": AtLeastModel,
    "method": MethodModel,
    "hierarchy": HierarchyModel,
    "refine": RefineModel,
    "suppression": SuppressionModel,
    "format": FormatModel,
    "refresh": RefreshModel,
    "cohort": CohortModel,
    "history": HistoryModel,
}

REPLACED_K = 5

HARMLESS: Mapping[str, object] = {"name": "x", "source": "x", "columns": {}, "privacy": {"k": REPLACED_K}}
"""A release with nothing wrong in its shape."""

_REPLACEMENTS: Mapping[Path, object] = {
    **{(key,): value for key, value in HARMLESS.items()},
    ("privacy", "k"): REPLACED_K,
    ("privacy", "max_loss", "per_class_ncp"): "1",
    ("method", "name"): "x",
}


def note(error: ValidationError, model: type[BaseModel], path: Path, problems: Problems) -> None:
    """Note at ``path`` what pydantic found wrong, in our words."""
    for found in error.errors(include_url=False):
        problems.add(path + found["loc"], *_words(found, model))


def _words(found: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    """What is wrong and what is allowed."""
    loc = found["loc"]
    match found["type"]:
        case "policy":
            return found["ctx"]["what"], found["ctx"]["allowed"]
        case "missing":
            return "is missing", _part(model, loc[:-1]).model_fields[str(loc[-1])].description or ""
        case "extra_forbidden":
            part = _part(model, loc[:-1])
            keys = [
                *(one.alias or name for name, one in part.model_fields.items()),
                *(further() if part is PrivacyModel else ()),
            ]
            allowed = f"the keys here are {listed(keys)}"
            if loc[-1] in _of_release() and not issubclass(part, ReleaseModel | TablesModel | PolicyModel):
                return (
                    f"unknown key here: it is a key of the release, and not of {show(str(loc[-2]))}",
                    allowed,
                )
            return "unknown key" + near(loc[-1], keys), allowed
        case "model_type" | "dict_type":
            return "not a mapping", "key: value pairs"
        case "list_type" | "too_short":
            return "not a list" if found["type"] == "list_type" else "the list is empty", "a list, at least one"
        case _:
            return "not valid", "see docs/policy.md"


def read(raw: object, path: Path, problems: Problems) -> ReleaseModel | None:
    """Check the shape of one release.

    Args:
        raw: its mapping.
        path: where it is.
        problems: takes what is wrong.

    Returns:
        The release with broken parts left out or replaced by something harmless (``problems.broken`` reports which), or
        None if nothing is left of it.
    """
    data = copy.deepcopy(raw)
    if isinstance(data, dict) and isinstance(data.get("privacy"), dict):
        for key in further():
            data["privacy"].pop(key, None)  # `privacy.read_privacy` reads them
    for attempt in range(3):
        try:
            return ReleaseModel.model_validate(data)
        except ValidationError as error:
            if attempt == 0:
                note(error, ReleaseModel, path, problems)
            places = [found["loc"] for found in error.errors(include_url=False)]
        if not isinstance(data, dict):
            return None
        for place in places:
            _repair(data, place)
    return None


def further() -> list[str]:
    """Keys of requirements that have no field in `PrivacyModel`."""
    return [key for key in REQUIREMENTS if key not in PrivacyModel.model_fields]


def _of_release() -> set[str]:
    """The keys of a release."""
    return {one.alias or name for name, one in ReleaseModel.model_fields.items()}


def _part(model: type[BaseModel], loc: Path) -> type[BaseModel]:
    """The model of the part at ``loc``."""
    if len(loc) >= 2 and loc[-2] == "columns":
        return ColumnModel
    if loc and loc[-1] in _PARTS:
        return _PARTS[str(loc[-1])]
    return ReleaseModel if model is PolicyModel and loc else model


def _repair(data: dict[str, Any], place: Path) -> None:
    """Take out what is broken at ``place``, or put something harmless where a value is required."""
    if place[:1] == ("columns",) and place[-1] == "role":
        place = place[:2]
    at = data
    for depth, key in enumerate(place):
        inner = at.get(str(key))
        if depth == len(place) - 1 or not isinstance(inner, dict):
            at.pop(str(key), None)
            if place[: depth + 1] in _REPLACEMENTS:
                at[str(key)] = copy.deepcopy(_REPLACEMENTS[place[: depth + 1]])
            return
        at = inner

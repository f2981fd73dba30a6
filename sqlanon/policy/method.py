"""Checks of a release's `method`: it is declared, the options are valid, and it supports the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlanon.declared import (
    METHODS,
    Refusal,
    collect_request,
    list_refusals,
    refuse_suppression,
    unknown_method,
    wrong_options,
)
from sqlanon.declared.records import Path
from sqlanon.policy.problems import Problems
from sqlanon.spec import ReleaseSpec


def check_method(spec: ReleaseSpec, raw: Mapping[str, Any], path: Path, problems: Problems) -> None:
    """Note everything that is wrong with a release's method, without importing its code.

    Args:
        spec: the release; parts that could not be read have their defaults.
        raw: the release as it was written.
        path: where it is.
        problems: collects the problems.
    """
    method_path = (*path, "method")
    if problems.broken(method_path):
        return
    declaration = METHODS.get(spec.method.name)
    if declaration is None:
        refused = unknown_method(spec.method.name)
        problems.add((*method_path, "name"), refused.what, refused.allowed)
        return
    wrong = wrong_options(declaration, spec.method.options)
    options = {option.name for option in declaration.options}
    # A word in the text form may be a value in the wrong place: only a key of a mapping, or an option that exists, is
    # shown.
    options_written = set(raw["method"]) if isinstance(raw.get("method"), Mapping) else set()
    if not wrong and not any(problems.broken((*path, key)) for key in ("privacy", "columns", "execution", "format")):
        wrong = list_refusals(declaration, collect_request(spec, declaration))
    at_suppression = (*path, "suppression")
    # With pseudonyms rows are left out before a method runs.
    refused_rows = None if spec.token else refuse_suppression(declaration, spec.suppression)
    if refused_rows and not problems.broken(at_suppression):
        problems.add(at_suppression, refused_rows.what, refused_rows.allowed)
    for refused in wrong:
        _note(refused, method_path, refused.option in options | options_written, problems)


def _note(refused: Refusal, path: Path, shown: bool, problems: Problems) -> None:
    place = (*path, refused.option) if refused.option and shown else path
    problems.add(place, refused.what, refused.allowed)

"""A policy as the catalog keeps it: plain JSON, no seed, and a hash in place of every list of values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast

from sqlanon.column_spec import Hierarchy, Rule
from sqlanon.results.base import to_plain
from sqlanon.spec import ReleaseSpec


def hash_policy(policy: Mapping[str, Any]) -> tuple[str, str]:
    """A policy, as `redact` makes it, as JSON text, and the SHA-256 of the text."""
    text = json.dumps(policy, sort_keys=True)
    return text, hashlib.sha256(text.encode()).hexdigest()


NEW_KEYS = ("together", "statistics", "noisy", "context", "publish_lake", "publish_to", "threshold", "review")
"""Keys that 0.1.0 did not have: a policy without them is kept as it was then."""


def redact(spec: ReleaseSpec) -> dict[str, Any]:
    """The policy for the catalog: lists of values (hierarchies, orders) replaced by their hashes, no seed."""
    policy = cast("dict[str, Any]", to_plain(spec))
    for column, original in zip(policy["columns"], spec.columns, strict=True):
        if isinstance(original.hierarchy, Hierarchy):
            column["hierarchy"] = {
                "name": original.hierarchy.name,
                "sha256": _hash(original.hierarchy.levels),
            }
        elif isinstance(original.hierarchy, Rule):
            column["hierarchy"] = str(original.hierarchy)
        if original.recode is None:  # 0.1.0 had none
            del column["recode"]
        elif original.recode.other is None:
            del column["recode"]["other"]
        if isinstance(original.ordered, tuple):
            column["ordered"] = {"values": len(original.ordered), "sha256": _hash(original.ordered)}
        for key in ("scope", "secret", "because"):  # 0.1.0 had none of them; the secret is the name of a variable
            if column[key] is None:
                del column[key]
    if spec.privacy.accuracy is not None:
        policy["privacy"]["accuracy"]["extents"] = dict(spec.privacy.accuracy.extents)
    policy.pop("seed")
    if spec.statistics is not None:
        # The first releases of counts had none of them.
        for key in ("sums", "together", "cohort", "cohort_every", "lineage_age", "show"):
            if not policy["statistics"][key]:
                del policy["statistics"][key]
    if spec.noisy is not None:
        for groups in ("values", "bins"):
            policy["noisy"][groups] = {
                name: {"values": len(values), "sha256": _hash([str(value) for value in values])}
                for name, values in getattr(spec.noisy, groups)
            }
        for key in ("nights", "weight"):  # 0.2.0 had neither
            if policy["noisy"][key] is None:
                del policy["noisy"][key]
        for measure in policy["noisy"]["measures"]:  # 0.2.0 had no quantiles
            if measure["quantity"] != "quantiles":
                del measure["quantiles"], measure["steps"]
        if spec.noisy.of_rows is None:  # nor synthetic rows
            del policy["noisy"]["of_rows"]
            for table in policy["noisy"]["tables"]:
                del table["of_rows"]
        elif spec.noisy.of_rows.chosen:  # a paid measurement will choose others
            del policy["noisy"]["of_rows"]["pairs"]
            policy["noisy"]["tables"] = [table for table in policy["noisy"]["tables"] if not table["of_rows"]]
    for key in NEW_KEYS:
        if policy[key] is None:
            del policy[key]
    if not spec.refresh.needs_approval:  # nor this
        del policy["refresh"]["needs_approval"]
    if not spec.refresh.expire:
        del policy["refresh"]["expire"]
    if not spec.refresh.signers:
        del policy["refresh"]["signers"]
    if spec.refine is not None:  # 0.1.0 had no search: a policy without one is kept as it was then
        policy["refine"]["search"] = "auto" if spec.refine.search is None else spec.refine.search
        if spec.refine.search == 0:
            del policy["refine"]["search"]
        if spec.refine.least_gain == 0:
            del policy["refine"]["least_gain"]
        if spec.refine.first is None:
            del policy["refine"]["first"]
    del policy["effort"]
    if spec.effort is not None and spec.effort.word != "fast":  # the choice of 0.1.0
        policy["effort"] = spec.effort.word
    policy["privacy"] |= write_requirements(policy["privacy"].pop("more"))
    for key in ("own_boxes", "of_persons", "whole", "person_share"):  # 0.1.0 had none of them
        if not policy["privacy"][key]:
            del policy["privacy"][key]
    if spec.privacy.compared_with == "released":  # nor this
        del policy["privacy"]["compared_with"]
    return {key: _write_exact(value) for key, value in policy.items()}


def write_requirements(requirements: Mapping[str, object]) -> dict[str, Any]:
    """Requirements as plain JSON, with lists of values replaced by their hash."""
    return cast("dict[str, Any]", _write_exact(_redact_lists(to_plain(requirements))))


def _redact_lists(value: object) -> object:
    """The same without lists of values."""
    if not isinstance(value, Mapping):
        return value
    return {
        key: {"values": len(item), "sha256": _hash(item)}
        if key == "values" and isinstance(item, list | tuple) and item
        else _redact_lists(item)
        for key, item in value.items()
    }


def _write_exact(value: object) -> object:
    """The value with fractions as text, the only exact form in JSON."""
    if isinstance(value, Mapping):
        return {key: _write_exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_write_exact(item) for item in value]
    return str(value) if isinstance(value, Fraction) else value


def _hash(values: object) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()

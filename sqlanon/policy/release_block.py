"""A release with keys in another tool's file, under the same checks.

The caller gives file and line for messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from sqlanon.policy import checks
from sqlanon.policy.load import default_view
from sqlanon.policy.problems import Origin, Problems
from sqlanon.policy.sections import read_release
from sqlanon.spec import ReleaseSpec


def freeze_embedded(raw: Mapping[str, Any], origin: Origin, base: FilePath) -> ReleaseSpec:
    """Check a release and freeze it, as `sqlanon.policy.load` does with those of a policy file.

    Args:
        raw: keys and values of the release, as docs/policy.md lists them; values may be text or Python's.
        origin: gives the place of a path of ``raw`` in the other file, for messages.
        base: the directory that hierarchies and orders are relative to.

    Raises:
        PolicyError: with every problem, each with the place.
    """
    problems = Problems(origin)
    model = read_release(raw, (), problems)
    spec = None
    if model is not None:
        if model.publish is None:
            model = replace(model, publish=default_view(model.name))
        spec = checks.build(model, raw, (), problems, checks.Files(base))
    problems.stop()
    assert spec is not None
    return spec

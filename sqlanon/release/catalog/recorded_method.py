"""The method of a release that exists: a default, or a new version of sqlanon, changes nobody's classes by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlanon.declared.candidates import format_candidate
from sqlanon.declared.effort import is_suppressing
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.policy_diff import list_differences
from sqlanon.release.catalog.redacted_policy import redact
from sqlanon.spec import EFFORTS, EffortSpec, MethodSpec, RefineSpec, ReleaseSpec


def keep_method(spec: ReleaseSpec, entry: Entry | None) -> ReleaseSpec:
    """The release with the method and refinement of a version in the catalog, if the policy names neither.

    The method is chosen anew if there is no version, if the policy has changed otherwise, or on request.
    """
    effort = spec.effort
    if effort is None or entry is None or effort.method != "open":
        return spec
    recorded = entry.policy
    recorded_effort = recorded.get("effort", "fast")
    # Without the key, a method other than the default of 0.1.0 was named, and is no longer.
    unnamed = "effort" in recorded or (recorded.get("method") == _PLAIN and not recorded.get("refine"))
    if (
        recorded_effort not in EFFORTS
        or not unnamed
        or (recorded_effort != effort.word and (effort.written or recorded_effort != "fast"))
    ):
        return spec
    kept_spec = replace(
        spec,
        method=MethodSpec(recorded["method"]["name"], recorded["method"]["options"]),
        refine=_read_refine(recorded.get("refine")),
        effort=EffortSpec(recorded_effort, effort.written, "kept"),
    )
    differs = list_differences(recorded, json.loads(json.dumps(redact(kept_spec))))
    return spec if any(not difference.setting for difference in differs) else kept_spec


def list_method_notes(spec: ReleaseSpec) -> tuple[str, ...]:
    """A note if a release keeps a method that would not be chosen for a new release, or `suppression` chose it."""
    effort = spec.effort
    if effort is not None and is_suppressing(spec):
        method = format_candidate(spec.method)
        note = (
            f"method {method} is chosen, as it may suppress rows; without suppression the search of an effort mostly "
            "loses less: see docs/onedim.md, Effort"
        )
        return (note,)
    if effort is None or effort.method != "kept" or effort.written or effort.word != "fast":
        return ()
    note = (
        f"method {spec.method.name} is kept, as published versions have it and the policy names none; --new-classes "
        "takes the method of a new release"
    )
    return (note,)


def _read_refine(recorded: Mapping[str, Any] | None) -> RefineSpec | None:
    """Refinement as `redact` wrote it."""
    if not recorded:
        return None
    search = recorded.get("search", 0)
    return RefineSpec(recorded["window"], recorded["passes"], None if search == "auto" else search)


_PLAIN = {"name": "tree", "options": {}}

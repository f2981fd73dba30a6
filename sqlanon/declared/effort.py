"""The method of a policy that names neither `method` nor `refine`: chosen once, from the policy alone."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.declared.candidates import format_candidate
from sqlanon.declared.check import collect_request, list_refusals, refuse_suppression
from sqlanon.declared.combinations import list_refused
from sqlanon.declared.formats import FORMATS
from sqlanon.declared.methods import METHODS
from sqlanon.declared.requirements import REQUIREMENTS
from sqlanon.spec import Effort, EffortSpec, MethodSpec, RefineSpec, ReleaseSpec

DEFAULT: Effort = "normal"
"""The effort of a policy that names none."""
SEVERAL_UP_TO = 1_000_000
"""Rows up to which several methods are run; of a larger table the first alone."""
_TREE = MethodSpec()
_MONDRIAN = MethodSpec("mondrian")
_LOCAL = MethodSpec("fulldomain", {"search": "local"})
_NODES = MethodSpec("fulldomain", {"search": "global"})
_SUPPRESS = MethodSpec("suppress")


def choose_method(spec: ReleaseSpec) -> ReleaseSpec:
    """The release with the method and the refinement of the effort.

    With ``execution: pushdown``, and where nothing can be refined, it is method ``tree`` alone, as with ``fast``. Where
    a population is asked for, and ``tree`` cannot count it, it is the lattice search; in format ``suppressed`` it is
    ``suppress``, where that takes the release. With ``suppression`` it is a method that may suppress rows.
    """
    if spec.effort is None:
        return spec
    plain = replace(spec, method=_TREE, refine=None)
    if is_suppressing(spec):
        return _choose_suppressing(plain)
    hidden = replace(plain, method=_SUPPRESS)
    if FORMATS[spec.format.kind].either and _takes(hidden):
        return hidden
    refined = replace(plain, refine=RefineSpec(search=None))
    if spec.execution == "pushdown" or not _takes(refined):
        nodes = replace(plain, method=_NODES)
        return nodes if not _takes(plain) and _counts_population(spec) and _takes(nodes) else plain
    starts = [start for start in list_starts(spec) if _takes(replace(refined, method=start))]
    if len(starts) == 1:
        return replace(refined, method=starts[0])
    several = {
        "of": "; ".join(map(format_candidate, starts)),
        "metric": "stars" if FORMATS[spec.format.kind].either else "gcp",
        "run": "sparing",
    }
    best = replace(refined, method=MethodSpec("best", several))
    return best if _takes(best) else refined


def is_suppressing(spec: ReleaseSpec) -> bool:
    """Whether the method may suppress rows; with pseudonyms rows are left out before a method runs."""
    return spec.suppression is not None and spec.token is None


def _choose_suppressing(plain: ReleaseSpec) -> ReleaseSpec:
    """The release with the first method that may suppress rows of it; the last, which says why, where none may.

    Classes with nodes of their own lose less than one level for all rows, and so do hidden values where there are no
    levels.
    """
    methods = (_LOCAL, _NODES) if _has_levels(plain) else (_LOCAL, _SUPPRESS, _NODES)
    chosen = [replace(plain, method=method) for method in methods]
    return next((spec for spec in chosen if _takes(spec)), chosen[-1])


def _has_levels(spec: ReleaseSpec) -> bool:
    """Whether a quasi column has a hierarchy."""
    return any(column.hierarchy is not None for column in spec.with_role("quasi"))


def list_starts(spec: ReleaseSpec) -> tuple[MethodSpec, ...]:
    """Methods that make classes for the search to begin from, the first for large tables."""
    privacy = spec.privacy
    starts = (_TREE, _LOCAL) if _has_levels(spec) else (_TREE,)
    diverse = privacy.l is not None or privacy.distinct_l is not None or bool(privacy.more)
    return (*starts, _MONDRIAN) if diverse else starts


def take_new_classes(spec: ReleaseSpec) -> ReleaseSpec:
    """The release with the method that is chosen now, whatever the catalog has; a release with a named method stays."""
    return replace(spec, effort=replace(spec.effort, method="new")) if spec.effort else spec


def choose_effort(word: Effort | None) -> EffortSpec | None:
    """The effort of a policy; ``word``: as written. None: ``fast``, which is the same as to name method `tree`."""
    effort = word or DEFAULT
    return None if effort == "fast" else EffortSpec(effort, written=word is not None)


def _counts_population(spec: ReleaseSpec) -> bool:
    """Whether the rows of a population are counted."""
    return any(name in REQUIREMENTS and REQUIREMENTS[name].population for name in spec.privacy.more)


def _takes(spec: ReleaseSpec) -> bool:
    """Whether the method takes the release, and the keys of the release go together."""
    declared = METHODS[spec.method.name]
    if is_suppressing(spec) and refuse_suppression(declared, spec.suppression):
        return False
    return not list_refusals(declared, collect_request(spec, declared)) and not list_refused(spec)

"""Keys of a release that do not go together, whatever its method and its data are."""

from __future__ import annotations

from sqlanon.declared.formats import FORMATS
from sqlanon.declared.method import Refused
from sqlanon.declared.methods import METHODS
from sqlanon.declared.metrics import METRICS
from sqlanon.spec import ReleaseSpec


def combinations(spec: ReleaseSpec) -> list[tuple[str, Refused]]:
    """What does not go together: the key to change, and why."""
    found = []
    form, accuracy = FORMATS[spec.format.kind], spec.privacy.accuracy
    if accuracy is not None and not form.reach:
        reaching = [facts.name for facts in FORMATS.values() if facts.reach]
        what = (
            f"format {form.name} does not publish how far a class reaches, so a bound on it cannot be checked"
        )
        found.append(("format", Refused(what, f"use {', '.join(reaching[:-1])} or {reaching[-1]}")))
    if spec.refine is not None and accuracy is not None:
        what = "refine lowers the loss and does not look at the bound"
        found.append(("refine", Refused(what, f"leave it out where {accuracy.maximize} is maximized")))
    if spec.refine is not None and form.exact:
        what = f"refine lowers the loss of boxes, and format {form.name} has none"
        found.append(("refine", Refused(what, "leave it out")))
    if spec.suppression is not None and accuracy is not None:
        what = f"{accuracy.maximize} is maximized for all rows of the source"
        found.append(("suppression", Refused(what, "leave suppression out")))
    if spec.suppression is not None and spec.suppression.rows == "starred" and not form.hides:
        hiding = [facts.name for facts in FORMATS.values() if facts.hides]
        what = f"format {form.name} hides no values, so that it cannot publish starred rows"
        allowed = f"use {', '.join(hiding[:-1])} or {hiding[-1]}, or rows: left_out"
        found.append(("suppression", Refused(what, allowed)))
    about = [name for name, one in METRICS.items() if one.asked and one.sensitive and name in spec.metrics]
    if about and not spec.with_role("sensitive"):
        what = f"{', '.join(about)}: about a sensitive column, and there is none"
        found.append(("metrics", Refused(what, "leave them out, or give a column the role sensitive")))
    return found


def remarks(spec: ReleaseSpec) -> list[str]:
    """Of keys that go together, which do little: notes of plan."""
    method = METHODS.get(spec.method.name)
    if spec.refine is None or spec.refine.search != 0 or method is None:
        return []
    if method.values(spec.method.options).get("search") != "local":
        return []
    said = (
        f"refine: after {method.name} with search=local passes alone lowered the loss by 0.02 % at most where that was measured, as a row "
        "alone finds no class that loses less; search: N finds some"
    )
    return [said]

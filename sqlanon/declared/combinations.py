"""Keys of a release that do not go together, whatever the method and the data are."""

from __future__ import annotations

from sqlanon.declared.asked import Refused
from sqlanon.declared.formats import FORMATS
from sqlanon.declared.methods import METHODS
from sqlanon.declared.metrics import METRICS
from sqlanon.declared.requirements import REQUIREMENTS
from sqlanon.spec import ReleaseSpec


def list_refused(spec: ReleaseSpec) -> list[tuple[str, Refused]]:
    """Keys that do not go together: the key to change, and why."""
    found = []
    form, accuracy = FORMATS[spec.format.kind], spec.privacy.accuracy
    if accuracy is not None and not form.reach:
        reaching = [facts.name for facts in FORMATS.values() if facts.reach]
        what = (
            f"format {form.name} does not publish how far a class reaches ({form.reach.why}), so a bound on it cannot "
            "be checked"
        )
        found.append(("format", Refused(what, f"use {', '.join(reaching[:-1])} or {reaching[-1]}")))
    if spec.refine is not None and accuracy is not None:
        what = "refine lowers the loss and does not look at the bound"
        found.append(("refine", Refused(what, f"leave it out where {accuracy.maximize} is maximized")))
    if spec.refine is not None and form.exact:
        what = f"refine lowers the loss of boxes, and format {form.name} has none"
        found.append(("refine", Refused(what, "leave it out")))
    found += _own_boxes(spec)
    found += _population(spec)
    found += _frozen(spec)
    if spec.suppression is not None and accuracy is not None:
        what = f"{accuracy.maximize} is maximized for all rows of the source"
        found.append(("suppression", Refused(what, "leave suppression out")))
    if spec.suppression is not None and spec.suppression.rows == "starred" and not form.hides:
        hiding = [facts.name for facts in FORMATS.values() if facts.hides]
        what = f"format {form.name} hides no values ({form.hides.why}), so that it cannot publish starred rows"
        allowed = f"use {', '.join(hiding[:-1])} or {hiding[-1]}, or rows: left_out"
        found.append(("suppression", Refused(what, allowed)))
    if spec.suppression is not None and spec.suppression.rows == "left_out":
        compared = [name for name in spec.privacy.more if name in REQUIREMENTS and REQUIREMENTS[name].compares]
        if compared:
            what = (
                f"{', '.join(compared)}: classes are compared with the published rows, which are not known before some "
                "are left out"
            )
            found.append(("suppression", Refused(what, _describe_loss_setting(spec))))
    about = [name for name, one in METRICS.items() if one.asked and one.sensitive and name in spec.metrics]
    if about and not spec.with_role("sensitive"):
        what = f"{', '.join(about)}: about a sensitive column, and there is none"
        found.append(("metrics", Refused(what, "leave them out, or give a column the role sensitive")))
    return found


def _describe_loss_setting(spec: ReleaseSpec) -> str:
    """Advice where rows cannot be left out: a method may star none either."""
    method = METHODS.get(spec.method.name)
    search = method.option("search") if method else None
    local = search is not None and spec.method.options.get("search", search.default) == "local"
    return "leave suppression out, or say search=global and rows: starred" if local else "say rows: starred"


def list_populations(spec: ReleaseSpec) -> dict[str, str]:
    """The requirements that compare classes with a population, each with the table that it names."""
    return {
        name: asked.population
        for name, asked in spec.privacy.more.items()
        if name in REQUIREMENTS and REQUIREMENTS[name].population
    }


def _population(spec: ReleaseSpec) -> list[tuple[str, Refused]]:
    """Formats that show more of a class than the cell, or have no cell, exclude rows of a population in cells."""
    named = list_populations(spec)
    if not named:
        return []
    found, names, form = [], " and ".join(named), FORMATS[spec.format.kind]
    if len(set(named.values())) > 1:
        found.append(("privacy", Refused(f"{names} name different populations", "name the same table in both")))
    if not form.cells:
        able = [facts.name for facts in FORMATS.values() if facts.cells]
        what = f"{names}: format {form.name} does not say which rows of a population lie in a cell ({form.cells.why})"
        found.append(("format", Refused(what, f"use {', '.join(able[:-1])} or {able[-1]}")))
    if spec.format.mean:
        what = f"{names}: the mean of a class shows which rows of the population are in it"
        found.append(("format", Refused(what, "leave mean out")))
    if spec.suppression is not None:
        what = f"{names}: a suppressed row has no cell in which rows of the population could be counted"
        found.append(("suppression", Refused(what, "leave suppression out")))
    if spec.rows_are == "events":
        what = f"{names}: a row of the population is a person, and a person may have several rows here"
        found.append(("rows_are", Refused(what, f"release a table of one row a person, or leave {names} out")))
    return found


def _own_boxes(spec: ReleaseSpec) -> list[tuple[str, Refused]]:
    """Keys about classes do not go with boxes of their own."""
    if not spec.privacy.own_boxes:
        return []
    found = []
    if spec.refine is not None:
        what = "refine moves rows between classes, and with boxes: own there are none"
        found.append(("refine", Refused(what, "leave it out; the method's own option is passes")))
    if spec.format.mean:
        what = (
            "with boxes: own each box has the mean of other rows, and such overlapping sums can be solved for single "
            "values"
        )
        found.append(("format", Refused(what, "leave mean out")))
    if spec.metrics:
        what = "metrics are about classes, and with boxes: own there are none"
        found.append(("metrics", Refused(what, "leave them out")))
    if spec.with_role("pseudonym"):
        what = "with boxes: own the rows of a token have boxes of their own, in which one person alone may fit"
        found.append(("columns", Refused(what, "make the pseudonyms identifiers, or use tree")))
    if spec.rows_are == "events":
        what = "with boxes: own k counts rows, and those that fit a box may be of one person"
        found.append(("rows_are", Refused(what, "release a table of one row a person, or use tree")))
    return found


def _frozen(spec: ReleaseSpec) -> list[tuple[str, Refused]]:
    """Keys that `refresh: {mode: frozen}` cannot keep over many versions."""
    if not spec.refresh.frozen:
        return []
    found, privacy, form = [], spec.privacy, FORMATS[spec.format.kind]
    if privacy.own_boxes:
        what = "with boxes: own there are no classes that could stay"
        found.append(("privacy", Refused(what, "use a method of classes, or mode: full")))
    if privacy.accuracy is not None:
        what = (
            f"{privacy.accuracy.maximize} is maximized anew for each cohort, so that nothing is promised of all "
            "versions"
        )
        found.append(("privacy", Refused(what, "ask for k and l, or use mode: full")))
    compared = [name for name in privacy.more if name in REQUIREMENTS and REQUIREMENTS[name].compares]
    compared += [name for name in list_populations(spec) if name not in compared]
    if compared:
        what = f"{', '.join(compared)}: classes are compared with a table that changes from version to version"
        found.append(("privacy", Refused(what, "ask for k, l or distinct_l, or use mode: full")))
    if form.paired:
        what = f"format {form.name} numbers its groups, which mode: frozen does not keep from version to version"
        found.append(("format", Refused(what, "use ranges or labels, or mode: full")))
    if spec.with_role("pseudonym"):
        what = "tokens link the rows of a person, whose new rows would come in other classes, version after version"
        found.append(("columns", Refused(what, "make the pseudonyms identifiers, or use mode: full")))
    if spec.rows_are == "events" and spec.persons not in ("rows", "whole"):
        what = "mode: frozen counts rows, and a person may have several here, in several cohorts"
        found.append(("rows_are", Refused(what, "name person: [columns], or use mode: full")))
    if spec.suppression is not None and spec.suppression.rows == "left_out":
        what = "a row that is left out would never be published"
        found.append(("suppression", Refused(what, "say rows: starred, or use mode: full")))
    return found


def list_remarks(spec: ReleaseSpec) -> list[str]:
    """Of keys that go together, which do little: notes of plan."""
    method = METHODS.get(spec.method.name)
    if list_populations(spec):
        return list_unpromised(spec)
    if spec.refine is None or spec.refine.search != 0 or method is None:
        return []
    if method.values(spec.method.options).get("search") != "local":
        return []
    said = (
        f"refine: after {method.name} with search=local passes alone lowered the loss by 0.02 % at most where that was "
        "measured, as a row alone finds no class that loses less; search: N finds some"
    )
    return [said]


def list_unpromised(spec: ReleaseSpec) -> list[str]:
    """Promises that requirements over a population do not make: notes of plan and run."""
    said = {
        "k_map": "k_map: it protects nobody who is known to be in the table",
        "delta_presence": "delta_presence: it hides who is in the table, from a reader who knows the population; of "
        "sensitive values it says nothing",
    }
    return [said[name] for name in list_populations(spec) if name in said]

"""Keys of a release that do not go together, whatever the method and the data are."""

from __future__ import annotations

from sqlanon.declared.formats import FORMATS
from sqlanon.declared.methods import METHODS
from sqlanon.declared.metrics import METRICS
from sqlanon.declared.request import Refusal
from sqlanon.declared.requirements import REQUIREMENTS
from sqlanon.spec import ReleaseSpec


def list_refused(spec: ReleaseSpec) -> list[tuple[str, Refusal]]:
    """Keys that do not go together: the key to change, and why."""
    refusals = []
    form, accuracy = FORMATS[spec.format.kind], spec.privacy.accuracy
    if accuracy is not None and not form.reach:
        reaching = [facts.name for facts in FORMATS.values() if facts.reach]
        what = (
            f"format {form.name} does not publish how far a class reaches ({form.reach.why}), so a bound on it cannot "
            "be checked"
        )
        refusals.append(("format", Refusal(what, f"use {', '.join(reaching[:-1])} or {reaching[-1]}")))
    if spec.refine is not None and accuracy is not None:
        what = "refine lowers the loss and does not look at the bound"
        refusals.append(("refine", Refusal(what, f"leave it out where {accuracy.maximize} is maximized")))
    if spec.refine is not None and form.exact:
        what = f"refine lowers the loss of boxes, and format {form.name} has none"
        refusals.append(("refine", Refusal(what, "leave it out")))
    refusals += _refuse_own_boxes(spec)
    refusals += _refuse_populations(spec)
    refusals += _refuse_frozen(spec)
    if spec.suppression is not None and accuracy is not None:
        what = f"{accuracy.maximize} is maximized for all rows of the source"
        refusals.append(("suppression", Refusal(what, "leave suppression out")))
    if spec.suppression is not None and spec.suppression.rows == "starred" and not form.hides:
        hiding = [facts.name for facts in FORMATS.values() if facts.hides]
        what = f"format {form.name} hides no values ({form.hides.why}), so that it cannot publish starred rows"
        allowed = f"use {', '.join(hiding[:-1])} or {hiding[-1]}, or rows: left_out"
        refusals.append(("suppression", Refusal(what, allowed)))
    refusals += _refuse_compared(spec)
    about = [name for name, metric in METRICS.items() if metric.asked and metric.sensitive and name in spec.metrics]
    if about and not spec.with_role("sensitive"):
        what = f"{', '.join(about)}: about a sensitive column, and there is none"
        refusals.append(("metrics", Refusal(what, "leave them out, or give a column the role sensitive")))
    return refusals


def _refuse_compared(spec: ReleaseSpec) -> list[tuple[str, Refusal]]:
    """Models that compare classes with a table: with which, where rows are left out."""
    compared = [name for name in spec.privacy.more if name in REQUIREMENTS and REQUIREMENTS[name].compares]
    of_source = spec.privacy.compared_with == "source"
    if of_source and not compared:
        models = [name for name, requirement in REQUIREMENTS.items() if requirement.compares]
        what = "compared_with: source, and nothing is compared"
        return [("privacy", Refusal(what, f"it goes with {', '.join(models[:-1])} or {models[-1]}"))]
    if not compared or spec.suppression is None or spec.suppression.rows != "left_out":
        return []
    if not of_source:
        what = (
            f"{', '.join(compared)}: classes are compared with the published rows, which are not known before some "
            "are left out"
        )
        return [("suppression", Refusal(what, _describe_loss_setting(spec)))]
    if spec.with_role("pseudonym"):
        what = f"{', '.join(compared)}: rows of tokens are not compared with the source"
        return [
            ("privacy", Refusal(what, "make the pseudonyms identifiers, or leave compared_with and suppression out"))
        ]
    return []


def _describe_loss_setting(spec: ReleaseSpec) -> str:
    """Advice where rows cannot be left out: a method may star none either."""
    method = METHODS.get(spec.method.name)
    search = method.option("search") if method else None
    local = search is not None and spec.method.options.get("search", search.default) == "local"
    starred = "leave suppression out, or say search=global and rows: starred" if local else "say rows: starred"
    return f"{starred}, or privacy: {{compared_with: source}}"


def list_populations(spec: ReleaseSpec) -> dict[str, str]:
    """The requirements that compare classes with a population, each with the table that it names."""
    return {
        name: requirement.population
        for name, requirement in spec.privacy.more.items()
        if name in REQUIREMENTS and REQUIREMENTS[name].population
    }


def _refuse_populations(spec: ReleaseSpec) -> list[tuple[str, Refusal]]:
    """Formats that show more of a class than the cell, or have no cell, exclude rows of a population in cells."""
    populations = list_populations(spec)
    if not populations:
        return []
    refusals, names, form = [], " and ".join(populations), FORMATS[spec.format.kind]
    if len(set(populations.values())) > 1:
        refusals.append(("privacy", Refusal(f"{names} name different populations", "name the same table in both")))
    if not form.cells:
        able = [facts.name for facts in FORMATS.values() if facts.cells]
        what = f"{names}: format {form.name} does not say which rows of a population lie in a cell ({form.cells.why})"
        refusals.append(("format", Refusal(what, f"use {', '.join(able[:-1])} or {able[-1]}")))
    if spec.format.mean:
        what = f"{names}: the mean of a class shows which rows of the population are in it"
        refusals.append(("format", Refusal(what, "leave mean out")))
    if spec.rows_are == "events":
        what = f"{names}: a row of the population is a person, and a person may have several rows here"
        refusals.append(("rows_are", Refusal(what, f"release a table of one row a person, or leave {names} out")))
    return refusals


def _refuse_own_boxes(spec: ReleaseSpec) -> list[tuple[str, Refusal]]:
    """Keys about classes do not go with boxes of their own."""
    if not spec.privacy.own_boxes:
        return []
    refusals = []
    if spec.refine is not None:
        what = "refine moves rows between classes, and with boxes: own there are none"
        refusals.append(("refine", Refusal(what, "leave it out; the method's own option is passes")))
    if spec.format.mean:
        what = (
            "with boxes: own each box has the mean of other rows, and such overlapping sums can be solved for single "
            "values"
        )
        refusals.append(("format", Refusal(what, "leave mean out")))
    if spec.metrics:
        what = "metrics are about classes, and with boxes: own there are none"
        refusals.append(("metrics", Refusal(what, "leave them out")))
    if spec.with_role("pseudonym"):
        what = "with boxes: own the rows of a token have boxes of their own, in which one person alone may fit"
        refusals.append(("columns", Refusal(what, "make the pseudonyms identifiers, or use tree")))
    if spec.rows_are == "events":
        what = "with boxes: own k counts rows, and those that fit a box may be of one person"
        refusals.append(("rows_are", Refusal(what, "release a table of one row a person, or use tree")))
    return refusals


def _refuse_frozen(spec: ReleaseSpec) -> list[tuple[str, Refusal]]:
    """Keys that `refresh: {mode: frozen}` cannot keep over many versions."""
    if not spec.refresh.frozen:
        return []
    refusals, privacy, form = [], spec.privacy, FORMATS[spec.format.kind]
    if privacy.own_boxes:
        what = "with boxes: own there are no classes that could stay"
        refusals.append(("privacy", Refusal(what, "use a method of classes, or mode: full")))
    if privacy.accuracy is not None:
        what = (
            f"{privacy.accuracy.maximize} is maximized anew for each cohort, so that nothing is promised of all "
            "versions"
        )
        refusals.append(("privacy", Refusal(what, "ask for k and l, or use mode: full")))
    compared = [name for name in privacy.more if name in REQUIREMENTS and REQUIREMENTS[name].compares]
    compared += [name for name in list_populations(spec) if name not in compared]
    if compared:
        what = f"{', '.join(compared)}: classes are compared with a table that changes from version to version"
        refusals.append(("privacy", Refusal(what, "ask for k, l or distinct_l, or use mode: full")))
    if form.paired:
        what = f"format {form.name} numbers its groups, which mode: frozen does not keep from version to version"
        refusals.append(("format", Refusal(what, "use ranges or labels, or mode: full")))
    if spec.with_role("pseudonym"):
        what = "tokens link the rows of a person, whose new rows would come in other classes, version after version"
        refusals.append(("columns", Refusal(what, "make the pseudonyms identifiers, or use mode: full")))
    if spec.rows_are == "events" and spec.persons not in ("rows", "whole"):
        what = "mode: frozen counts rows, and a person may have several here, in several cohorts"
        refusals.append(("rows_are", Refusal(what, "name person: [columns], or use mode: full")))
    if spec.suppression is not None and spec.suppression.rows == "left_out":
        what = "a row that is left out would never be published"
        refusals.append(("suppression", Refusal(what, "say rows: starred, or use mode: full")))
    return refusals


def list_remarks(spec: ReleaseSpec) -> list[str]:
    """Of keys that go together, which do little: notes of plan."""
    method = METHODS.get(spec.method.name)
    if unpromised := list_unpromised(spec):
        return unpromised
    if spec.refine is None or spec.refine.search != 0 or method is None:
        return []
    if method.values(spec.method.options).get("search") != "local":
        return []
    remark = (
        f"refine: after {method.name} with search=local passes alone lowered the loss by 0.02 % at most where that was "
        "measured, as a row alone finds no class that loses less; search: N finds some"
    )
    return [remark]


def list_unpromised(spec: ReleaseSpec) -> list[str]:
    """Promises that requirements over a population, or of the source, do not make: notes of plan and run."""
    remarks = {
        "k_map": "k_map: it protects nobody who is known to be in the table",
        "delta_presence": "delta_presence: it hides who is in the table, from a reader who knows the population; of "
        "sensitive values it says nothing",
    }
    listed = [remarks[name] for name in list_populations(spec) if name in remarks]
    if spec.privacy.compared_with == "source" and spec.suppression is not None and spec.suppression.rows == "left_out":
        listed.append(
            "compared_with: source: nothing is promised of left-out rows; who knows how often the source has a value, "
            "and subtracts the release, has theirs"
        )
    return listed

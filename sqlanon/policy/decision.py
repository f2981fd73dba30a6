"""Decisions of people about a release: the context, and the threshold with the number of the guideline."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlanon.decision_spec import ContextSpec, ThresholdSpec
from sqlanon.declared import FORMATS
from sqlanon.declared.records import Path
from sqlanon.declared.thresholds import PRESETS, ROUNDED
from sqlanon.policy.models import ContextModel, ReleaseModel, ThresholdModel
from sqlanon.policy.problems import Problems


def build_context(context: ContextModel | None) -> ContextSpec | None:
    """The circumstances in the owner's words."""
    if context is None:
        return None
    return ContextSpec(**{name: getattr(context, name) for name, _ in ContextSpec().items()})


def build_threshold(
    threshold: ThresholdModel | None, path: Path, problems: Problems, check: Callable[[Path], None]
) -> ThresholdSpec | None:
    """The accepted risk, or None after noting the problems.

    Args:
        threshold: the mapping that was read.
        path: the place of the release.
        problems: collects the problems.
        check: notes at the place of the threshold if a run does not measure the risk.
    """
    threshold_path = (*path, "threshold")
    if threshold is None or problems.broken(threshold_path):
        return None
    preset = PRESETS[threshold.preset] if threshold.preset else None
    risk = threshold.risk if threshold.risk is not None else preset.risk if preset else None
    if risk is None:
        what = "has no number" if preset is None else f"{threshold.preset} has no number"
        problems.add((*threshold_path, "risk"), what, "risk: a probability, with because: why this one")
        return None
    if not risk:
        problems.add((*threshold_path, "risk"), "0", "above 0: 1/11 is the risk of a group of 11")
        return None
    own_risk = threshold.risk is not None and (preset is None or preset.risk != _round_risk(threshold.risk))
    if own_risk and threshold.because is None:
        problems.add((*threshold_path, "because"), "is missing", "why this number: text")
        return None
    if own_risk and preset is not None and preset.risk is not None:
        what = f"not the number of {threshold.preset}, which is {preset.about}"
        problems.add((*threshold_path, "risk"), what, "leave out risk or preset")
        return None
    check(threshold_path)
    because = "; ".join(filter(None, (preset.source if preset else "", threshold.because)))
    return ThresholdSpec(_round_risk(risk), because, threshold.attacker, threshold.over)


def _round_risk(risk: Fraction) -> Fraction:
    return ROUNDED.get(risk, risk)


def check_measured(model: ReleaseModel, problems: Problems, place: Path) -> None:
    """Whether a run of this release measures the risk that the threshold bounds."""
    threshold = model.threshold
    assert threshold is not None
    facts, own_boxes = FORMATS[model.format.kind], model.privacy.boxes == "own"
    frozen = model.refresh is not None and model.refresh.mode == "frozen"
    shown = model.rest == "keep" or any(column.role == "insensitive" for column in model.columns.values())
    if facts.exact:
        what = f"the format {model.format.kind} publishes rows as they are: who knows a person finds the row"
        problems.add(place, what, "leave it out, or take another format")
    elif threshold.over == "published" and frozen and model.person and shown:
        what = "a lineage does not keep whose rows are published, so that persons are not counted by the columns that "
        problems.add((*place, "over"), f"{what}are published as they are", "over: quasi, or no such columns")
    elif threshold.attacker == "journalist" and "k_map" not in model.privacy.more:
        what = "without k_map nothing is known of the population"
        problems.add((*place, "attacker"), what, "prosecutor or marketer, or k_map in privacy")
    elif threshold.attacker == "marketer" and own_boxes:
        problems.add((*place, "attacker"), "with boxes: own the mean over all rows is not measured", "prosecutor")

"""The frames, and the page that one makes: the decision first, then its sections, then the words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlanon.attack import attack as run_attack
from sqlanon.declared.words import near
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.progress import Progress, SilentProgress
from sqlanon.query.release import read_release
from sqlanon.release.catalog.approvals import Approvals
from sqlanon.release.catalog.attacks import list_attacks
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.state import SHOWN
from sqlanon.release.catalog.views import spell_table
from sqlanon.report.decision import NOT_SAID, context_pairs, read_threshold, review_date, within
from sqlanon.report.document import Front, Page, Section
from sqlanon.report.frames.base import Frame, VersionFacts
from sqlanon.report.frames.counts import counts_frame
from sqlanon.report.frames.edpb import EDPB
from sqlanon.report.frames.ema0070 import EMA0070
from sqlanon.report.frames.hipaa import HIPAA
from sqlanon.report.frames.iso27559 import ISO27559
from sqlanon.report.frames.sdc import SDC
from sqlanon.report.frames.words import define_words
from sqlanon.report.frames.wp216 import WP216
from sqlanon.report.owner import check_unchanged, find_described
from sqlanon.report.variables import report_variables
from sqlanon.results import RunReport
from sqlanon.results.figures import count, join_names, share

FRAMES: Final[Mapping[str, Frame]] = {frame.name: frame for frame in (WP216, HIPAA, EMA0070, ISO27559, SDC, EDPB)}
"""Frames by their names."""


def frame_report(
    engine: Engine,
    release: str,
    name: str,
    progress: Progress | None = None,
    *,
    attack: bool = False,
    variables: Section | None = None,
) -> Page:
    """Make the report of the published version in the words of a frame.

    Args:
        engine: the database of the source, with the rights of the owner.
        release: the release's name or its view.
        name: of the frame.
        progress: gets the parts.
        attack: run the attacks of `sqlanon.attack` as well.
        variables: the section of the variables, if it was made; None: it is made.

    Raises:
        PolicyError: no such release is published, or the frame is not for it.
        DatabaseError: the database refused.

    Cost: a few groupings of the release; attacks compare every row of the source with every box.
    """
    reporter = progress or SilentProgress()
    frame = FRAMES.get(name)
    if frame is None:
        raise PolicyError(f"--frame {name}: not a frame{near(name, FRAMES)}; there are {', '.join(FRAMES)}")
    entry = find_described(engine, release)
    if not entry.kind.has_rows:
        return counts_frame(engine, entry, name, reporter, attack=attack)
    run = RunReport.from_dict(entry.report)
    catalog = Catalog(engine)
    released = None if entry.view is None else read_release(engine, engine.relation(spell_table(entry.view)))
    if attack and released is None:
        raise PolicyError(f"{release} was published into another file: it cannot be attacked; leave out --attack")
    reporter.stage(entry.release, "risk")
    beside = [
        released.release
        for released in catalog.entries(statuses=("published",), source=entry.source)
        if released.release != entry.release
    ]
    material = VersionFacts(
        engine,
        entry,
        run,
        released,
        Approvals(engine).list(entry.release),
        sum(version.status in SHOWN for version in catalog.entries(entry.release)),
        tuple(beside),
        run_attack(engine, entry.release, progress=reporter) if attack else None,
        next(
            (attack for attack in reversed(list_attacks(engine, entry.release)) if attack.version == entry.version),
            None,
        ),
    )
    if why := frame.needs(material):
        raise PolicyError(f"{entry.release}: the frame {name} is not for this release: {why}")
    sections = frame.sections(material)
    if variables is None:
        variables = report_variables(engine, entry.policy, run, released)
    if released is not None:
        check_unchanged(engine, released)
    reporter.finish(entry.release)
    return Page(
        release=entry.release,
        version=entry.version,
        confidential=False,
        summary=(),
        sound=all(requirement.satisfied for requirement in run.requirements),
        sections=(*sections, variables, define_words(sections)),
        warning=(run.exposed.warning(int(entry.policy["privacy"].get("k") or 1)) or "") if run.exposed else "",
        front=_front(frame, material),
    )


def _front(frame: Frame, facts: VersionFacts) -> Front:
    entry, run = facts.entry, facts.run
    context = dict(context_pairs(entry.policy))
    due = review_date(entry)
    return Front(
        frame=f"{frame.title}. {frame.source}.",
        about=(
            ("what", f"{run.published}, made of {entry.source}: {count(run.rows)} rows, version {entry.version}"),
            *((key, context[key]) for key in ("purpose", "recipients", "environment", "owner")),
            (
                "made",
                f"{entry.published_at[:16].replace('T', ' ')} (UTC) by {entry.published_by}, sqlanon {entry.sqlanon}",
            ),
            *((("due for review", due),) if due else ()),
        ),
        question=_question(facts, context["recipients"], context["purpose"]),
        figures=_figures(facts),
        remains=tuple(_remains(facts)),
    )


def _question(facts: VersionFacts, recipients: str, purpose: str) -> str:
    whom = recipients if recipients != NOT_SAID else "its recipients (the policy does not state them)"
    why = f" for {purpose}" if purpose != NOT_SAID else ", for a purpose that the policy does not state"
    return f"Decision asked: may {facts.entry.release}, version {facts.entry.version}, be given to {whom}{why}?"


def _figures(facts: VersionFacts) -> tuple[tuple[str, str, str], ...]:
    risk, run, threshold = facts.risk, facts.run, read_threshold(facts.policy)
    most, every = risk.highest(), risk.highest("published")
    bound = (
        "no threshold was set"
        if threshold is None
        else f"at most {share(float(threshold[0]), 1)} is accepted"
        f"{'' if threshold[1] == 'prosecutor' else f' of {threshold[1]}'}: "
        f"{ {True: 'met', False: 'EXCEEDED', None: 'not measured'}[within(facts.policy, run)] }"
    )
    shown = f"as they are: {join_names(risk.as_they_are, 5)}" if risk.as_they_are else "but the sensitive ones"
    of_all = threshold is not None and threshold[2] == "published"
    return (
        (
            "highest risk of being found",
            "not measured" if most is None else share(most, 1),
            "by the quasi columns" if of_all else bound,
        ),
        (
            "with every published column known",
            "not measured" if every is None else share(every, 1),
            f"{shown}; {bound}" if of_all else shown,
        ),
        (
            "detail that was lost",
            "none of the quasi columns" if run.loss.rce is not None else share(run.gcp, 1),
            "GCP, the mean part of a column's range that a value may lie in",
        ),
    )


def _remains(facts: VersionFacts) -> list[str]:
    """Remarks for readers of the figures."""
    risk, run = facts.risk, facts.run
    remains = []
    most = risk.highest()
    if most is not None:
        remains.append(
            f"Who knows a person's quasi columns is right about the row, or the person, in at most {share(most, 1)} "
            "of the "
            "cases: the risk is bounded, not gone."
        )
    bare = [
        name
        for name in facts.columns("sensitive")
        if not any(requirement.column == name for requirement in run.requirements)
    ]
    if bare:
        remains.append(f"No requirement is about {join_names(bare)}: in some class the value may be certain.")
    every, quasi_risk = risk.highest("published"), risk.highest()
    if every is not None and quasi_risk is not None and every > quasi_risk:
        is_single = len(risk.as_they_are) == 1
        remains.append(
            f"{join_names(risk.as_they_are)}: published as {'it is' if is_single else 'they are'}. Who knows such a "
            f"value finds a row with a probability of up to {share(every, 1)}."
        )
    if risk.journalist is None:
        remains.append(
            "Nothing is known of the population: the figures are for who knows that a person is in the table."
        )
    if facts.attack is None and facts.kept is None:
        remains.append("No attack was run for this report (--attack).")
    if facts.versions > 1 and not run.history:
        remains.append("What earlier versions reveal together with this one was not measured.")
    if facts.beside:
        remains.append(f"Other releases of the same source: {join_names(facts.beside)}.")
    missing = [title for title, text in context_pairs(facts.policy) if text == NOT_SAID]
    if missing:
        remains.append(f"The policy does not state: {', '.join(missing)}.")
    remains.append("Which columns somebody may know is the owner's judgement, which no figure checks.")
    return remains

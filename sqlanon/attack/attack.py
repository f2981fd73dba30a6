"""A release attacked by all means, and the figures put beside the promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.bayes import attack_by_bayes
from sqlanon.attack.box_matches import MOST_MISTAKES, BoxIndex, VictimBoxes
from sqlanon.attack.composition import attack_with_siblings, attack_with_versions
from sqlanon.attack.guesses import measure_homogeneity, measure_skewness
from sqlanon.attack.kinds import choose_kind
from sqlanon.attack.linkage import Sets, attack_by_linkage, choose_known_columns, of_classes, with_errors
from sqlanon.attack.material import Material, read
from sqlanon.attack.victim_boxes import tie
from sqlanon.attack.victim_sample import draw
from sqlanon.errors import PolicyError
from sqlanon.evaluate.subject import find_subject
from sqlanon.privacy.requirements import read_stored
from sqlanon.progress import Progress, SilentProgress
from sqlanon.release.catalog.rights import guard_reading
from sqlanon.release.verify import persons
from sqlanon.release.verify.stored_rows import read_counted
from sqlanon.results import AttackReport, BayesAttack, GuessAttack, LinkageAttack, SkewnessGain
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.engines.base import Engine
    from sqlanon.evaluate.subject import Subject
    from sqlanon.release.catalog.entry import Entry

    Crowds = dict[str, tuple[Longs, Ints]]


def attack(
    engine: Engine,
    release: str | None = None,
    *,
    known: Sequence[str] | None = None,
    victims: int | None = None,
    progress: Progress | None = None,
) -> AttackReport:
    """Attack a published release with the values of the source.

    Args:
        engine: the database that holds both.
        release: name or view of the release; None: the only release.
        known: quasi columns of which an attacker may know any set, at most 10; None: all.
        victims: published victims that are compared at most, drawn at random; None: all, or as many as
            `sqlanon.attack.victim_sample.WORK` allows.
        progress: gets how many rows are compared.

    Returns:
        Expected success; exact where no victims were drawn.

    Raises:
        PolicyError: no such release, no such column, more columns than are compared, or ``victims`` below 1.
        DatabaseError: the database refused.

    Cost: a scan and a sort of source and release; every different row of quasi values is compared with every different
    box.
    """
    if victims is not None and victims < 1:
        raise PolicyError(f"attack: {victims} victims: a whole number above 0")
    on = find_subject(engine, release)
    assert on.entry is not None
    columns = choose_known_columns(on.name, on.quasi, known)
    reporter = progress or SilentProgress()
    reporter.stage(on.name, "read")
    with Scratch(engine) as scratch:
        material = read(scratch, on)
        reporter.stage(on.name, "compare")
        report = _report(scratch, on, material, columns, victims, reporter)
    reporter.finish(on.name)
    return report


def _report(
    scratch: Scratch, on: Subject, material: Material, columns: Sequence[int], victims: int | None, reporter: Progress
) -> AttackReport:
    entry, facts = on.entry, on.form.facts
    assert entry is not None
    privacy, k = read_stored(entry.policy["privacy"]), int(entry.policy["privacy"].get("k") or 1)
    kind = choose_kind(entry)
    promised = k if k > 1 and not facts.exact else None
    # Representative values exclude none: there are no candidates by known values, only classes.
    shows = not facts.single or bool(facts.hides)
    fits, sets = BoxIndex(material, reporter), Sets.of(columns, len(material.quasi))
    ties = tie(scratch, fits) if shows and not facts.exact and material.tied and kind.grouped else None
    crowds = _crowds(scratch, entry, ties) if ties else {}
    sampled = draw(material, victims, _steps(material, sets, crowds)) if shows else material
    if sampled is not material:
        material = sampled
        fits, ties = BoxIndex(material, reporter), None
    linked, unit, lacking = (
        _attack_by_linkage(on, fits, sets, promised, ties, crowds)
        if shows
        else ((of_classes(material, promised),), "rows", [])
    )
    guesses: list[GuessAttack] = []
    gains: list[SkewnessGain] = []
    learnt: list[BayesAttack] = []
    for place in range(len(material.sensitive)):
        among = fits if shows and not facts.paired else None
        guesses += measure_homogeneity(among, material, place, privacy.l, classes=kind.grouped)
        gains += [measure_skewness(material, place)] if kind.grouped else []
        outcome = attack_by_bayes(fits, place, candidates=shows)
        if isinstance(outcome, str):
            lacking.append(outcome)
        else:
            learnt.append(outcome)
    reporter.stage(on.name, "versions")
    earlier, uncompared = attack_with_versions(scratch, on)
    return AttackReport(
        release=f"{entry.release}@{entry.version}",
        table=str(on.view),
        source=str(on.roles.relation.ref),
        format=facts.name,
        victims=material.published + material.left_out,
        published=material.published,
        drawn=material.drawn,
        unmatched=material.unmatched,
        boxes=len(material.members),
        counted=unit,
        quasi=tuple(on.quasi[a] for a in columns),
        k=k,
        linkage=linked,
        homogeneity=tuple(guesses),
        composition=(*earlier, *attack_with_siblings(scratch, on, material)),
        skewness=tuple(gains),
        bayes=tuple(learnt),
        not_measured=(*_list_limits(on, material), *lacking, *uncompared),
    )


def _steps(material: Material, sets: Sets, crowds: Crowds) -> float:
    """The cost of comparisons of a combination of quasi values with all boxes.

    They are compared once for linkage and twice for each sensitive column.
    """
    passes = 1 + 2 * len(material.sensitive)
    persons = sum(len(person) for _, person in crowds.values())
    return passes * max(material.cells.size, 1) + 4.0 * persons + sets.width * 2.0**sets.width


def _attack_by_linkage(
    on: Subject, fits: BoxIndex, sets: Sets, k: int | None, ties: VictimBoxes | None, crowds: Crowds
) -> tuple[tuple[LinkageAttack, ...], str, list[str]]:
    """Linkage without and with errors, the unit of candidates, and missing measures."""
    entry = on.entry
    assert entry is not None
    if on.form.facts.exact:
        return attack_by_linkage(fits, sets, k, None), "rows", []
    lacking = []
    counting = _list_identifiers(entry)
    if counting and not crowds:
        lacking.append("persons: the boxes of the version's classes are not known; candidates are counted by rows")
    attacks_of = [(name, attack_by_linkage(fits, sets, k, crowd)) for name, crowd in crowds.items()]
    # Of several identifiers the one that leaves the fewest persons counts.
    attacks_of = attacks_of or [("rows", attack_by_linkage(fits, sets, k, None))]
    unit, best = min(attacks_of, key=lambda pair: (pair[1][-1].fewest, -pair[1][-1].mean, pair[0]))
    wrong = None
    if crowds:
        lacking.append("errors: a wrong value is tried only where rows are counted, not persons")
    elif fits.material.drawn < fits.material.published:
        lacking.append(
            "errors: a wrong value is tried only where every victim is compared; --victims N with all of them does that"
        )
    elif ties is None:
        lacking.append(
            "errors: which box a victim is published in is not known"
            + (choose_kind(entry).missing_box or ": the source or the view changed since" * fits.material.tied)
        )
    else:
        wrong = with_errors(fits, sets, ties, k)
        if wrong is None:
            lacking.append(f"errors: more than {MOST_MISTAKES:,} additions; name fewer columns with --known")
    return (*best, *(wrong or ())), unit, lacking


def _list_identifiers(entry: Entry) -> tuple[str, ...]:
    """The identifiers by which k is promised over persons."""
    if persons.read_promised_persons(entry.policy) is None and not entry.policy["privacy"].get("of_persons"):
        return ()
    return read_counted(entry.policy)


def _crowds(scratch: Scratch, entry: Entry, ties: VictimBoxes) -> Crowds:
    """By identifier the persons of every box, each once."""
    crowds = {}
    for name, column in persons.find_link_columns(scratch.engine, entry).items():
        if name not in _list_identifiers(entry):
            continue
        with guard_reading(scratch.engine, entry.link):
            query = scratch.sql("attack/persons", linked=entry.link, person=column)
            place, person = scratch.fetch_arrays(query, ["int32", "int32"])
        box = np.array([ties.box_of.get(int(number), -1) for number in place], np.int64)
        order = np.argsort(box, kind="stable")
        # Rows of classes that the source has no more are in no box that is known.
        order = order[box[order] >= 0]
        crowds[f"persons ({name})"] = (box[order], person[order].astype(np.int32))
    return crowds


def _list_limits(on: Subject, material: Material) -> tuple[str, ...]:
    """Limits of the figures, each with the reason."""
    entry, facts = on.entry, on.form.facts
    assert entry is not None
    kind, lacking = choose_kind(entry), []
    if facts.exact:
        lacking.append(
            f"linkage against 1/k: format {facts.name} publishes the quasi values, and promises no k to who knows them"
        )
    if facts.single and not facts.hides:
        lacking.append(
            f"linkage by fewer columns: a cell of format {facts.name} is a representative value, which excludes no "
            "other; the figure is that of who knows a victim's class"
        )
        lacking.append(
            f"errors: a cell of format {facts.name} excludes no wrong value either; who knows a victim's class has no "
            "use for it"
        )
    if kind.not_left_out:
        lacking.append(kind.not_left_out)
    elif not material.tied:
        lacking.append(
            "rows left out: the private table that ties the version to its source is gone, so that every row counts as "
            "published"
        )
    if material.covered.unknown:
        lacking.append(
            f"{material.covered.unknown} published ranges end in values that the source does not have (it changed "
            "since, or the view was altered): they count as covering nothing"
        )
    if facts.exact:
        lacking.append(
            f"errors: format {facts.name} publishes the values, of which no wrong one is the victim's: the success is 0"
        )
    return (*lacking, *kind.lacking)

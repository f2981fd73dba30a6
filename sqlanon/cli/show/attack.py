"""Attacks on a release: a table of expected success against promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, count, make_sheet, measure, note, share, things

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.cli.show.sheet import Sheet
    from sqlanon.results import AttackReport, CompositionAttack, GuessAttack, LinkageAttack
    from sqlanon.results.counts import CountsAttackReport, CountsReader

HEAD = (
    ("attack", "wrap"),
    ("mean", "right"),
    ("best set", "right", 2),
    ("highest", "right"),
    ("fewest", "right", 3),
    ("promised", "right"),
    ("verdict", "left", 1),
)


def attack_report(screen: Screen, report: AttackReport) -> None:
    """Show every attack in a single table, and the limits of the figures."""
    lost = report.victims - report.published
    lacking = f", {count(lost)} of them left out of the release" if lost else ""
    screen.show(
        f"attacks on {clean(report.release)} ({clean(report.table)}), made of {clean(report.source)}",
        f"  {things(report.victims, 'victim')}{lacking}; {count(report.boxes)} different boxes; "
        "success is expected, and "
        + (
            "exact: every victim is compared"
            if report.drawn == report.published
            else f"measured on {count(report.drawn)} of them, drawn at random: means are within "
            f"{share(report.margin, 1)} (95 %), highest and fewest are theirs; --victims N draws more"
        ),
    )
    if report.unmatched:
        screen.show(
            f"  {things(report.unmatched, 'row')} of the source came or changed since: no "
            f"victim{'s' if report.unmatched > 1 else ''}"
        )
    rows = [_linkage(attack, report.counted) for attack in report.linkage]
    rows += [_guess(guess) for guess in report.homogeneity]
    rows += [_format_composition(attack) for attack in report.composition if not attack.why_not]
    screen.show("", make_sheet(HEAD, rows), "")
    if len(report.quasi) > 1:
        best = "; ".join(
            f"{', '.join(map(clean, attack.worst))} ({share(attack.worst_mean, 1)})"
            for attack in report.linkage
            if attack.subsets > 1 and not attack.errors
        )
        if best:
            screen.show(f"columns by which most is found: {best}")
    _show_unpromised(screen, report)
    for attack in report.composition:
        if attack.why_not:
            screen.show(note(f"not measured: {attack.kind} {attack.other}: {attack.why_not}"))
    for what in report.not_measured:
        screen.show(note(f"not measured: {what}"))
    if not report.held:
        screen.show("An attack EXCEEDS its promise.")


def _show_unpromised(screen: Screen, report: AttackReport) -> None:
    """The figures that no model promises to bound."""
    head = (("no model bounds", "wrap"), ("mean", "right"), ("highest", "right"), ("by table alone", "right"))
    rows = []
    for gain in report.skewness:
        name = clean(gain.column)
        rows.append((f"{name}: a class adds", share(gain.mean, 1), share(gain.highest, 1), ""))
        rows.append((f"{name}: times likelier", measure(gain.mean_ratio), measure(gain.highest_ratio), ""))
    for attack in report.bayes:
        name, base = clean(attack.column), share(attack.baseline, 1)
        rows.append((f"{name} by naive Bayes", share(attack.accuracy, 1), "", base))
        if attack.in_class is not None:
            rows.append((f"{name}, only values of candidates", share(attack.in_class, 1), "", base))
    if rows:
        screen.show(make_sheet(head, rows), "")


def _format_composition(attack: CompositionAttack) -> tuple[str, ...]:
    who = "" if attack.who == "common" else f", {attack.who}"
    return (
        f"with {attack.kind} {clean(attack.other)}{who}",
        share(attack.mean, 1),
        "",
        share(attack.highest, 1),
        things(attack.fewest, "row"),
        "none",
        "above 1/k" if attack.promised is not None and attack.highest > attack.promised else "",
    )


def _verdict(promised: float | None, exceeded: bool) -> str:
    return "EXCEEDED" if exceeded else "held" if promised is not None else ""


def _promise(promised: float | None) -> str:
    return share(promised, 1) if promised is not None else "none"


def _linkage(attack: LinkageAttack, counted: str) -> tuple[str, ...]:
    known_values = f"{count(attack.known)} known value{'s' if attack.known > 1 else ''}"
    wrong = ", one wrong" if attack.errors else ""
    return (
        f"{known_values}{wrong}",
        share(attack.mean, 1),
        share(attack.worst_mean, 1),
        share(attack.highest, 1),
        things(attack.fewest, counted.partition(" ")[0].removesuffix("s")) if attack.fewest else "",
        _promise(attack.promised),
        _verdict(attack.promised, attack.exceeded),
    )


def _guess(attack: GuessAttack) -> tuple[str, ...]:
    where = "class" if attack.among == "class" else "candidates"
    return (
        f"{clean(attack.column)} by {where}",
        share(attack.mean, 1),
        "",
        share(attack.highest, 1),
        "",
        _promise(attack.promised),
        _verdict(attack.promised, attack.exceeded),
    )


READERS = {
    "naive": "if only small cells were hidden",
    "outsider": "readers of the view",
    "versions": "readers of all versions, of newcomers",
    "rows": "readers of the rows as well",
    "insider": "persons alone in a cell",
    "averaging": "readers who average the noise",
}
"""Names for people of the kinds of readers of counts."""


def counts_attack_report(screen: Screen, report: CountsAttackReport) -> None:
    """Show the small cells that readers of counts find."""
    screen.show(
        f"attacks on {clean(report.release)} ({clean(report.table)}), made of {clean(report.source)}",
        f"  {things(report.cells, 'cell')}, {count(report.hidden)} {report.status}; {count(report.small)} of fewer "
        f"than {things(report.persons, 'person')}"
        + (f", new in one of {things(report.versions, 'version')}" if report.versions else ""),
        "",
        make_sheet(
            (
                ("reader", "wrap"),
                ("tried", "right"),
                ("cells", "right"),
                ("exactly", "right"),
                ("as small", "right"),
                ("guessed", "right"),
                ("verdict", "left"),
            ),
            [_counts_reader(reader) for reader in report.attacks],
        ),
    )
    if report.sums:
        screen.show("", _sums_sheet(report))
    undecided = sum(reader.undecided for reader in report.attacks)
    if undecided:
        screen.show(
            "", note(f"for {things(undecided, 'cell')} no table was found at both ends: intervals may be narrower")
        )
    if not report.held:
        screen.show("", "Readers FIND what the release promises to hide.")


SUM_READERS = {
    "naive": "if only sensitive cells were hidden",
    "outsider": "readers of the view",
    "rows": "readers of the rows as well",
    "contributor": "contributors, of dominating persons",
}
"""The same of readers of sums."""


def _sums_sheet(report: CountsAttackReport) -> Sheet:
    rows = [
        (
            clean(attack.measure),
            SUM_READERS[attack.name],
            count(attack.sought),
            count(attack.exact),
            count(attack.near),
            ("held" if attack.held else "FOUND") if attack.promised else "",
        )
        for attack in report.sums
    ]
    columns = (("sum", "left"), ("reader", "wrap"), ("sought", "right"), ("exactly", "right"), ("too near", "right"))
    return make_sheet((*columns, ("verdict", "left")), rows)


def _counts_reader(reader: CountsReader) -> tuple[str, ...]:
    verdict = ("held" if reader.held else "FOUND") if reader.promised else ""
    tried = (
        count(reader.readers)
        if reader.readers == reader.possible
        else f"{count(reader.readers)} of {count(reader.possible)}"
    )
    counts = (count(reader.cells), count(reader.exact), count(reader.below), share(reader.guess, 1))
    return (READERS[reader.name], tried, *counts, verdict)

"""Attacks that were run on the release with values of its source: success against promise."""

from __future__ import annotations

from sqlanon.report.document import Block, Section, Text, make_table
from sqlanon.results import AttackReport, LinkageAttack
from sqlanon.results.figures import count, measure, share, things

READING = (
    (
        "linkage",
        (
            "The attacker knows that a person is in the source and knows some values; he takes the rows that fit and "
            "picks one. Mean: over all persons and all choices of so many columns. Highest: of the person who is found "
            "most easily."
        ),
    ),
    ("one value wrong", "The same attacker is mistaken in one value without noticing. No promise is made for it."),
    ("homogeneity", "The attacker guesses the most frequent sensitive value among the rows where the person must be."),
    (
        "promised",
        (
            "What the policy bounds: 1/k for linkage, 1/l for homogeneity. It holds for who knows true values of all "
            "columns, and so of fewer."
        ),
    ),
    (
        "other versions and releases",
        (
            "Who finds a person in two publications is left with the rows that both have in common. k of each does not "
            "bound that."
        ),
    ),
    (
        "a class adds",
        (
            "By how much the share of a value is larger in a class than in the whole release: what who knows the class "
            "learns beyond the table."
        ),
    ),
    (
        "naive Bayes",
        (
            "A classifier that learnt from the release guesses the sensitive value. More than by the table alone means "
            "that the release teaches something about everybody, also about persons who are not in it: a useful "
            "release does."
        ),
    ),
)


def report_attacks(report: AttackReport) -> Section:
    """Results of `sqlanon attack`."""
    rows = [_linkage(linkage, report.counted) for linkage in report.linkage]
    exceeded = [linkage.exceeded for linkage in report.linkage]
    for guess in report.homogeneity:
        where = "class" if guess.among == "class" else "candidates"
        rows.append(
            (
                f"homogeneity: {guess.column} by {where}",
                _likely(guess.mean),
                _likely(guess.highest),
                "",
                *_verdict(guess.promised, guess.exceeded),
            )
        )
        exceeded.append(guess.exceeded)
    failed = frozenset(index for index, is_exceeded in enumerate(exceeded) if is_exceeded)
    head = "attack | >mean | >highest | >fewest candidates | >promised | result"
    blocks: list[Block] = []
    if not report.held:
        blocks.append(Text("An attack exceeds what is promised: the view is not what was published.", warning=True))
    blocks.append(make_table("Success of attacks", head, rows, failed))
    blocks += [*_report_compositions(report), *_report_unpromised(report)]
    if report.unmatched:
        blocks.append(Text(f"{things(report.unmatched, 'row')} of the source came or changed since, not attacked."))
    blocks += [
        Text(f"Not measured: {attack.kind} {attack.other}: {attack.why_not}")
        for attack in report.composition
        if attack.why_not
    ]
    blocks += [Text(f"Not measured: {what}") for what in report.not_measured]
    lost = report.victims - report.published
    left_note = f"; {count(lost)} of them are left out of the release and found by nobody" if lost else ""
    how = "exactly for"
    if report.drawn < report.published:
        how = f"for {things(report.drawn, 'row')} drawn at random (means within {share(report.margin, 1)}, 95 %) of"
    return Section(
        "attacks",
        "Attacks",
        f"How often somebody with values of the source is expected to succeed, computed {how} "
        f"{things(report.victims, 'row')}{left_note}.",
        tuple(blocks),
        READING,
    )


def _linkage(attack: LinkageAttack, counted: str) -> tuple[str, ...]:
    known_columns = (
        f"linkage: {count(attack.known)} value{'s' if attack.known > 1 else ''} "
        f"known{', one value wrong' if attack.errors else ''}"
    )
    fewest = things(attack.fewest, counted.partition(" ")[0].removesuffix("s")) if attack.fewest else ""
    return (
        known_columns,
        _likely(attack.mean),
        _likely(attack.highest),
        fewest,
        *_verdict(attack.promised, attack.exceeded),
    )


def _verdict(promised: float | None, exceeded: bool) -> tuple[str, str]:
    return (
        "none" if promised is None else _likely(promised),
        "EXCEEDED" if exceeded else "held" if promised is not None else "",
    )


def _report_compositions(report: AttackReport) -> list[Block]:
    """Who finds a person in two publications."""
    rows = [
        (
            f"{attack.kind} {attack.other}" + ("" if attack.who == "common" else f", {attack.who}"),
            count(attack.rows),
            _likely(attack.mean),
            _likely(attack.highest),
            "above 1/k" if attack.promised is not None and attack.highest > attack.promised else "",
        )
        for attack in report.composition
        if not attack.why_not
    ]
    head = "together with | >rows | >mean | >highest | no promise bounds it"
    return [make_table("With other versions and releases", head, rows)] if rows else []


def _report_unpromised(report: AttackReport) -> list[Block]:
    """Results that no model promises to bound."""
    blocks: list[Block] = []
    gains = [
        (
            attack.column,
            _likely(attack.mean),
            _likely(attack.highest),
            f"{measure(_round_steady(attack.highest_ratio))} times",
        )
        for attack in report.skewness
    ]
    if gains:
        head = "sensitive column | >a class adds, mean | >highest | >likelier, at most"
        blocks.append(make_table("What a class says beyond the table", head, gains))
    guesses = [
        (
            attack.column,
            _likely(attack.accuracy),
            _likely(attack.in_class) if attack.in_class is not None else "-",
            _likely(attack.baseline),
        )
        for attack in report.bayes
    ]
    if guesses:
        head = "sensitive column | >guessed right | >among values of candidates | >by the table alone"
        blocks.append(make_table("Guesses by naive Bayes", head, guesses))
    return blocks


def _likely(value: float) -> str:
    return share(_round_steady(value), 1)


def _round_steady(value: float) -> float:
    """Without the last digits of a sum, which may depend on its order."""
    return float(f"{value:.10g}")

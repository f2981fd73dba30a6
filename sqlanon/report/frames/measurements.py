"""Statements that several frames make: each about one thing, with the command that measured it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.declared import REQUIREMENTS
from sqlanon.report.decision import read_threshold, review_date, within
from sqlanon.report.document import State, Statement
from sqlanon.report.frames.base import VersionFacts
from sqlanon.results.figures import count, join_names, measure, share, things

UNCOUNTED = "not counted for this kind of release"


def say_k(facts: VersionFacts) -> Statement:
    """How many rows look alike."""
    run = facts.run
    about = "rows that look alike in the columns that may identify, at least"
    if facts.risk.rows is None:
        return Statement(
            about,
            "the rows are published exactly, in groups by sensitive value",
            "look at it",
            facts.call("audit"),
            "k",
        )
    shown = f"{count(run.min_class)} (in {things(run.classes, 'class')}, at most {count(run.max_class)})"
    if not run.shape.grouped:
        shown = f"{count(run.min_class)} rows fit each box, by the private certificate"
    return Statement(about, shown, "measured", facts.measured_by_run, "k")


def _say_prosecutor(facts: VersionFacts) -> Iterator[Statement]:
    """The highest risk, of rows and of persons."""
    risk = facts.risk
    for value, who, word in ((risk.rows, "row", "prosecutor"), (risk.persons, "person", "persons")):
        if value is not None:
            about = f"highest probability that a {who} is found by the quasi columns"
            yield Statement(about, share(value, 1), "measured", facts.measured_by_run, word)


def say_published(facts: VersionFacts) -> Statement:
    """The risk by every published column."""
    about = "the same by every published column but the sensitive ones"
    risk = facts.risk
    if risk.highest("published") is None:
        return Statement(about, UNCOUNTED, "not measured", facts.call("audit"), "published")
    risks = ((risk.published, "row"), (risk.published_persons, "person"))
    shown = [f"{share(value, 1)} of a {who}" for value, who in risks if value is not None]
    more = f"as they are: {join_names(risk.as_they_are)}" if risk.as_they_are else "no other column is published"
    return Statement(about, "; ".join((*shown, more)), "measured", facts.measured_by_run, "published")


def say_risk(facts: VersionFacts) -> Iterator[Statement]:
    """Rows that look alike, and the risks of a person in the source, in the release and in a population."""
    yield say_k(facts)
    yield from _say_prosecutor(facts)
    yield say_published(facts)
    yield _say_journalist(facts)


def _say_journalist(facts: VersionFacts) -> Statement:
    """The risk in a population."""
    about = "highest probability that a person of the population is found"
    value = facts.risk.journalist
    if value is None:
        why = "nothing is known of the population; it is at most the probability above"
        return Statement(about, why, "not measured", facts.call("audit", "--population", "TABLE"), "journalist")
    sentence = _by_every(value, facts.risk.published_journalist, "at most ")
    return Statement(about, sentence, "measured", facts.measured_by_run, "journalist")


def say_marketer(facts: VersionFacts) -> Statement:
    """The mean risk."""
    about = "share of all rows that is expected to be found"
    value = facts.risk.marketer
    if value is None:
        return Statement(about, UNCOUNTED, "not measured", facts.call("audit"), "marketer")
    sentence = _by_every(value, facts.risk.published_marketer)
    return Statement(about, sentence, "measured", facts.measured_by_run, "marketer")


def _by_every(value: float, every: float | None, bound: str = "") -> str:
    """A risk by the quasi columns, and by every published column."""
    more = "not measured" if every is None else f"{bound}{share(every, 1)}"
    return f"{share(value, 1)} by the quasi columns, {more} by every published column but the sensitive ones"


def say_threshold(facts: VersionFacts) -> Statement:
    """The accepted risk and whether it is kept."""
    threshold = read_threshold(facts.policy)
    about = "the risk that was accepted, at most"
    if threshold is None:
        return Statement(about, "the policy has none", "not measured", "threshold in the policy", "threshold")
    met = within(facts.policy, facts.run)
    verdict = "not measured" if met is None else "met" if met else "EXCEEDED"
    most, attacker, over, because = threshold
    sentence = f"{share(float(most), 1)} ({most}), {attacker}, {over} columns: {verdict}. {because}"
    return Statement(about, sentence, "measured" if met else "look at it", facts.measured_by_run, "threshold")


def say_values(facts: VersionFacts) -> Iterator[Statement]:
    """Bounds of inference for each sensitive column."""
    sensitive = facts.columns("sensitive")
    if not sensitive:
        yield Statement("sensitive columns", "the policy names none", "stated", facts.call("releases show"), "role")
    for name in sensitive:
        results = [
            result
            for result in facts.requirements()
            if result.column == name and REQUIREMENTS.get(result.name) is not None
        ]
        about = f"how sure a reader can be of {name} by the class"
        if not results:
            why = "no requirement is about this column: in some class its value may be certain"
            yield Statement(about, why, "look at it", facts.call("audit", "--sensitive", name), "diversity")
        for result in results:
            sentence = f"{result.title} is {measure(result.reached)}, {measure(result.asked)} was asked"
            if result.name == "l" and result.reached:
                sentence += f": the most frequent value has at most {share(1 / result.reached, 1)} of a class"
            yield Statement(
                about, sentence, "measured", facts.measured_by_run, "l" if result.name == "l" else "diversity"
            )


def say_attacks(facts: VersionFacts, *kinds: str) -> Iterator[Statement]:
    """Results of attacks: ``linkage``, ``homogeneity`` or ``bayes``."""
    by = facts.call("attack")
    if facts.attack is None:
        yield _say_kept_attacks(facts, kinds)
        return
    if "linkage" in kinds:
        for link in facts.attack.linkage:
            wrong = ", one of them wrong" if link.errors else ""
            promised = "" if link.promised is None else f"; promised at most {share(link.promised, 1)}"
            sentence = f"{share(link.mean, 1)} on average, {share(link.highest, 1)} at most{promised}"
            about = f"attack: the right row is picked with {things(link.known, 'value')} known{wrong}"
            yield Statement(about, sentence, "look at it" if link.exceeded else "measured", by, "attack")
    if "homogeneity" in kinds:
        for guess in facts.attack.homogeneity:
            sentence = f"right in {share(guess.mean, 1)} on average, {share(guess.highest, 1)} at most"
            about = f"attack: the most frequent {guess.column} of the {guess.among} is guessed"
            yield Statement(about, sentence, "look at it" if guess.exceeded else "measured", by, "attack")
    if "bayes" in kinds:
        for bayes_guess in facts.attack.bayes:
            sentence = (
                f"right in {share(bayes_guess.accuracy, 1)}, by the table alone in {share(bayes_guess.baseline, 1)}"
            )
            yield Statement(
                f"attack: {bayes_guess.column} is guessed by naive Bayes", sentence, "measured", by, "attack"
            )


def _say_kept_attacks(facts: VersionFacts, kinds: Sequence[str]) -> Statement:
    """Kept results of attacks on this version, where none were run for the report."""
    stored, about = facts.kept, f"attacks: {' and '.join(kinds)}"
    shown = (
        []
        if stored is None
        else [
            f"{what} {share(mean, 1)} on average, {share(highest, 1)} at most"
            for kind, what, mean, highest in (
                ("linkage", "the right row is picked with", stored.found, stored.found_highest),
                ("homogeneity", "the sensitive value is guessed with", stored.learned, stored.learned_highest),
            )
            if kind in kinds and mean is not None and highest is not None
        ]
    )
    if stored is None or not shown:
        return Statement(about, "not run for this report", "not measured", facts.call("attack"), "attack")
    sentence = f"{'; '.join(shown)}, on {stored.made_at[:10]}"
    return Statement(
        about, sentence, "measured" if stored.held else "look at it", facts.call("attack", "--keep"), "attack"
    )


def say_linkability(facts: VersionFacts) -> Iterator[Statement]:
    """Tokens, versions, other releases, outside data."""
    tokens = facts.columns("pseudonym")
    if tokens:
        sentence = f"{', '.join(tokens)}: the rows of a person are joined by design"
        yield Statement("rows of one person", sentence, "look at it", facts.call("releases show"), "token")
    else:
        sentence = "no pseudonym joins them; equal values of columns that are published as they are may"
        yield Statement("rows of one person", sentence, "stated", facts.call("releases show"), "token")
    if facts.run.history:
        for comparison in facts.run.history:
            sentence = (
                comparison.unknown
                or f"{things(comparison.failing, 'row')} in groups below the policy by versions "
                f"{comparison.old}, {comparison.new}"
            )
            state: State = "not measured" if comparison.unknown else "look at it" if comparison.failing else "measured"
            yield Statement(
                "this version and the one before", sentence, state, facts.call("audit", "--history"), "versions"
            )
    elif facts.versions > 1:
        sentence = f"{count(facts.versions)} versions; without key in the policy they cannot be compared"
        yield Statement("earlier versions", sentence, "not measured", facts.call("audit", "--history"), "versions")
    else:
        yield Statement("earlier versions", "there are none", "measured", facts.call("releases"), "versions")
    if facts.beside:
        sentence = f"{', '.join(facts.beside)} are published of the same source"
        by = facts.call("audit", "--together", facts.beside[0])
        yield Statement("other releases of the source", sentence, "not measured", by, "versions")
    sentence = facts.context.get("other_data") or "the policy does not say what recipients may have"
    yield Statement(
        "data of others",
        sentence,
        "stated" if facts.context.get("other_data") else "look at it",
        "context.other_data in the policy",
        "outside",
    )


def say_loss(facts: VersionFacts) -> Statement:
    """Loss of the version."""
    run = facts.run
    if run.loss.rce is not None:
        return Statement("what was lost", "the quasi columns are exact", "measured", facts.measured_by_run, "loss")
    shown = f"GCP {run.gcp:.4f}; by column " + ", ".join(
        f"{name} {values['ncp']:.3f}" for name, values in list(run.loss.columns.items())[:12]
    )
    more = len(run.loss.columns) - 12
    return Statement(
        "what was lost", shown + (f" and {more} more" if more > 0 else ""), "measured", facts.measured_by_run, "loss"
    )


def say_suppressed(facts: VersionFacts) -> Statement:
    """Rows that lost everything."""
    run = facts.run
    sentence = f"{count(run.suppressed)} of {things(run.rows, 'row')}, {count(run.left_out)} of them not published"
    return Statement("suppressed rows", sentence, "measured", facts.measured_by_run, "suppressed")


def say_approval(facts: VersionFacts) -> Statement:
    """Who approved the policy."""
    in_force = [
        approval
        for approval in facts.approvals
        if approval.action == "approved" and not approval.is_revoked(facts.approvals)
    ]
    of_policy = [approval for approval in in_force if approval.policy_hash == facts.entry.policy_hash]
    by = facts.call("approvals")
    if facts.approvals and not in_force:
        last = max(
            (approval for approval in facts.approvals if approval.action == "revoked"),
            key=lambda version: version.place,
        )
        return Statement(
            "approval", f"revoked by {last.approver} on {last.given_at[:10]}", "look at it", by, "approval"
        )
    if not of_policy:
        return Statement("approval", "nobody approved this policy", "look at it", by, "approval")
    approval = max(of_policy, key=lambda version: version.place)
    terms = f"; condition: {approval.terms}" if approval.terms else ""
    sentence = f"{approval.approver} on {approval.given_at[:10]}, until {approval.until}{terms}"
    return Statement("approval", sentence, "stated", by, "approval")


def say_review(facts: VersionFacts) -> Statement:
    """When it is due for review."""
    due = review_date(facts.entry)
    sentence = f"due on {due}" if due else "the policy does not say when"
    return Statement("review", sentence, "stated" if due else "look at it", "review in the policy", "approval")

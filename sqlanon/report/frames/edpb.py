"""Guidelines 01/2025 of the European Data Protection Board: domain, secret, separation and reversal of pseudonyms."""

from __future__ import annotations

from sqlanon.report.document import Section, Statement, Statements, Text
from sqlanon.report.frames.base import CHECK, NO_COMMAND, Frame, VersionFacts
from sqlanon.report.frames.measurements import say_k, say_linkability, say_published, say_values
from sqlanon.results.figures import count


def _pseudonyms(facts: VersionFacts) -> tuple[Statement, ...]:
    (column,) = [column for column in facts.policy["columns"] if column["role"] == "pseudonym"]
    scope = column.get("scope") or facts.entry.release
    secret = column.get("secret")
    readers = facts.policy.get("readers") or ()
    rights = facts.engine.rights is not None
    rotates = (facts.policy.get("together") or {}).get("rotate")
    rotated = "new tokens with every version" if rotates else "the same tokens in every version"
    holder = (
        f"the environment variable {secret} of who runs the release"
        if secret
        else "the private schema _sqlanon, of the role that runs the release"
    )
    apart = (
        f"the database gives {', '.join(readers) or 'no named role'} the view alone; runs stop while any other role "
        "has "
        "rights in the private schema"
        if rights
        else "this engine has no rights: whoever opens the database reads the private schema as well"
    )
    show = facts.call("releases show")
    return (
        Statement("pseudonymised column", f"{column['name']}: {rotated}", "stated", show, "token"),
        Statement("pseudonymisation domain", f"releases of the scope {scope}", "stated", show, "token"),
        Statement("who holds the secret", holder, "stated", show, "token"),
        Statement("separation", apart, "measured" if rights else "look at it", facts.measured_by_run, "token"),
        Statement(
            "reversal",
            "a keyed hash: no command turns a token back; who has the secret and the list of persons can try each",
            "stated",
            NO_COMMAND,
            "token",
        ),
        Statement(
            "attribution by additional information",
            f"quasi columns are generalized to at least {count(facts.run.min_class)} rows; see the statements below",
            "measured",
            facts.measured_by_run,
            "k",
        ),
    )


def _sections(facts: VersionFacts) -> tuple[Section, ...]:
    rest = (say_k(facts), say_published(facts), *say_values(facts), *say_linkability(facts))
    return (
        Section(
            "pseudonyms",
            "Pseudonymisation",
            "Pseudonymised data are personal data. What separates them from the persons, and who could undo it.",
            (Statements("Pseudonymisation", _pseudonyms(facts)), Text(CHECK)),
        ),
        Section(
            "attribution",
            "Attribution without the secret",
            "What the published columns reveal of a person to who has no secret.",
            (Statements("Attribution", rest),),
        ),
    )


EDPB = Frame(
    "edpb2025",
    "Pseudonymisation",
    "European Data Protection Board, Guidelines 01/2025 on Pseudonymisation",
    _sections,
    lambda facts: "" if facts.columns("pseudonym") else "it has no pseudonym, and this frame is about them",
)

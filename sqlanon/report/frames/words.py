"""Definitions that statements of frames link to, in words for people who decide on a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlanon.report.document import Section, Statements, Words
from sqlanon.report.requirement_levels import READING

WORDS: Mapping[str, tuple[str, str]] = {
    "k": (
        "k, rows that look alike",
        (
            "k = 10 means: whoever knows all quasi columns of a person finds at least 10 rows that look alike, and "
            "is right "
            "about the row in at most 1 of 10 cases. It does not say what the 10 rows have in common (Sweeney 2002; "
            "docs/models.md)."
        ),
    ),
    "persons": (
        "k over persons",
        (
            "Where a person may have several rows: at least so many different persons are in every class "
            "(docs/persons.md)."
        ),
    ),
    "prosecutor": (
        "prosecutor risk",
        (
            "The probability that who knows a person to be in the table picks the right row: 1 / rows of the class. "
            "The "
            "highest is that of the smallest class (El Emam and Dankar 2008; docs/risk.md)."
        ),
    ),
    "journalist": (
        "journalist risk",
        (
            "The same for who does not know whether the person is in the table: 1 / persons of the population in the "
            "class. "
            "Never above the prosecutor's (docs/risk.md)."
        ),
    ),
    "marketer": (
        "marketer risk",
        (
            "The share of all rows that is expected to be matched with the right person: classes / rows (Dankar and "
            "El Emam "
            "2010; docs/risk.md)."
        ),
    ),
    "published": (
        "risk by every published column",
        (
            "1 / rows of the smallest group that is equal in every published column but the sensitive ones. It "
            "counts where "
            "somebody may know a value that is published as it is."
        ),
    ),
    "threshold": (
        "threshold",
        (
            "The risk that the owner accepts, by the policy, with a reason. 0.09 is 1/11, a group of 11. A run above "
            "it "
            "publishes nothing (docs/evidence.md)."
        ),
    ),
    "l": (
        "l, values in a class",
        (
            f"{READING['l']} It does not promise that a value is as unlikely as in the whole table, nor that the "
            "values of a "
            "class differ in what they mean (Machanavajjhala et al. 2007; docs/models.md)."
        ),
    ),
    "diversity": (
        "requirements on sensitive values",
        (
            "What limits how sure a reader can be of a sensitive value by knowing the class: l, distinct_l, entropy_l, "
            "recursive_cl, alpha, t, beta, delta_disclosure (docs/models.md)."
        ),
    ),
    "attack": (
        "attacks",
        "Expected success of attackers who know values of the source, computed on the release (docs/attack.md).",
    ),
    "token": (
        "pseudonym, token",
        (
            "A keyed hash that is published in place of who the person is. It joins the rows of a person by design: "
            "pseudonymized data are personal data (docs/pseudonyms.md)."
        ),
    ),
    "versions": (
        "versions together",
        (
            "Who keeps an old version and gets a new one can compare them: rows that both set apart in groups below "
            "the "
            "policy (docs/refresh.md)."
        ),
    ),
    "context": (
        "context",
        (
            "Purpose, recipients, environment, controls, other data, legal basis and owner, in the words of the "
            "policy. "
            "Nothing interprets them (docs/evidence.md)."
        ),
    ),
    "approval": (
        "approval",
        "A decision that is recorded, bound to the policy and to the figures, until a day (docs/evidence.md).",
    ),
    "role": (
        "role of a column",
        (
            "identifier: left out; pseudonym: a token; quasi: may identify together with others, generalized; "
            "sensitive: "
            "must not be learnt; insensitive: published as it is (docs/policy.md)."
        ),
    ),
    "loss": (
        "loss, NCP and GCP",
        (
            "The part of a column's range that a value may now lie in: 0 is the exact value, 1 is any value. GCP is "
            "the "
            "mean of all quasi columns (docs/metrics.md)."
        ),
    ),
    "suppressed": (
        "suppressed rows",
        (
            "Rows that lose all their quasi values, or are not published, because they fit into no class "
            "(docs/suppress.md)."
        ),
    ),
    "safe_harbor": (
        "Safe Harbor",
        (
            "45 CFR 164.514(b)(2): 18 kinds of identifiers are removed, and nobody has actual knowledge that what is "
            "left "
            "could identify somebody."
        ),
    ),
    "zip3": (
        "first three digits of a ZIP code",
        (
            "Allowed where all ZIP codes with these digits hold more than 20,000 people; otherwise 000. By the "
            "census of 2000 "
            "17 prefixes hold fewer (Department of Health and Human Services, Guidance Regarding Methods for "
            "De-identification, 2012)."
        ),
    ),
    "outside": (
        "outside data",
        (
            "Registers, social media, what neighbours know. No command knows them: the quasi columns are the owner's "
            "judgement of what they hold."
        ),
    ),
    "uniques": (
        "expected re-identifications",
        "Rows times the mean risk: how many rows are expected to be matched with the right person (docs/risk.md).",
    ),
    "suda": (
        "special uniques",
        (
            "Rows that are unique by few columns (SUDA2: Elliot, Manning and Ford 2002). In a release of classes of "
            "k rows no "
            "row is unique in its quasi columns."
        ),
    ),
    "changed_cell": (
        "small cell",
        ("A cell of fewer persons than the threshold. Its number is changed, as all numbers are (docs/statistics.md)."),
    ),
    "small_cell": (
        "small cell",
        (
            "A cell of fewer persons than the threshold. Its number is hidden, and others with it from whose sums it "
            "would follow; readers do not see which are which (docs/statistics.md)."
        ),
    ),
    "certificate": (
        "certificate",
        (
            "Other tables of whole numbers that agree with everything published, in which each small cell has its "
            "least number, and the threshold or more. They are checked by sums, so that no search is trusted."
        ),
    ),
    "rounding": (
        "controlled rounding",
        (
            "Numbers go to a multiple below or above, so that all sums hold. A published 0 says that a cell is small "
            "(Cox 1987; docs/statistics.md)."
        ),
    ),
    "noise": (
        "cell key",
        (
            "The noise of a number depends on who is in the cell: the same persons have the same in every table. To "
            "fit numbers that add up takes a part of it away (Thompson, Broadfoot and Elazar 2013; docs/statistics.md)."
        ),
    ),
    "zeros": ("empty cells", "A cell that is not listed has nobody, and a listed one has somebody."),
    "lost_cells": ("loss of counts", "How many numbers are missing, or how far they are from the true ones."),
}


def define_words(sections: Iterable[Section]) -> Section:
    """The definitions of all statements of some sections, each once."""
    used_words = dict.fromkeys(
        item.word
        for section in sections
        for block in section.blocks
        if isinstance(block, Statements)
        for item in block.items
    )
    items = tuple((name, *WORDS[name]) for name in used_words)
    return Section(
        "words",
        "Words",
        "What the statements mean. Each statement above links to its definition here.",
        (Words(items),),
    )

"""Keys of people's decisions about a release (``context``, ``threshold``, ``review``), as entries of the table."""

from __future__ import annotations

from typing import Final, get_args

from sqlanon.decision_spec import Attacker, Over
from sqlanon.declared.key import Form, Key
from sqlanon.declared.kinds import DURATION, FLAG, SIGNER, TEXT
from sqlanon.declared.records import Names
from sqlanon.declared.thresholds import PRESETS
from sqlanon.declared.values import SHARE, OneOf

DECISION_KEYS: Final[tuple[Key, ...]] = (
    Key(
        "context",
        None,
        None,
        "The circumstances of the release, in your own words: stored with the policy, printed in reports, never "
        "interpreted. See [evidence.md](evidence.md).",
        "Mapping[str, str]",
        "--context",
        "The circumstances of the release, such as purpose=...",
        written=Form.KEY_PAIRS,
        value="KEY=TEXT",
    ),
    Key(
        "threshold",
        None,
        None,
        "The risk that is accepted, at most. A run measures it on the written table, and publishes nothing where it is "
        "higher (exit code 1). The name of a guideline alone may be written as text: `threshold: ema0070`.",
        "str | Mapping[str, object]",
        "--threshold",
        f"The risk that is accepted: preset=[{'|'.join(PRESETS)}], or risk=0.05 and because=...",
        written=Form.KEY_PAIRS,
        value="KEY=VALUE",
    ),
    Key(
        "review",
        DURATION,
        None,
        "How long after its publication a version is due for review: 365d. Reports print the date; nothing stops.",
        "str",
        "--review",
        "How long until it is due for review, such as 365d.",
        value="TIME",
    ),
    Key("context.purpose", TEXT, None, "What the data are used for."),
    Key("context.recipients", TEXT, None, "Who gets them."),
    Key("context.environment", TEXT, None, "Where they are used."),
    Key("context.controls", TEXT, None, "Contracts, access rules and logs there."),
    Key("context.other_data", TEXT, None, "What recipients may have beside the release."),
    Key("context.legal_basis", TEXT, None, "The legal basis of the processing."),
    Key("context.owner", TEXT, None, "Who answers for the release."),
    Key(
        "threshold.preset",
        OneOf(tuple(PRESETS)),
        None,
        "A guideline. " + " ".join(f"`{name}`: {preset.about} ({preset.source})." for name, preset in PRESETS.items()),
    ),
    Key(
        "threshold.risk",
        SHARE,
        None,
        "The probability of being found, at most. 0.09 and 0.33 are taken as 1/11 and 1/3, which guidelines round to "
        "them; any other number exactly as it is written. Default: that of the guideline.",
    ),
    Key("threshold.because", TEXT, None, "Why this number; required where no guideline has one."),
    Key(
        "threshold.attacker",
        OneOf(get_args(Attacker)),
        "prosecutor",
        "`prosecutor`: the row, or the person, that is found most easily by who knows that it is in the table; "
        "`journalist`: by who does not, in the population of `k_map`; `marketer`: the mean over all rows.",
    ),
    Key(
        "threshold.over",
        OneOf(tuple(reversed(get_args(Over)))),
        "published",
        "`published`: every published column but the sensitive ones is known; `quasi`: the quasi columns alone, for "
        "columns that are published as they are and that nobody can know of a person.",
    ),
    Key(
        "refresh.needs_approval",
        FLAG,
        False,
        "A run stops unless `sqlanon approve` has recorded an approval of this policy that has neither expired nor "
        "been revoked.",
    ),
    Key(
        "refresh.signers",
        Names(SIGNER),
        (),
        "With `needs_approval`: who may approve, as lines of a file of allowed signers (`man ssh-keygen`): a name, in "
        "double quotes where it has a space, and a public key. An approval holds only if `approve --sign` signed it by "
        "the key of the name that approved.",
    ),
)

"""Context, threshold and review in policy files."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sqlanon.decision_spec import ContextSpec, ThresholdSpec
from sqlanon.errors import PolicyError
from sqlanon.policy.load import loads
from tests.unit.policy.samples import with_key


def written_with(key, text):
    return loads(with_key(f"{key}: {text}"), {}).releases[0]


ELEVEN = Fraction(1, 11)


@pytest.mark.parametrize(
    ("written", "risk", "rows"),
    [
        ("ema0070", ELEVEN, 11),  # EMA policy 0070: 0.09 is a group of 11
        ("health_canada", ELEVEN, 11),
        ("cell11", ELEVEN, 11),  # CMS: no cell of 10 or fewer
        ("{risk: 0.09, because: as others}", ELEVEN, 11),
        ("{preset: ema0070, risk: 0.09}", ELEVEN, 11),
        ("{risk: 0.33, because: as others}", Fraction(1, 3), 3),
        ("{risk: 0.05, because: smaller}", Fraction(1, 20), 20),
        ("{risk: 0.2, because: groups of 5}", Fraction(1, 5), 5),
        ("{risk: 0.3, because: exactly}", Fraction(3, 10), 4),
        ("{preset: hipaa, risk: 0.04, because: the expert's report}", Fraction(1, 25), 25),
    ],
)
def test_numbers(written, risk, rows):
    asked = written_with("threshold", written).threshold
    assert (asked.risk, asked.rows) == (risk, rows)
    # The largest risk within it is that of exactly so many rows.
    assert Fraction(1, rows) <= risk < Fraction(1, rows - 1)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("hipaa", "hipaa has no number"),
        ("ico", "ico has no number"),
        ("ema", "not a word known here (did you mean ema0070?)"),
        ("{because: none}", "risk: has no number"),
        ("{risk: 0.05}", "because: is missing"),
        ("{risk: 0, because: none}", "above 0"),
        ("{risk: 2, because: much}", "too large"),
        ("{preset: ema0070, risk: 0.2, because: more}", "not the number of ema0070"),
        ("{preset: ema0070, attacker: journalist}", "without k_map"),
        ("{preset: ema0070, other: 1}", "unknown key"),
    ],
)
def test_what_is_refused(written, said):
    with pytest.raises(PolicyError) as refused:
        written_with("threshold", written)
    assert said in str(refused.value)
    assert len(refused.value.problems) == 1


def test_every_published_column_counts_unless_the_policy_says_so():
    assert written_with("threshold", "ema0070").threshold.over == "published"
    assert written_with("threshold", "{preset: ema0070, over: quasi}").threshold.over == "quasi"
    assert written_with("threshold", "{preset: ema0070, attacker: marketer}").threshold.over == "published"


LINEAGE = """version: 1
connection: duckdb:///x.duckdb
releases:
  - {name: v, source: v, key: id, person: p, privacy: {k: 4}, refresh: {mode: frozen},
     columns: {id: identifier, p: identifier, age: quasi, cost: COST}, threshold: {preset: cell11, over: OVER}}
"""


@pytest.mark.parametrize(
    ("role", "over", "fits"),
    [("insensitive", "published", False), ("insensitive", "quasi", True), ("sensitive", "published", True)],
)
def test_persons_of_a_lineage_are_counted_by_class_alone(role, over, fits):
    text = LINEAGE.replace("COST", role).replace("OVER", over)
    if fits:
        assert loads(text, {}).releases[0].threshold.over == over
    else:
        with pytest.raises(PolicyError, match="persons are not counted by the columns that are published as they are"):
            loads(text, {})


def test_texts_are_kept_as_they_are():
    asked = written_with("context", "{purpose: 'a study: <b>', owner: A. Owner}").context
    assert asked == ContextSpec(purpose="a study: <b>", owner="A. Owner")
    with pytest.raises(PolicyError, match="unknown key"):
        written_with("context", "{reason: none}")
    assert written_with("review", "365d").review == 365 * 86400


def test_sources_are_named():
    asked = written_with("threshold", "{preset: ico, risk: 0.05, because: our board}").threshold
    assert isinstance(asked, ThresholdSpec)
    assert asked.because.startswith("Information Commissioner's Office")
    assert asked.because.endswith("; our board")


@pytest.mark.parametrize(
    ("signers", "said"),
    [
        ("['Alice ssh-ed25519 AAAAC3Nza']", None),
        ("['\"A. Officer\" ssh-ed25519 AAAAC3Nza ann@host', 'b@x namespaces=\"sqlanon\" ssh-rsa AAAA==']", None),
        ("Alice", "a line of a file of allowed signers"),
        ("['# Alice ssh-ed25519 AAAAC3Nza']", "a line of a file of allowed signers"),
        ('["Alice ssh-ed25519 AAAA\\nEve ssh-ed25519 AAAA"]', "a line of a file of allowed signers"),
    ],
)
def test_signers(signers, said):
    text = f"{{needs_approval: true, signers: {signers}}}"
    if said is None:
        assert all(" ssh-" in one for one in written_with("refresh", text).refresh.signers)
        with pytest.raises(PolicyError, match="without needs_approval no approval is read"):
            written_with("refresh", f"{{signers: {signers}}}")
    else:
        with pytest.raises(PolicyError, match=said):
            written_with("refresh", text)

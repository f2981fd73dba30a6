"""Signatures of approvals: who may sign, and what a signature binds."""

from __future__ import annotations

import datetime
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from sqlanon.errors import GuardError, PrivacyViolation
from sqlanon.release.catalog.approvals import Approvals, hold_approval, plain_policy
from sqlanon.release.catalog.signatures import sign
from tests.refresh.approvals import ALICE, NEVER, date_in_days, spec_with_approval
from tests.refresh.conftest import fill


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen")
def test_signatures(shared_db, tmp_path):
    spec = spec_with_approval("a11")
    fill(shared_db, "a11", 40)
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    public = Path(f"{key}.pub").read_text(encoding="utf-8")
    signers, others = tmp_path / "signers", tmp_path / "others"
    signers.write_text(f"Alice {public}", encoding="utf-8")
    others.write_text(f"Carol {public}", encoding="utf-8")
    shared_db.approve("a11", planned=spec, key=key, **ALICE)
    assert shared_db.approvals("a11")[0].signed == "not checked"
    (one,) = shared_db.approvals("a11", signers=signers)
    assert one.signed == "by Alice"
    with pytest.raises(PrivacyViolation, match="not one of Alice"):
        shared_db.approvals("a11", signers=others)
    # Whoever may write the catalog cannot move the date of what was signed.
    moved = replace(one.approval, number=one.approval.number + 1000, until="9998-01-01")
    Approvals(shared_db.engine).add(moved)
    with pytest.raises(PrivacyViolation, match="not one of Alice for this text"):
        shared_db.approvals("a11", signers=signers)


def make_key_pair(folder, name="key"):
    """A new SSH key, and its public part."""
    key = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    return key, Path(f"{key}.pub").read_text(encoding="utf-8").strip()


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen")
def test_a_run_checks_signatures(shared_db, tmp_path):
    fill(shared_db, "a14", 40)
    (key, public), (other, _) = make_key_pair(tmp_path), make_key_pair(tmp_path, "other")
    spec = spec_with_approval("a14")
    spec = replace(spec, refresh=replace(spec.refresh, signers=(f'"Alice" {public}',)))
    shared_db.approve("a14", planned=spec, **ALICE)
    with pytest.raises(GuardError, match=r"is not signed, and refresh.signers wants it; nothing was published"):
        shared_db.run(spec)
    for by, wrong in (("Alice", other), ("Carol", key)):
        shared_db.approve("a14", by=by, until=NEVER, key=wrong, planned=spec)
        with pytest.raises(PrivacyViolation, match=f"not one of {by} for this text"):
            shared_db.run(spec)
    made = shared_db.approve("a14", planned=spec, key=key, **ALICE)
    assert shared_db.run(spec).outcome == "published"
    # Who may write the catalog can neither move the date nor put another policy under the signature.
    approvals = Approvals(shared_db.engine)
    approvals.add(replace(made, number=made.number + 1000, until="9998-01-01"))
    with pytest.raises(PrivacyViolation, match="not one of Alice for this text"):
        shared_db.run(spec)
    wider = replace(spec, privacy=replace(spec.privacy, k=2))
    approvals.add(replace(made, number=made.number + 1001, policy=plain_policy(wider)))
    with pytest.raises(PrivacyViolation, match=r"approval \d+ of a14: its policy is not the one whose hash was signed"):
        shared_db.run(wider, allow_weaker=True)
    signers = tmp_path / "signers"
    signers.write_text(f"Alice {public}", encoding="utf-8")
    # A policy that no longer names them, after a version whose policy did, needs a signed approval as well.
    without = replace(spec, refresh=replace(spec.refresh, signers=()))
    shared_db.approve("a14", planned=without, **ALICE)
    with pytest.raises(GuardError, match="is not signed"):
        shared_db.run(without, allow_weaker=True)
    shared_db.approve("a14", planned=without, key=key, **ALICE)
    with pytest.raises(GuardError, match=r"weaker.*refresh.signers"):
        shared_db.run(without)
    assert shared_db.run(without, allow_weaker=True).outcome in ("published", "unchanged")


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen")
def test_nobody_makes_himself_a_signer(shared_db, tmp_path):
    """Another list is approved by one of the list before; then the new one holds."""
    fill(shared_db, "a19", 40)
    (key, public), (own, mine) = make_key_pair(tmp_path), make_key_pair(tmp_path, "own")
    spec = spec_with_approval("a19")
    spec, other = (
        replace(spec, refresh=replace(spec.refresh, signers=(f"{name} {line}",)))
        for name, line in (("Alice", public), ("Eve", mine))
    )
    shared_db.approve("a19", planned=spec, key=key, **ALICE)
    shared_db.run(spec)
    shared_db.approve("a19", by="Eve", until=NEVER, key=own, planned=other)
    with pytest.raises(PrivacyViolation, match="not one of Eve for this text"):
        shared_db.run(other, allow_weaker=True)
    shared_db.approve("a19", planned=other, key=key, **ALICE)
    assert shared_db.run(other, allow_weaker=True).outcome == "unchanged"
    with pytest.raises(PrivacyViolation, match="not one of Alice for this text"):
        shared_db.run(other, full=True)
    shared_db.approve("a19", by="Eve", until=NEVER, key=own, planned=other)
    assert shared_db.run(other, full=True).version == 2


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen")
def test_a_signed_approval_that_was_moved(shared_db, tmp_path):
    """Numbers are not signed: with another one an approval neither outlives a revocation nor replaces a later one."""
    fill(shared_db, "a16", 40)
    key, public = make_key_pair(tmp_path)
    spec = spec_with_approval("a16")
    spec = replace(spec, refresh=replace(spec.refresh, signers=(f'"Alice" {public}',)))
    approvals = Approvals(shared_db.engine)
    now = datetime.datetime.now(datetime.UTC)

    def signed(minutes, until):
        """As `approve` made it some minutes ago."""
        made = shared_db.approve("a16", planned=spec, **ALICE)
        given = (now - datetime.timedelta(minutes=minutes)).isoformat(timespec="seconds")
        made = replace(made, given_at=given, until=until)
        return replace(made, signature=sign(made.statement, key))

    long, short = signed(9, NEVER), signed(6, date_in_days(1))
    shared_db.engine.execute(f"DELETE FROM {approvals.table.schema}.{approvals.table.name} WHERE release = 'a16'")
    approvals.add(short)
    approvals.add(replace(long, number=short.number + 1000))
    after = now + datetime.timedelta(days=5)
    with pytest.raises(GuardError, match="ended with"):
        hold_approval(shared_db.engine, spec, after)
    assert [one.state for one in shared_db.approvals("a16")] == ["valid", "replaced"]
    approvals.add(replace(short, number=short.number + 1, action="revoked", approver="Bob", given_at=now.isoformat()))
    with pytest.raises(GuardError, match="Bob revoked"):
        shared_db.run(spec)
    assert {one.state for one in shared_db.approvals("a16")} == {"revoked"}

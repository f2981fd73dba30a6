"""Bundles of evidence: the same bytes for the same version, no value of a cell, and no edit that is not noticed."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import random
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from sqlanon import policy
from sqlanon.decision_spec import ContextSpec
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.report.evidence import check_bundle
from sqlanon.report.evidence.archive import pack, unpack
from tests.engines import create_table
from tests.invoked import invoke

KINDS = {"id": "INTEGER", "name": "VARCHAR(20)", "age": "INTEGER", "zip": "VARCHAR(9)", "ill": "VARCHAR(20)"}


@pytest.fixture(scope="module")
def ward(shared_db):
    rows = [(n, f"canary{n}", 20 + n // 5, f"zipcanary{n // 20}"[:9], f"illcanary{n % 2}") for n in range(40)]
    create_table(shared_db, "ward", KINDS, rows)
    asked = {"quasi": ["age", "zip"], "sensitive": "ill", "identifiers": ["id", "name"], "k": 5, "l": 2}
    shared_db.anonymize("ward", name="ward", publish="release.ward", method="tree", **asked)
    return shared_db


@pytest.fixture(scope="module")
def bundle(ward):
    return ward.evidence("ward")


def refused(data, said, engine=None):
    with pytest.raises(PrivacyViolation, match=said):
        check_bundle(data, engine)


def changed(bundle, name, content):
    """The bundle with another file and a manifest that agrees with it: what a careful forger writes."""
    files = unpack(bundle) | {name: content}
    manifest = json.loads(files["manifest.json"])
    manifest["files"] = {one: hashlib.sha256(files[one]).hexdigest() for one in sorted(files) if one != "manifest.json"}
    manifest["policy_sha256"] = manifest["files"]["policy.json"]
    return pack(files | {"manifest.json": (json.dumps(manifest, sort_keys=True, indent=1) + "\n").encode()})


@pytest.mark.every_engine
@pytest.mark.parametrize("audience", ["owner", "readers"])
def test_the_same_bytes_and_no_value(ward, audience):
    made = ward.evidence("ward", audience=audience)
    assert made == ward.evidence("ward", audience=audience)
    found = check_bundle(made, ward.engine)
    assert (found.release, found.version, found.audience, found.compared) == ("ward", 1, audience, True)
    assert found.sha256 == hashlib.sha256(made).hexdigest()
    assert b"canary" not in made


def test_what_is_in_it(bundle, ward):
    files = unpack(bundle)
    assert {"approvals.json", "catalog.json", "figures.json", "figures.schema.json", "policy.json"} <= set(files)
    assert "report-wp216.html" in files
    assert "report-edpb2025.html" not in files  # no pseudonym
    readers = unpack(ward.evidence("ward", audience="readers"))
    assert set(readers) == {"figures.json", "figures.schema.json", "manifest.json", "policy.json", "report.html"}
    assert not {"left_out", "suppressed"} & set(json.loads(readers["figures.json"]))
    figures = json.loads(files["figures.json"])
    assert figures["risk"]["rows"] == pytest.approx(1 / figures["smallest"])
    schema = json.loads(files["figures.schema.json"])
    assert set(schema["properties"]) == set(figures)
    assert set(schema["properties"]["risk"]["properties"]) == set(figures["risk"])


def test_figures_follow_the_schema(bundle):
    jsonschema = pytest.importorskip("jsonschema")
    files = unpack(bundle)
    jsonschema.validate(json.loads(files["figures.json"]), json.loads(files["figures.schema.json"]))


def test_a_changed_byte(bundle):
    draw = random.Random(1)
    for at in [0, len(bundle) - 1, *(draw.randrange(len(bundle)) for _ in range(16))]:
        edited = bytearray(bundle)
        edited[at] ^= 1 << draw.randrange(8)
        with pytest.raises(PrivacyViolation):
            check_bundle(bytes(edited))


def test_files_that_come_and_go(bundle):
    files = unpack(bundle)
    refused(pack(files | {"more.txt": b"x"}), "not those of the manifest")
    refused(pack({name: one for name, one in files.items() if name != "policy.json"}), "not those of the manifest")
    refused(pack({name: one for name, one in files.items() if name != "manifest.json"}), "manifest.json is missing")
    refused(bundle + b"x", "byte for byte|no ZIP archive")
    refused(b"", "no ZIP archive")
    compressed = io.BytesIO()
    with zipfile.ZipFile(compressed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    refused(compressed.getvalue(), "too many, or compressed")


def test_archives_that_are_none(bundle):
    """Truncated ones, names that leave a folder, and files that are more than the archive has."""
    draw = random.Random(2)
    for at in [1, len(bundle) // 2, len(bundle) - 1, *(draw.randrange(len(bundle)) for _ in range(20))]:
        refused(bundle[:at], "not a bundle|byte for byte")
    files = unpack(bundle)
    for name in ("../out.txt", "/etc/out.txt", "a/b.txt", "..", "C:out.txt", "a\\b.txt", "Report.html", "x\x07.txt"):
        refused(changed(pack(files), name, b"x"), "a name that none of a bundle has")
    # One body of 200 kB, and 60 entries of the directory that point at it.
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.txt", b"0" * 200_000)
        for at in range(60):
            again = copy.copy(archive.filelist[0])
            again.filename = f"a{at}.txt"
            archive.filelist.append(again)
    assert len(bomb.getvalue()) < 300_000
    refused(bomb.getvalue(), "larger than the archive")


@pytest.mark.thorough
def test_an_edited_page(bundle, ward):
    page = unpack(bundle)["report-wp216.html"].replace(b"not measured", b"is very small")
    forged = changed(bundle, "report-wp216.html", page)
    assert check_bundle(bundle, ward.engine).pages is True
    assert check_bundle(forged, ward.engine).pages is False
    assert check_bundle(forged).pages is None
    readers = ward.evidence("ward", audience="readers")
    assert check_bundle(readers, ward.engine).pages is True
    assert check_bundle(changed(readers, "report.html", b"<p>fine"), ward.engine).pages is False
    other = json.loads(unpack(bundle)["manifest.json"])
    other["software"]["bundle"]["python"] = "2.7"
    old = pack(unpack(bundle) | {"manifest.json": json.dumps(other).encode()})
    assert check_bundle(old, ward.engine).pages is None
    assert {"python", "sqlanon", "numpy"} <= set(json.loads(unpack(bundle)["manifest.json"])["software"]["bundle"])


@pytest.mark.parametrize("manifest", [b"[]", b"{}", b"nothing", b'{"format": "sqlanon-evidence/1"}', b"[" * 100_000])
def test_manifests_that_are_none(bundle, manifest):
    refused(pack(unpack(bundle) | {"manifest.json": manifest}), "not a bundle")


def test_better_figures_than_the_report_has(bundle):
    figures = json.loads(unpack(bundle)["figures.json"])
    figures["risk"]["rows"] /= 2
    refused(changed(bundle, "figures.json", json.dumps(figures).encode()), "not those of the report in its catalog")


def test_another_policy_than_that_of_the_catalog(bundle):
    asked = json.loads(unpack(bundle)["policy.json"])
    asked["privacy"]["k"] = 50
    refused(changed(bundle, "policy.json", json.dumps(asked, sort_keys=True).encode()), "another policy")


def test_a_forgery_that_agrees_with_itself(bundle, ward):
    """Nothing in the bundle shows it; the database does."""
    rows = json.loads(unpack(bundle)["catalog.json"])
    rows[0]["published_by"] = "somebody else"
    forged = changed(bundle, "catalog.json", (json.dumps(rows, sort_keys=True, indent=1) + "\n").encode())
    assert not check_bundle(forged).compared
    refused(forged, "not of version 1 of ward as the catalog", ward.engine)


def edited(bundle, name, edit):
    """The bundle with one of its lists or its manifest edited, hashes and all."""
    value = json.loads(unpack(bundle)[name])
    edit(value)
    content = (json.dumps(value, sort_keys=True, indent=1) + "\n").encode()
    return pack(unpack(bundle) | {name: content}) if name == "manifest.json" else changed(bundle, name, content)


def test_a_decision_that_nobody_made(bundle, ward):
    """Approvals, the day and the software are compared with the database too, not the pages alone."""
    forged = edited(bundle, "approvals.json", lambda rows: rows.append({"release": "ward", "approver": "Ann"}))
    refused(forged, "an approval of", ward.engine)
    without = {name: one for name, one in unpack(bundle).items() if name != "approvals.json"}
    refused(changed(pack(without), "report-sdc.html", b"x"), "approvals.json is missing")
    # What the catalog says of the version, too.
    for forge in (
        lambda manifest: manifest.update(published_at="2020-01-01T00:00:00+00:00"),
        lambda manifest: manifest["software"].update(release={"sqlanon": "9.9"}),
        lambda manifest: manifest.update(software=[]),
    ):
        refused(edited(bundle, "manifest.json", forge), "not of version 1 of ward as the catalog", ward.engine)
    for forge in (
        lambda rows: rows.append(rows[0] | {"version": 0}),
        lambda rows: rows.append({}),
        lambda rows: rows.append(1),
    ):
        refused(edited(bundle, "catalog.json", forge), "not of version 1 of ward as the catalog", ward.engine)


@pytest.mark.thorough
def test_a_decision_that_came_since(shared_db):
    create_table(shared_db, "later", {"age": "INTEGER", "ill": "VARCHAR(9)"}, [(n // 5, "flu") for n in range(10)])
    shared_db.anonymize(
        "later", name="later", publish="release.later", quasi="age", sensitive="ill", k=5, method="tree"
    )
    before = shared_db.evidence("later")
    made = shared_db.approve("later", by="Ann", until="9999-12-31").to_dict()
    assert check_bundle(before, shared_db.engine).pages is False
    added = edited(before, "approvals.json", lambda rows: rows.append(made))
    assert check_bundle(added, shared_db.engine).pages is False  # its pages do not show it
    assert check_bundle(shared_db.evidence("later"), shared_db.engine).pages is True


@pytest.mark.thorough
def test_settings_that_a_run_changed_since(shared_db):
    """A bundle stays one of its version where the policy's context is other words now; it says which keys differ."""
    create_table(shared_db, "said", {"age": "INTEGER", "ill": "VARCHAR(9)"}, [(n // 5, "flu") for n in range(10)])
    asked = {"quasi": ["age"], "sensitive": "ill", "k": 5, "method": "tree"}
    spec = policy.release(source="said", name="said", publish="release.said", **asked)
    shared_db.run(replace(spec, context=ContextSpec(purpose="research")))
    made = shared_db.evidence("said")
    assert check_bundle(made, shared_db.engine).settings == ()
    assert shared_db.run(replace(spec, context=ContextSpec(purpose="billing"))).outcome == "unchanged"
    found = check_bundle(made, shared_db.engine)
    assert (found.settings, found.pages, found.compared) == (("context",), False, True)


@pytest.mark.thorough
def test_a_version_that_the_database_lacks(ward):
    create_table(ward, "gone", {"age": "INTEGER", "ill": "VARCHAR(9)"}, [(n // 5, "flu") for n in range(10)])
    ward.anonymize("gone", name="gone", publish="release.gone", quasi="age", sensitive="ill", k=5, method="tree")
    made = ward.evidence("gone")
    table = "_sqlanon.catalog"
    ward.engine.execute(f"DELETE FROM {table} WHERE release = 'gone'")
    refused(made, "no version 1 of gone", ward.engine)
    with pytest.raises(PolicyError, match="neither a published release"):
        ward.evidence("gone")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,ill\n" + "".join(f"{n // 5},flu\n" for n in range(20)), encoding="utf-8")
    (Path("anon.yml")).write_text(
        "version: 1\nconnection: duckdb:///w.duckdb\nreleases:\n  - name: people\n    source: people\n"
        "    columns: {age: quasi, ill: sensitive}\n    privacy: {k: 5}\n    method: tree\n",
        encoding="utf-8",
    )
    import duckdb

    with duckdb.connect("w.duckdb") as db:
        db.execute("CREATE TABLE people AS FROM 'people.csv'")
    assert invoke("run", "-q").exit_code == 0
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_command():
    made = invoke("evidence", "people", "-o", "e.zip")
    assert made.exit_code == 0, made.output
    Path("f.zip").write_bytes(Path("e.zip").read_bytes())
    assert (Path("e.zip").stat().st_mode & 0o777) == 0o600
    ended = invoke("evidence", "--verify", "e.zip")
    assert ended.exit_code == 0
    assert "who made it is not proved" in ended.stdout
    assert "has this version" in invoke("evidence", "--verify", "e.zip", "-p", "anon.yml").stdout
    Path("e.zip").write_bytes(Path("e.zip").read_bytes()[:-1])
    assert invoke("evidence", "--verify", "e.zip").exit_code == 1
    assert invoke("evidence", "--verify", "nothing.zip").exit_code == 2
    assert "wants a release and a file" in invoke("evidence", "people").stderr
    assert "belong together" in invoke("evidence", "--verify", "f.zip", "--by", "Ann").stderr
    assert "makes none" in invoke("evidence", "people", "--verify", "f.zip").stderr
    assert "exists" in invoke("evidence", "people", "-o", "f.zip").stderr


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen")
@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_signed():
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key"], check=True)
    Path("signers").write_text(f"Ann {Path('key.pub').read_text(encoding='utf-8')}", encoding="utf-8")
    assert invoke("evidence", "people", "-o", "e.zip", "--sign", "key").exit_code == 0
    ended = invoke("evidence", "--verify", "e.zip", "--signers", "signers", "--by", "Ann")
    assert (ended.exit_code, "signed by Ann" in ended.stdout) == (0, True)
    wrong = invoke("evidence", "--verify", "e.zip", "--signers", "signers", "--by", "Bob")
    assert (wrong.exit_code, "not one of Bob" in wrong.stderr) == (1, True)
    assert invoke("evidence", "people", "--for", "readers", "-o", "r.zip").exit_code == 0
    Path("r.zip.sig").write_bytes(Path("e.zip.sig").read_bytes())  # the signature of another bundle
    other = invoke("evidence", "--verify", "r.zip", "--signers", "signers", "--by", "Ann")
    assert (other.exit_code, "not one of Ann for this text" in other.stderr) == (1, True)

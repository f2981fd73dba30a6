"""Check that a version with a certificate is unchanged since verification.

It checks the certificate, the draw, and the published table.
"""

from __future__ import annotations

from sqlanon.engines.base import Engine, Relation
from sqlanon.engines.rows import count
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.freeform.secret import key_of
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.rights import guard_reading
from sqlanon.release.catalog.views import spell_table
from sqlanon.release.verify.certificate import Certificate, hash_rows, recheck
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch


def has_certificate(engine: Engine, entry: Entry) -> bool:
    """Whether both tables of a version's certificate are there."""
    return entry.edges is not None and all(map(engine.exists, entry.certificate))


def find_alteration(engine: Engine, entry: Entry, published: Relation) -> str | None:
    """Difference of a version from the verified state, or None.

    Parts without a mark in the report do not count as unchanged.

    Args:
        engine: the session.
        entry: a version that has a certificate.
        published: its table, or the view of it.

    Returns:
        The difference, in words without a cell's value.

    Cost: groupings of the certificate's k n edges, the remix once more, a scan of the table.
    """
    edges, draw = entry.certificate
    catalog, report = Catalog(engine), entry.report
    secret = catalog.secret_in(engine.look_up(list(catalog.tables)), entry.release) or ""
    key = key_of(secret, entry.release, str(report.get("certificate")))
    certificate, k = Certificate(edges, draw), int(entry.policy["privacy"]["k"])
    rows = count(engine, statement("table/count", engine.dialect, source=published.ref))
    with guard_reading(engine, edges), guard_reading(engine, draw), Scratch(engine) as scratch:
        if wrong := recheck(scratch, certificate, rows, k, key):
            return wrong
        if report.get("drawn") is None:
            return "whether rows changed places in what was drawn is not measured: the catalog has no mark of it"
        if certificate.mark(engine, key) != report["drawn"]:
            return "the certificate is not as it was written: rows changed places in what was drawn"
    if hash_rows(engine, published) != report.get("written"):
        return "the published table is not as it was written: a cell was altered, or values changed places between rows"
    return None


def refuse_altered(engine: Engine, entry: Entry) -> None:
    """Refuse a version whose certificate fails.

    Only the certificate shows that k rows fit each box; the table does not.

    Raises:
        PrivacyViolation: the certificate of an earlier version is gone, or certificate or table changed since
            verification.
    """
    if entry.edges is None:
        return
    if not has_certificate(engine, entry):
        wrong: str | None = "its certificate is gone, without which nothing shows that k rows fit each box"
    else:
        wrong = find_alteration(engine, entry, engine.relation(spell_table(entry.table)))
    if wrong is not None:
        raise PrivacyViolation(
            f"{entry.release}: version {entry.version} is not published again: {wrong}; return to another version, or "
            "run the release again"
        )

"""``sqlanon evidence``: a bundle about a version that stays, and the check of a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sqlanon.bounded_file import read_bounded
from sqlanon.cli.commands.report import AUDIENCES
from sqlanon.cli.new_file import ensure_new, write_new
from sqlanon.cli.options import Db, PolicyFile, find_policy, find_url, open_database, option
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.report.evidence import CheckedBundle

SIGNED = ".sig"
"""End of a signature's name, next to the bundle."""


def evidence(
    screen: Screen,
    release: Annotated[str | None, typer.Argument(help="A published release's name or view.")] = None,
    output: Annotated[Path | None, option("--output", "FILE", "Write the bundle to this new file.", short="-o")] = None,
    audience: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="AUDIENCE",
            help="owner: reports, policy, catalog, approvals, figures; readers: without what is of the source.",
        ),
    ] = "owner",
    verify: Annotated[
        Path | None, option("--verify", "FILE", "Check a bundle in place of making one; with --db by the catalog.")
    ] = None,
    sign: Annotated[
        Path | None, option("--sign", "KEY", "Sign it with this private SSH key, in FILE.sig next to it.")
    ] = None,
    signers: Annotated[
        Path | None, option("--signers", "FILE", "With --verify: check FILE.sig by this file of allowed signers.")
    ] = None,
    by: Annotated[str | None, option("--by", "NAME", "With --signers: whose signature it must be.")] = None,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Write a bundle of evidence about a release, or check a bundle: reports, policy, catalog, figures, hashes."""
    if verify is not None:
        if release is not None or output is not None or sign is not None:
            raise PolicyError("--verify checks a bundle and makes none: leave out the release, -o and --sign")
        if (signers is None) != (by is None):
            raise PolicyError("--signers and --by belong together: the file of allowed signers, and one of its names")
        return _verify(screen, verify, signers, by, db, policy)
    if release is None or output is None:
        raise PolicyError("evidence wants a release and a file, such as: sqlanon evidence patients -o evidence.zip")
    if audience not in AUDIENCES:
        raise PolicyError(f"--for {audience}: a bundle is for {' or '.join(AUDIENCES)}")
    ensure_new(output)
    signature = output.with_name(output.name + SIGNED)
    if sign is not None:
        ensure_new(signature)
    reader: Literal["owner", "readers"] = "readers" if audience == "readers" else "owner"
    with open_database(find_url(db, find_policy(db, policy)), screen, read_only=True) as connected:
        data = connected.evidence(release, audience=reader)
    from sqlanon.report.evidence import check_bundle

    bundle = check_bundle(data)
    if sign is not None:
        from sqlanon.release.catalog import signatures

        write_new(signature, signatures.sign(_make_signed_text(bundle.sha256), sign), private=True)
    write_new(output, data, private=True)
    screen.emit({**bundle.to_dict(), "output": str(output)})
    if not screen.silent:
        screen.show(f"evidence: {output}, {bundle.files} files about version {bundle.version} of {bundle.release}")
        screen.show(f"  SHA-256 {bundle.sha256}")
    return None


def _verify(
    screen: Screen, file: Path, signers: Path | None, by: str | None, db: str | None, policy: Path | None
) -> int | None:
    from sqlanon.report.evidence import check_bundle
    from sqlanon.report.evidence.archive import MOST_BYTES

    data = _read(file, MOST_BYTES)
    if db is not None or policy is not None:
        with open_database(find_url(db, find_policy(db, policy)), screen, read_only=True) as connected:
            bundle = check_bundle(data, connected.engine)
    else:
        bundle = check_bundle(data)
    if signers is not None and by is not None:
        from sqlanon.release.catalog import signatures

        signature = _read(file.with_name(file.name + SIGNED), 1 << 16).decode("utf-8", "replace")
        signatures.verify(_make_signed_text(bundle.sha256), signature, by, signers, str(file))
    screen.emit({**bundle.to_dict(), "output": str(file)})
    if not screen.silent:
        _show(screen, bundle, by)
    return None


def _read(file: Path, most: int) -> bytes:
    try:
        return read_bounded(file, most)
    except OSError as error:
        raise PolicyError(f"{file}: cannot be read ({error.strerror})") from error


def _make_signed_text(digest: str) -> str:
    """The text that a signature of a bundle signs."""
    return f"evidence of sqlanon, sha256 {digest}\n"


def _show(screen: Screen, checked: CheckedBundle, by: str | None) -> None:
    screen.show(
        f"whole: {checked.files} files about version {checked.version} of {checked.release}, for {checked.audience}"
    )
    screen.show(f"  SHA-256 {checked.sha256}")
    proved = [
        *(["the catalog of the database has this version"] if checked.compared else []),
        *(["its pages are those that the database gives now"] if checked.pages else []),
        *([f"signed by {by}"] if by else []),
    ]
    if proved:
        screen.show(f"  {'; '.join(proved)}")
    if checked.pages is False:
        screen.show(
            "  warning: its pages or lists are not those that the database gives now: they were edited, or approvals, "
            "releases or attacks came since; make a bundle again and compare"
        )
    elif checked.compared and checked.pages is None:
        screen.show("  its pages were not compared: another version is published, or other software made it")
    if checked.settings:
        screen.show(
            f"  warning: the catalog has another value of its policy's {', '.join(checked.settings)}: it was edited, "
            "or a run changed it since"
        )
    if not proved:
        screen.show("  who made it is not proved: give --db or -p of its database, or --signers and --by")

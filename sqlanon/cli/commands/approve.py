"""``sqlanon approve``, ``approvals`` and ``revoke``: who accepted a release, on which figures, until when."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlanon.cli.options import Db, PolicyFile, find_policy, find_url, flag, load, open_database, option, pick
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

By = Annotated[str, option("--by", "NAME", "Who decides; with --sign the name in files of allowed signers.")]
Sign = Annotated[Path | None, option("--sign", "KEY", "Sign it with this private SSH key, by the system's ssh-keygen.")]


def approve(
    screen: Screen,
    name: Annotated[
        str, typer.Argument(metavar="NAME[@VERSION]", help="The release, or one of its versions; default: published.")
    ],
    by: By,
    until: Annotated[str, option("--until", "DATE", "The last day (UTC) on which it holds, such as 2027-06-30.")],
    condition: Annotated[str | None, option("--condition", "TEXT", "A condition, in your words.")] = None,
    planned: Annotated[
        bool, flag("--planned", "Approve the policy of the file, of which there need not be a version yet.")
    ] = False,
    sign: Sign = None,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Record an approval of a release, bound to the policy and to the risks that were measured."""
    spec = load(policy, db) if planned else find_policy(db, policy)
    if planned and "@" in name:
        raise PolicyError(f"--planned is about the policy of the file, and {name} names a version; leave one out")
    releases = pick(spec, [name], "") if planned and spec is not None else (None,)
    with open_database(find_url(db, spec), screen) as connected:
        given_approvals = [
            connected.approve(
                release.name if release else name, by=by, until=until, condition=condition, key=sign, planned=release
            )
            for release in releases
        ]
    screen.emit({"approvals": [approval.to_dict() for approval in given_approvals]})
    if not screen.silent:
        from sqlanon.cli.show.approvals import approval_lines

        for approval in given_approvals:
            screen.show(*approval_lines(approval))
    return None


def approvals(
    screen: Screen,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", show_default=False, help="Only this release.")] = None,
    signers: Annotated[
        Path | None, option("--signers", "FILE", "Check signatures by this file of allowed signers (see ssh-keygen).")
    ] = None,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """List approvals and revocations, and which of them hold."""
    with open_database(find_url(db, find_policy(db, policy)), screen, read_only=True) as connected:
        listed_approvals = connected.approvals(name, signers=signers)
    screen.emit({"approvals": [approval.to_dict() for approval in listed_approvals]})
    if not screen.silent:
        from sqlanon.cli.show.approvals import show_approvals

        show_approvals(screen, listed_approvals)
    return None


def revoke(
    screen: Screen,
    name: Annotated[str, typer.Argument(help="The release.")],
    by: By,
    reason: Annotated[str | None, option("--reason", "TEXT", "Why, in your words.")] = None,
    sign: Sign = None,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Revoke every approval of a release: runs that need one stop. Published versions stay."""
    with open_database(find_url(db, find_policy(db, policy)), screen) as connected:
        revocation = connected.revoke(name, by=by, reason=reason, key=sign)
    screen.emit({"approvals": [revocation.to_dict()]})
    if not screen.silent:
        from sqlanon.cli.show.approvals import approval_lines

        screen.show(*approval_lines(revocation))
    return None

"""``sqlanon report``: a release as a page to read, to sign, or to show to its readers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sqlanon.cli.new_file import ensure_new, write_new
from sqlanon.cli.options import Db, PolicyFile, find_policy, find_url, flag, open_database, option
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

WORKLOAD = Path("workload.yml")
AUDIENCES = ("owner", "readers")


def report(
    screen: Screen,
    release: Annotated[str, typer.Argument(help="A published release's name or view; for readers the view.")],
    output: Annotated[
        Path | None,
        option("--output", "FILE", "Write it to this new file, for you alone to read.", short="-o"),
    ] = None,
    audience: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="AUDIENCE",
            help="owner: confidential, with the source; readers: of the view and its metadata alone.",
        ),
    ] = "owner",
    md: Annotated[bool, flag("--md", "Markdown, without pictures, instead of HTML.")] = False,
    workload: Annotated[
        Path | None,
        option(
            "--workload",
            "FILE",
            "For the owner: measure the accuracy of these queries (default: ./workload.yml if it is there).",
            short="-w",
        ),
    ] = None,
    attack: Annotated[bool, flag("--attack", "For the owner: run the attacks of sqlanon attack as well.")] = False,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Write a report of a release: one HTML file that needs no other, or Markdown."""
    if audience not in AUDIENCES:
        raise PolicyError(f"--for {audience}: a report is for {' or '.join(AUDIENCES)}")
    if workload is not None and not workload.is_file():
        raise PolicyError(f"no workload file {workload}")
    if output is not None:
        ensure_new(output)
    chosen = workload or (WORKLOAD if audience == "owner" and WORKLOAD.is_file() else None)
    form: Literal["html", "md"] = "md" if md else "html"
    reader: Literal["owner", "readers"] = "readers" if audience == "readers" else "owner"
    spec = find_policy(db, policy)
    with open_database(find_url(db, spec), screen, read_only=True) as connected:
        text = connected.report(release, audience=reader, form=form, workload=chosen, attack=attack)
    described = {"release": release, "for": audience, "form": form}
    if output is None:
        screen.emit({**described, "report": text})
        if not screen.json:
            screen.product(text)
        return None
    write_new(output, text, private=True)
    screen.emit({**described, "output": str(output)})
    if not screen.silent:
        secret = (
            "confidential: it shows the source" if audience == "owner" else "made of the view and its metadata alone"
        )
        screen.show(f"report: {output}, for you alone to read; {secret}")
    return None

"""``sqlanon report``: a release as a page to read, to sign, or to show to readers."""

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
        Path | None, option("--output", "FILE", "Write it to this new file, for you alone to read.", short="-o")
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
    frame: Annotated[
        str | None,
        option(
            "--frame", "FRAME", "In the words of wp216, hipaa, ema0070, iso27559, sdc or edpb2025, with a page to sign."
        ),
    ] = None,
    pdf: Annotated[bool, flag("--pdf", "PDF, printed by Chromium; with -o FILE.")] = False,
    attack: Annotated[bool, flag("--attack", "For the owner: run the attacks of sqlanon attack as well.")] = False,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Write a report of a release: an HTML file that needs no other, Markdown or PDF."""
    if audience not in AUDIENCES:
        raise PolicyError(f"--for {audience}: a report is for {' or '.join(AUDIENCES)}")
    if pdf and (md or output is None):
        raise PolicyError("--pdf writes a file of its own: give -o FILE, and leave out --md")
    if workload is not None and not workload.is_file():
        raise PolicyError(f"no workload file {workload}")
    if output is not None:
        ensure_new(output)
    plain = audience == "owner" and frame is None
    workload_file = workload or (WORKLOAD if plain and WORKLOAD.is_file() else None)
    form: Literal["html", "md"] = "md" if md else "html"
    reader: Literal["owner", "readers"] = "readers" if audience == "readers" else "owner"
    spec = find_policy(db, policy)
    with open_database(find_url(db, spec), screen, read_only=True) as connected:
        text = connected.report(release, audience=reader, form=form, workload=workload_file, attack=attack, frame=frame)
    described = {"release": release, "for": audience, "form": "pdf" if pdf else form}
    if output is None:
        screen.emit({**described, "report": text})
        if not screen.json:
            screen.product(text)
        return None
    content: str | bytes = text
    if pdf:
        from sqlanon.report.pdf import print_page

        content = print_page(text)
    write_new(output, content, private=True)
    screen.emit({**described, "output": str(output)})
    if not screen.silent:
        secret = (
            "figures of the source, and no value of a cell"
            if frame
            else "confidential: it shows the source"
            if audience == "owner"
            else "made of the view and its metadata alone"
        )
        screen.show(f"report: {output}, for you alone to read; {secret}")
    return None

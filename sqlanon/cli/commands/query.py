"""``sqlanon query``: ask a release in SQL; ``sqlanon install-functions``: SQL functions for those who ask by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlanon.cli.options import Db, PolicyFile, find_policy, find_url, flag, open_database, option
from sqlanon.cli.screen import Screen


def query(
    screen: Screen,
    sql: Annotated[str, typer.Argument(show_default=False, help="One SELECT, against the source's column names.")],
    release: Annotated[
        str | None,
        option("--release", "NAME", "The release to ask (default: what follows FROM)."),
    ] = None,
    plain: Annotated[bool, flag("--plain", "The estimates alone.")] = False,
    explain: Annotated[bool, flag("--explain", "Print the SQL that runs over the release.")] = False,
    allow_linking: Annotated[
        bool,
        flag("--allow-linking", "Let the query join any table, not only the policy's dimensions."),
    ] = False,
    as_of_source: Annotated[
        bool,
        flag(
            "--as-of-source",
            "With refresh: {mode: frozen}: bounds of counts over the source, not over the rows as published.",
        ),
    ] = False,
    interval: Annotated[
        float | None,
        option(
            "--interval",
            "SHARE",
            "In addition, where counts and sums lie in this share of uniformly drawn consistent sources, such as 0.95.",
        ),
    ] = None,
    merge_narrow: Annotated[
        float | None,
        typer.Option(
            "--merge-narrow",
            metavar="PERCENT",
            show_default=False,
            help="Merge neighbouring groups until the bounds of each are apart by at most so much of its estimate.",
        ),
    ] = None,
    role: Annotated[
        str | None,
        option("--as", "ROLE", "PostgreSQL: ask with the rights of this role alone."),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Deadline of the query."),
    ] = 60.0,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Ask a release in SQL: estimates with bounds that hold for every table it can stem from.

    FROM names the source or the release.
    """
    spec = find_policy(db, policy)
    with open_database(find_url(db, spec), screen, read_only=True) as connected:
        # Several releases may stem from one source: which is meant is looked up where they are.
        only_spec = spec.releases[0] if spec is not None and len(spec.releases) == 1 else None
        answer = connected.query(
            sql,
            release=release,
            allow_linking=allow_linking,
            spec=only_spec,
            role=role,
            seconds=timeout,
            as_of_source=as_of_source,
            interval=interval,
            merge_narrow=merge_narrow,
        )
    if explain:
        screen.emit({"sql": answer.sql})
        if not screen.json:
            screen.product(answer.sql)
        return None
    screen.emit(answer.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.query import (
            AS_PUBLISHED,
            LEFT_OUT,
            OF_SOURCE,
            UNLISTED,
            UNSETTLED,
            answer_table,
            describe_bounding,
        )

        screen.show(answer_table(answer, bounds=not plain))
        if not plain and (about_bounding := describe_bounding(answer)):
            screen.show(about_bounding)
        if answer.unlisted_groups and not plain:
            screen.show(UNLISTED)
        if answer.unsettled_groups and not plain:
            screen.show(UNSETTLED)
        if answer.left_out and not plain:
            screen.show(LEFT_OUT.format(answer.left_out))
        if answer.unlike is not None:
            unlike = answer.unlike
            text = OF_SOURCE if as_of_source else AS_PUBLISHED
            screen.show(text.format(unlike.retained, unlike.stale, unlike.not_published))
    return None


def install_functions(
    screen: Screen,
    schema: Annotated[str, typer.Option("--schema", metavar="NAME", help="Where to put them.")] = "sqlanon",
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Install SQL functions in the database: overlap, contains, ncp, hilbert_key.

    Functions of these names in that schema are replaced.
    """
    with open_database(find_url(db, find_policy(db, policy)), screen) as connected:
        names = connected.install_functions(schema)
    screen.emit({"functions": list(names)})
    screen.show(*names)
    return None

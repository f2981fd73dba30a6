"""The typer application: the commands in the order of ``--help``, and the options before a command."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlanon._version import __version__
from sqlanon.cli.command import Commands, Debug, Json, Quiet, Settings, Verbose, register
from sqlanon.cli.commands.anonymize import anonymize
from sqlanon.cli.commands.approve import approvals, approve, revoke
from sqlanon.cli.commands.attack import attack
from sqlanon.cli.commands.audit import audit
from sqlanon.cli.commands.budget import budget
from sqlanon.cli.commands.catalog import clean, diff, erase, releases, rollback, unpublish
from sqlanon.cli.commands.compare import compare
from sqlanon.cli.commands.dbt import app as dbt
from sqlanon.cli.commands.demo import demo
from sqlanon.cli.commands.evaluate import evaluate
from sqlanon.cli.commands.evidence import evidence
from sqlanon.cli.commands.hierarchy import hierarchy
from sqlanon.cli.commands.mcp import mcp
from sqlanon.cli.commands.methods import methods
from sqlanon.cli.commands.policy import init, plan, run, schema
from sqlanon.cli.commands.preview import preview
from sqlanon.cli.commands.query import install_functions, query
from sqlanon.cli.commands.report import report
from sqlanon.cli.commands.serve import serve
from sqlanon.cli.commands.warm import warm

EPILOG = "Exit codes: 0 ok, 1 a requirement is violated, 2 usage or policy, 3 database, 4 infeasible."

app = typer.Typer(
    name="sqlanon",
    cls=Commands,
    help="Anonymize tables where they live: in DuckDB, PostgreSQL and Spark.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"sqlanon {__version__}")
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    debug: Debug = False,
    version: Annotated[  # noqa: ARG001 - its callback has done the work
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Anonymize tables where they live: in DuckDB, PostgreSQL and Spark."""
    ctx.obj = Settings(json=json, quiet=quiet, verbose=verbose, debug=debug)


for command in (
    demo,
    init,
    anonymize,
    plan,
    preview,
    run,
    audit,
    attack,
    query,
    serve,
    mcp,
    evaluate,
    compare,
    report,
    evidence,
    hierarchy,
    budget,
    releases,
    approve,
    approvals,
    revoke,
    diff,
    rollback,
    unpublish,
    erase,
    clean,
    install_functions,
    methods,
    schema,
    warm,
):
    register(app, command)
app.add_typer(dbt)

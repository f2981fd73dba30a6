"""Common part of all commands: the options --json, --quiet, -v and --debug, the screen, and the end of a command.

A command is a function ``(screen, ...options) -> exit code or None``. `register` adds the shared options to it, and to
commands with ``--db`` those that confirm limits of Spark; `Commands` gives errors of the command line itself the
same two forms as all others, text or JSON.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from sqlanon.cli.arguments import with_values
from sqlanon.cli.confirmation_options import CONFIRMED
from sqlanon.cli.examples import EXAMPLES
from sqlanon.cli.failures import PIPE, Failure, describe, leave_pipe, report
from sqlanon.cli.interrupt import make_interrupt, watch_signals
from sqlanon.cli.logs import configure
from sqlanon.cli.options import flag
from sqlanon.cli.screen import Screen
from sqlanon.errors import visible

Json = Annotated[bool, flag("--json", "Print one JSON object.")]
Quiet = Annotated[bool, flag("--quiet", "Print errors and warnings only, and no progress.", short="-q")]
Verbose = Annotated[
    int, typer.Option("--verbose", "-v", count=True, show_default=False, help="Log to stderr; -vv logs more.")
]
Debug = Annotated[bool, flag("--debug", "Show tracebacks and the database's own messages; they may quote data.")]


@dataclass(frozen=True, slots=True)
class Settings:
    """The shared options, as given before the command or after it."""

    json: bool = False
    quiet: bool = False
    verbose: int = 0
    debug: bool = False

    def merge(self, other: Settings) -> Settings:
        """Both places together: an option given in either counts."""
        return Settings(
            json=self.json or other.json,
            quiet=self.quiet or other.quiet,
            verbose=max(self.verbose, other.verbose),
            debug=self.debug or other.debug,
        )


_PANELED = ("anonymize",)
"""Commands with the options of a policy."""
_SHARED = (("json", Json, False), ("quiet", Quiet, False), ("verbose", Verbose, 0), ("debug", Debug, False))


def register(app: typer.Typer, function: Callable[..., int | None]) -> None:
    """Make a command of a function that takes a `Screen` first and returns an exit code."""

    def command(ctx: typer.Context, **values: Any) -> None:
        own_settings = Settings(**{name: values.pop(name) for name, _, _ in _SHARED})
        before = ctx.obj if isinstance(ctx.obj, Settings) else Settings()
        settings = before.merge(own_settings)
        confirmed = tuple(option.option for option in confirming if values.pop(option.name))
        screen = Screen(settings.json, settings.quiet, settings.verbose, settings.debug, confirmed)
        raise typer.Exit(_finish(function, screen, values))

    parameters_of = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    confirming = CONFIRMED if any(parameter.name == "db" for parameter in parameters_of) else ()
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(name, keyword, default=value, annotation=kind)
        for name, kind, value in (*((option.name, option.kind, False) for option in confirming), *_SHARED)
    ]
    context = inspect.Parameter("ctx", keyword, annotation=typer.Context)
    parameters = [context, *(parameter.replace(kind=keyword) for parameter in parameters_of), *shared]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = function.__doc__
    name = function.__name__.replace("_", "-")
    epilog = f"Example: {EXAMPLES[name]}" if name in EXAMPLES else None
    app.command(name, cls=PaneledCommand if name in _PANELED else TyperCommand, epilog=epilog)(command)


def _finish(function: Callable[..., int | None], screen: Screen, values: dict[str, Any]) -> int:
    """Run a command to the exit code, whatever happens."""
    configure(screen.verbose, debug=screen.debug)
    try:
        with watch_signals(screen):
            code = function(screen, **values) or 0
            sys.stdout.flush()
    except typer.Exit as error:
        return error.exit_code
    except BrokenPipeError:
        leave_pipe()
        return PIPE
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last resort
        screen.close()
        shown = make_interrupt(screen) if screen.interrupted else error
        return report(describe(shown), json=screen.json, debug=screen.debug)
    finally:
        screen.close()
    return code


class PaneledCommand(TyperCommand):
    """A command with the options of a policy: some may go without a value, and ``--help`` lists them by panels."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer hides their types
        """Parse the words after the command's name."""
        return super().parse_args(ctx, with_values(args))

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer hides their types
        """Write the arguments and the panels, in the order in which they come first, options without one last."""
        last = "Other options"
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if (shown := parameter.get_help_record(ctx)) is None:
                continue
            panel = getattr(parameter, "rich_help_panel", None) or last
            panels.setdefault("Arguments" if isinstance(parameter, TyperArgument) else panel, []).append(shown)
        for title, records in sorted(panels.items(), key=lambda panel: panel[0] == last):
            with formatter.section(title):
                formatter.write_dl(records)


class Commands(TyperGroup):
    """The group of all commands; a mistake on the command line ends like every other error."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> int:
        """Parse, run, exit: with code 2 and a single message where the arguments are wrong."""
        arguments = list(sys.argv[1:] if args is None else args)
        try:
            code = super().main(arguments, prog_name or "sqlanon", complete_var, False, windows_expand_args, **extra)
        except typer.TyperException as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                typer.echo(error.format_message(), err=True)
                code = 2
            else:
                hint = _help_of(error)
                failure = Failure("UsageError", visible(error.format_message()), 2, hint=hint)
                code = report(failure, json="--json" in arguments, debug=False)
        status = code if isinstance(code, int) else 0
        if standalone_mode:
            sys.exit(status)
        return status


def _help_of(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    example = EXAMPLES.get(context.info_name or "") if context is not None else None
    help_ = f"Try: {context.command_path if context is not None else 'sqlanon'} --help"
    return f"Example: {example}\n{help_}" if example else help_

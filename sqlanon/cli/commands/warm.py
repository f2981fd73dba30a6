"""``sqlanon warm``: compile kernels before they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.bounded_file import read_bounded
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.spec import ReleaseSpec


def warm(
    screen: Screen,
    policies: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[POLICY]...",
            show_default=False,
            help="Policy files, or folders of them (*.yml, *.yaml). None: what a first release needs.",
        ),
    ] = None,
) -> int | None:
    """Compile kernels for the releases of policies, before they are run. Opens no database."""
    from sqlanon.database.warm import warm as compile_for

    specs = [spec for path in policies or () for spec in _releases(path)]
    report = compile_for(specs, screen.progress())
    screen.emit(report.to_dict())
    screen.show(
        f"compiled {report.functions} functions in {report.seconds:.0f} s"
        if report.functions
        else "everything is compiled"
    )
    for reason in report.missed:
        screen.show(f"not sure that all is compiled: {reason}")
    return None


def _releases(path: Path) -> Iterator[ReleaseSpec]:
    """The releases of a policy file, or of those in a folder."""
    from sqlanon.policy import load

    if not path.is_dir():
        if not path.is_file():
            raise PolicyError(f"no policy file or folder {path}")
        yield from load(path).releases
        return
    files = _policies(path)
    if not files:
        raise PolicyError(f"no policy in the folder {path}: policies are *.yml or *.yaml, with releases")
    for file in files:
        yield from load(file).releases


def _policies(folder: Path) -> Sequence[Path]:
    """The files of a folder that have releases: others, such as those of dbt, are no policies."""
    files = sorted(path for path in folder.iterdir() if path.suffix in (".yml", ".yaml") and path.is_file())
    return [path for path in files if b"\nreleases:" in b"\n" + _content(path)]


def _content(path: Path) -> bytes:
    try:
        return read_bounded(path)
    except OSError as error:
        raise PolicyError(f"{path}: cannot be read ({error.strerror})") from error

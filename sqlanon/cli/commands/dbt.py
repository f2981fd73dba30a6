"""``sqlanon dbt run``, ``dbt plan`` and ``dbt erase``: the releases that the models of a dbt project ask for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from sqlanon.cli.batch import select_plan_options, work_on_each
from sqlanon.cli.command import Commands, register
from sqlanon.cli.compact_option import Compact
from sqlanon.cli.erasure import KeyFile, Name, Yes, erase_keys
from sqlanon.cli.new_file import ensure_new, write_new
from sqlanon.cli.options import (
    AllowWeaker,
    Due,
    Full,
    NewClasses,
    NewLineage,
    RecordFile,
    next_command,
    open_database,
    option,
)
from sqlanon.cli.record import Record
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.dbt.project import Project
    from sqlanon.results import PlanReport, RunReport
    from sqlanon.spec import ReleaseSpec

R = TypeVar("R")

ProjectDir = Annotated[
    Path | None,
    option("--project-dir", "DIR", "The dbt project (default: DBT_PROJECT_DIR, else here or above)."),
]
ProfilesDir = Annotated[
    Path | None,
    option("--profiles-dir", "DIR", "Where profiles.yml is (default: DBT_PROFILES_DIR, else here, else ~/.dbt)."),
]
Profile = Annotated[str | None, option("--profile", "NAME", "Instead of the project's profile.")]
Target = Annotated[str | None, option("--target", "NAME", "Instead of the profile's own target.", short="-t")]
TargetPath = Annotated[
    Path | None,
    option("--target-path", "DIR", "Where dbt wrote manifest.json (default: the project's target folder)."),
]
Db = Annotated[
    str | None,
    option("--db", "URL", "duckdb:///path, postgresql://.. or sc://..; instead of the profile's database."),
]
Select = Annotated[
    list[str] | None,
    option("--select", "NAME", "Only this model or release; may be repeated.", short="-s"),
]


@dataclass(frozen=True, slots=True)
class _DbtOptions:
    """The options by which a command finds project and database."""

    project_dir: Path | None
    profiles_dir: Path | None
    profile: str | None
    target: str | None
    target_path: Path | None
    db: str | None

    def load(self) -> Project:
        from sqlanon.dbt.project import load

        return load(**asdict(self))

    def spell_command(self, name: str, words: Sequence[str], select: Sequence[str] | None, *arguments: str) -> str:
        """A command of dbt to try next, with the same project and database as this command."""
        from sqlanon.cli.show.text import command, hide_password

        settings = asdict(self) | {"db": None if self.db is None else hide_password(self.db)}
        options = [
            part
            for name, value in settings.items()
            if value is not None
            for part in (f"--{name.replace('_', '-')}", str(value))
        ]
        selected = [part for model in select or () for part in ("--select", model)]
        return command(f"dbt {name}", *arguments, options=[*words, *options, *selected])


def plan(
    screen: Screen,
    project_dir: ProjectDir = None,
    profiles_dir: ProfilesDir = None,
    profile: Profile = None,
    target: Target = None,
    target_path: TargetPath = None,
    select: Select = None,
    db: Db = None,
    new_lineage: NewLineage = False,
    new_classes: NewClasses = False,
) -> int | None:
    """Show the actions of `dbt run`, and whether it can succeed."""
    options = _DbtOptions(project_dir, profiles_dir, profile, target, target_path, db)
    project = options.load()
    anew = [*(["--new-lineage"] if new_lineage else []), *(["--new-classes"] if new_classes else [])]

    def show_report(_: ReleaseSpec, report: PlanReport) -> None:
        if not screen.silent:
            from sqlanon.cli.show.plan import plan_report

            plan_report(screen, report, sql=False, run=options.spell_command("run", [*anew, *screen.confirmed], select))

    with open_database(_url(project), screen, read_only=True) as connected:
        plan_release = _refuse_unbuilt(
            project,
            lambda spec: connected.plan(
                spec, beside=project.policy.releases, new_lineage=new_lineage, new_classes=new_classes
            ),
        )
        return work_on_each(
            screen,
            _select_releases(project, select),
            plan_release,
            show_report,
            again=lambda spec, words: options.spell_command(
                "plan", [*select_plan_options(words), *screen.confirmed], [spec.name]
            ),
        )


def run(
    screen: Screen,
    project_dir: ProjectDir = None,
    profiles_dir: ProfilesDir = None,
    profile: Profile = None,
    target: Target = None,
    target_path: TargetPath = None,
    select: Select = None,
    db: Db = None,
    due: Due = False,
    full: Full = False,
    allow_weaker: AllowWeaker = False,
    new_lineage: NewLineage = False,
    new_classes: NewClasses = False,
    record: RecordFile = None,
) -> int | None:
    """Release every model built by dbt with `anonymize` in its meta."""

    def show_report(_: ReleaseSpec, report: RunReport) -> None:
        if not screen.silent:
            from sqlanon.cli.show.run import run_report

            run_report(screen, report, [])

    record_file = Record(record, str(project_dir or Path())) if record else None
    with record_file or nullcontext():
        options = _DbtOptions(project_dir, profiles_dir, profile, target, target_path, db)
        project = options.load()
        if record_file:
            record_file.policy = str(project.policy.path)
        releases = _select_releases(project, select)
        with open_database(_url(project), screen) as connected:

            def work(spec: ReleaseSpec) -> RunReport:
                return connected.run(
                    spec,
                    full=full,
                    allow_weaker=allow_weaker,
                    only_due=due,
                    new_lineage=new_lineage,
                    new_classes=new_classes,
                )

            def again(spec: ReleaseSpec, words: Sequence[str]) -> str:
                more = [*words, *(["--record", str(record)] if record else [])]
                return options.spell_command("run", [*more, *screen.confirmed], [spec.name])

            guarded, note = _refuse_unbuilt(project, work), record_file.add if record_file else None
            code = work_on_each(screen, releases, guarded, show_report, note, again=again)
        if record_file:
            record_file.exit_code = code
        return code


def erase(
    screen: Screen,
    name: Name,
    key_file: KeyFile,
    yes: Yes = False,
    compact: Compact = False,
    project_dir: ProjectDir = None,
    profiles_dir: ProfilesDir = None,
    profile: Profile = None,
    target: Target = None,
    target_path: TargetPath = None,
    db: Db = None,
) -> int | None:
    """Erase keys from the release of a model with refresh: {mode: frozen}, as `sqlanon erase` does."""
    options = _DbtOptions(project_dir, profiles_dir, profile, target, target_path, db)
    project = options.load()
    specs = _select_releases(project, [name])
    release = next((spec for spec in specs if spec.name == name), specs[0])

    def spell_command(command: str, words: Sequence[str]) -> str:
        if command == "clean":  # dbt has none of its own
            return next_command(screen, "clean", None, None, _url(project), words=words)
        selected, about = ([name], []) if command == "run" else (None, [name])
        return options.spell_command(command, words, selected, *about)

    erase_keys(screen, _url(project), release, key_file, spell_command, yes=yes, compact=compact)
    return None


def describe(
    screen: Screen,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", show_default=False, help="Only these releases.")
    ] = None,
    output: Annotated[Path | None, option("--output", "FILE", "Write it to this new file.", short="-o")] = None,
    project_dir: ProjectDir = None,
    profiles_dir: ProfilesDir = None,
    profile: Profile = None,
    target: Target = None,
    target_path: TargetPath = None,
    db: Db = None,
) -> int | None:
    """Write published releases as sources of dbt, with descriptions and meta of their columns."""
    if output is not None:
        ensure_new(output)
    url = db or _url(_DbtOptions(project_dir, profiles_dir, profile, target, target_path, db).load())
    from sqlanon.dbt.describe import describe_releases
    from sqlanon.dbt.files import write_yaml

    with open_database(url, screen, read_only=True) as connected:
        content = describe_releases(connected, names or ())
    screen.emit(content)
    if output is not None:
        write_new(output, write_yaml(content))
    elif not screen.json:
        screen.product(write_yaml(content))
    return None


def _url(project: Project) -> str:
    assert project.policy.connection is not None
    return project.policy.connection


def _select_releases(project: Project, select: Sequence[str] | None) -> tuple[ReleaseSpec, ...]:
    """The releases that --select names, by their own name or their model's; all of them without it."""
    releases = project.policy.releases
    if not select:
        return releases
    names = {name for spec in releases for name in (spec.name, project.models[spec.name])}
    unknown = [name for name in select if name not in names]
    if unknown:
        raise PolicyError(
            f"--select: no model {', '.join(unknown)} asks for a release; those that do: {', '.join(sorted(names))}"
        )
    return tuple(spec for spec in releases if {spec.name, project.models[spec.name]} & set(select))


def _refuse_unbuilt(project: Project, work: Callable[[ReleaseSpec], R]) -> Callable[[ReleaseSpec], R]:
    """The work, refused for a release of a model that dbt did not build."""

    def work_if_built(spec: ReleaseSpec) -> R:
        if spec.name in project.not_releasable:
            raise PolicyError(f"model {project.models[spec.name]}: {project.not_releasable[spec.name]}")
        return work(spec)

    return work_if_built


app = typer.Typer(
    name="dbt",
    cls=Commands,
    help="Releases that the models of a dbt project ask for in their meta.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for command in (run, plan, erase, describe):
    register(app, command)

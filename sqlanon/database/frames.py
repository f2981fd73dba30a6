"""Releases of data frames, through a temporary DuckDB in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn, Self, Unpack, cast

from sqlanon import policy
from sqlanon.database.database import Database
from sqlanon.database.files import columns_read
from sqlanon.database.open_url import connect
from sqlanon.database.release import Release
from sqlanon.declared.options import FileOptions
from sqlanon.engines.base import Engine, FrameKind, Frames
from sqlanon.errors import PolicyError
from sqlanon.progress import Progress, SilentProgress
from sqlanon.release.catalog.views import second_of_spec, spell_table, view_of, views_beside
from sqlanon.release.divide.choose_division import division_of_run
from sqlanon.release.divide.classes import Machine
from sqlanon.results import AuditReport, RunReport
from sqlanon.spec import ReleaseSpec

SOURCE = "frame"
VIEW = "release.frame"

_NOT_HERE = {
    "publish": "the release of a frame is a frame",
    "publish_file": "the release of a frame is a frame",
    "publish_to": "the release of a frame is a frame",
    **dict.fromkeys(
        ("context", "every", "keep", "key", "max_failing", "readers", "review"),
        "the release of a frame has no versions",
    ),
}


class FrameRelease(Release):
    """The release of a data frame: rows, metadata, and ways to ask about it.

    It holds the rows and metadata that a reader of a published release has, in a database in memory. The source's rows,
    the catalog and all private tables were in another database, which is gone. `close` drops the rest, as does the end
    of a ``with``.
    """

    def __init__(
        self, database: Database, spec: ReleaseSpec, report: RunReport, audited: AuditReport, kind: FrameKind
    ) -> None:
        super().__init__(database, spec, report)
        self._audited = audited
        self._kind = kind

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop the rows; frames that were made of them stay."""
        self._database.close()

    @property
    def frame(self) -> Any:  # noqa: ANN401 - of a library that is not imported here
        """The released rows as a frame of the kind that was given: pandas, polars, or else an Arrow table."""
        return self._frame(self._kind)

    def audit(self) -> AuditReport:
        """The audit of the released rows against the requirements, as made before the private tables were dropped."""
        return self._audited

    def evaluate(self, workload: object = None) -> NoReturn:
        """A release of a frame is not evaluated: that needs the source.

        Raises:
            PolicyError: always.
        """
        raise PolicyError(
            "the release of a frame does not keep its source, and evaluate compares with it; put the frame into a "
            "DuckDB file, and anonymize it there with sqlanon.connect"
        )


def anonymize_frame(frame: object, *, progress: Progress | None = None, **options: Unpack[FileOptions]) -> FrameRelease:
    """Anonymize a data frame; see `sqlanon.anonymize`.

    Raises:
        PolicyError: it is no frame, or an option does not fit a frame.
    """
    arguments = cast("dict[str, Any]", options)
    for name, reason in _NOT_HERE.items():
        if arguments.get(name):
            raise PolicyError(f"{name}: {reason}; leave it out, or anonymize a table of a database")
    options["name"] = options.get("name") or SOURCE
    spec = policy.release(source=SOURCE, publish=VIEW, **options)
    division_of_run(spec, None).check_once("a frame")
    database = connect("duckdb:///:memory:", progress=progress, memory=spec.memory)
    try:
        frames = database.engine.frames
        assert frames is not None  # it is DuckDB
        kind = _kind(frames, frame)
        with frames.inside() as private:
            assert private.frames is not None
            private.frames.import_frame(frame, private.target(SOURCE), columns_read(spec))
            report, audited = _run_private(private, spec, progress)
            for table in views_beside(view_of(private, spec), second_of_spec(spec)):
                frames.keep(table, replace(table, database=None))
    except BaseException:
        database.close()
        raise
    shown_source = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
    return FrameRelease(
        database, spec, replace(report, source=shown_source), replace(audited, table=shown_source), kind
    )


def _kind(frames: Frames, frame: object) -> FrameKind:
    kind = frames.kind_of(frame)
    if kind is None:
        raise PolicyError(
            f"a {type(frame).__name__} is no file and no frame: frames are of pandas, polars (collected), or have an "
            "Arrow stream"
        )
    return kind


def _run_private(private: Engine, spec: ReleaseSpec, progress: Progress | None) -> tuple[RunReport, AuditReport]:
    """Run a release in the private database, and audit the published table."""
    database = Database(private, progress or SilentProgress(), Machine.here())
    report = database.run(spec)
    return report, database.audit(spell_table(view_of(private, spec)), spec=spec)

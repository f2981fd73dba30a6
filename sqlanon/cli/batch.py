"""Several releases in sequence: a failure stops neither the others nor hides in the exit code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from sqlanon.cli.failures import Failure, describe, report_text
from sqlanon.cli.interrupt import make_interrupt
from sqlanon.errors import PolicyError, SqlanonError

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.spec import ReleaseSpec


class _Report(Protocol):
    @property
    def warnings(self) -> Sequence[str]: ...
    def to_dict(self) -> dict[str, Any]: ...


R = TypeVar("R", bound=_Report)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[R]):
    """A release's report, or why there is none."""

    release: str
    report: R | None = None
    failure: Failure | None = None

    def to_dict(self) -> Mapping[str, Any]:
        """The report's JSON, or ``{"release", "error"}``."""
        if self.report is not None:
            return self.report.to_dict()
        assert self.failure is not None
        return {"release": self.release, "error": self.failure.to_dict()}


def select_plan_options(options: Sequence[str]) -> list[str]:
    """Of options of a run those that plan takes: it confirms nothing."""
    return [option for option in options if option != "--allow-weaker"]


def work_on_each(
    screen: Screen,
    releases: Sequence[ReleaseSpec],
    work: Callable[[ReleaseSpec], R],
    show: Callable[[ReleaseSpec, R], None],
    record: Callable[[Outcome[R]], None] | None = None,
    *,
    again: Callable[[ReleaseSpec, Sequence[str]], str],
) -> int:
    """Do the work for every release and report each; the exit code is the largest of all.

    A release that reads the table of a failed one is not tried. ``record`` gets each outcome at once.
    ``again`` is the same command for a single release with more options.
    """
    outcomes: list[Outcome[R]] = []
    broken: dict[str, str] = {}
    for release in releases:
        outcome = _attempt(screen, release, work, broken, again)
        if outcome.failure and not any(_same_error(earlier, outcome) for earlier in outcomes):
            _show_failure(screen, release, outcome.failure)
        outcomes.append(outcome)
        if record is not None:
            record(outcome)
        if outcome.report is not None:
            screen.warn(outcome.report.warnings, release.name)
            show(release, outcome.report)
        elif release.publish:
            broken[release.publish] = release.name
    _emit(screen, outcomes)
    return max((outcome.failure.exit_code for outcome in outcomes if outcome.failure), default=0)


def _attempt(
    screen: Screen,
    release: ReleaseSpec,
    work: Callable[[ReleaseSpec], R],
    broken: Mapping[str, str],
    again: Callable[[ReleaseSpec, Sequence[str]], str],
) -> Outcome[R]:
    try:
        _ensure_source(release, broken)
        report = work(release)
    except Exception as error:
        if screen.interrupted:
            raise make_interrupt(screen) from error
        if isinstance(error, SqlanonError) and error.options:
            error.following = again(release, error.options)
        screen.close()
        return Outcome(release.name, failure=describe(error))
    screen.close()
    return Outcome(release.name, report=report)


def _same_error(outcome: Outcome[Any], other: Outcome[Any]) -> bool:
    """Whether two releases failed in the same run: tables that are published together."""
    return outcome.failure is not None and other.failure is not None and outcome.failure.error is other.failure.error


def _show_failure(screen: Screen, release: ReleaseSpec, failure: Failure) -> None:
    if screen.debug and failure.error is not None:
        screen.traceback(failure.error)
    if not screen.json:
        # Problems of tables name the table, which may be another one than this.
        label = "" if release.together and failure.message.startswith(release.together.tables) else release.name
        report_text(failure, debug=screen.debug, label=label)


def _ensure_source(release: ReleaseSpec, broken: Mapping[str, str]) -> None:
    if release.source in broken:
        raise PolicyError(f"not run: its source is published by {broken[release.source]}, which failed")


def _emit(screen: Screen, outcomes: Sequence[Outcome[R]]) -> None:
    """A single release is an object, several are a list."""
    if len(outcomes) == 1:
        (only,) = outcomes
        screen.emit(only.to_dict() if only.report else {"error": only.to_dict()["error"], "release": only.release})
    else:
        screen.emit({"releases": [outcome.to_dict() for outcome in outcomes]})

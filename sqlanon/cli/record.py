"""The record of a run as a JSON file, for the scheduler that started it.

It is on disk from the start of the run (``finished_at`` null) and rewritten, whole, after every release, so that a run
that was killed leaves the results so far.
"""

from __future__ import annotations

import datetime
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sqlanon._version import __version__
from sqlanon.errors import PolicyError
from sqlanon.private_folder import put_in_place

if TYPE_CHECKING:
    from types import TracebackType

    from sqlanon.cli.batch import Outcome
    from sqlanon.results import RunReport


class Record:
    """A context manager around a run; docs/refresh.md describes the file.

    Args:
        path: the file to write; replaced whole each time. A new file is private to the owner, an existing file keeps
            the mode.
        policy: the policy file's name; may be set again once it is known better.

    Raises:
        PolicyError: the file cannot be written.
    """

    def __init__(self, path: Path, policy: str) -> None:
        self.exit_code: int | None = None
        self.policy = policy
        self._path = path
        self._said: dict[str, Any] = {
            "sqlanon": __version__,
            "policy": policy,
            "started_at": _now(),
            "finished_at": None,
            "exit_code": None,
            "releases": [],
        }

    def __enter__(self) -> Self:
        self._write()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            from sqlanon.cli.failures import describe

            failure = describe(error)
            self.exit_code = failure.exit_code
            self._said["error"] = failure.to_dict()
        self._said |= {"finished_at": _now(), "exit_code": self.exit_code}
        self._write()

    def add(self, outcome: Outcome[RunReport]) -> None:
        """Note how a release ended."""
        described: dict[str, Any] = {"release": outcome.release, "outcome": "failed"}
        if outcome.report is not None:
            described = dict(outcome.report.to_dict())
        elif outcome.failure is not None:
            described["error"] = outcome.failure.to_dict()
        self._said["releases"].append(described)
        self._write()

    def _write(self) -> None:
        self._said["policy"] = self.policy
        beside: Path | None = None
        try:
            descriptor, name = tempfile.mkstemp(prefix=f"{self._path.name}.sqlanon-", dir=self._path.parent)
            beside = Path(name)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(self._said, indent=2, default=str) + "\n")
            put_in_place(beside, self._path)
        except OSError as error:
            if beside is not None:
                beside.unlink(missing_ok=True)
            raise PolicyError(
                f"--record {self._path}: cannot be written ({error.strerror}); name a file in a folder that is there"
            ) from error


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")

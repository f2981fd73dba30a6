"""The anchor: a file outside of the database with a copy of a budget's ledger; several databases may share it.

It has the same rows as the ledger. A database that lacks rows which it wrote was restored from a backup or copied.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlanon.errors import DatabaseError, LockedError
from sqlanon.release.budget.events import Event, check_chain


class Anchor:
    """The file of one budget; it holds no other."""

    def __init__(self, budget: str, path: str) -> None:
        self._budget, self._path = budget, Path(path)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other processes and databases from spending meanwhile.

        Raises:
            DatabaseError: the folder is not there, or nothing can be written in it.
        """
        try:
            marker = os.open(self._path.with_name(f"{self._path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise self._make_error("cannot be locked", error) from error
        try:
            try:
                fcntl.flock(marker, fcntl.LOCK_EX)
            except OSError as error:
                raise LockedError(f"budget {self._budget}: the anchor {self._path} cannot be locked") from error
            yield
        finally:
            os.close(marker)

    def read(self) -> list[Event] | None:
        """Events in the file; None without a file.

        Raises:
            DatabaseError: it cannot be read, or is no anchor of this budget.
        """
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise self._make_error("cannot be read", error) from error
        try:
            events = [Event(line["seq"], line["event"], line["body"], line["chain"]) for line in map(json.loads, lines)]
        except (ValueError, KeyError, TypeError) as error:
            raise self._make_error("is no anchor", error) from error
        check_chain(self._budget, events)
        return events

    def write(self, events: Sequence[Event]) -> None:
        """Put all events into the file, whole or not at all.

        Raises:
            DatabaseError: it cannot be written.
        """
        lines = [
            json.dumps(
                {"seq": event.seq, "event": event.kind, "body": event.body, "chain": event.chain}, sort_keys=True
            )
            for event in events
        ]
        new_path = self._path.with_name(f"{self._path.name}.new")
        try:
            with os.fdopen(
                os.open(new_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
            ) as file:
                file.write("".join(f"{line}\n" for line in lines))
                file.flush()
                os.fsync(file.fileno())
            os.replace(new_path, self._path)
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise self._make_error("cannot be written", error) from error

    def _make_error(self, what: str, error: Exception) -> DatabaseError:
        reason = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
        return DatabaseError(
            f"budget {self._budget}: the anchor {self._path} {what}{reason}: without it nobody knows whether this "
            "database is a copy, so that nothing is spent"
        )

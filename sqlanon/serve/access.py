"""The access log: reader, release, version, time and result of each query. No value of any cell."""

from __future__ import annotations

import datetime
import json
import os
import threading
from pathlib import Path
from typing import TextIO


def open_log(path: Path) -> TextIO:
    """Open a file to append lines; a new file is for the owner alone.

    Raises:
        OSError: it cannot be written.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
    try:
        file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return os.fdopen(os.open(path, flags), "w", encoding="utf-8")
    os.fchmod(file, 0o600)  # whatever the umask took away
    return os.fdopen(file, "w", encoding="utf-8")


class AccessLog:
    """Writes a JSON object per line.

    Args:
        stream: the stream to write to; None: no log.
        texts: write the queries too. They have the constants that analysts write, and no parameters.
    """

    def __init__(self, stream: TextIO | None, *, texts: bool = False) -> None:
        self._stream, self._texts = stream, texts
        self._guard = threading.Lock()

    def write(self, event: str, **facts: str | int | float) -> None:
        """Add a line.

        Args:
            event: login, refused, ask, catalog, or leave.
            facts: user, address, release, version, code (of an error), rows, seconds, text.
        """
        if self._stream is None:
            return
        moment = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        shown = {key: value for key, value in facts.items() if key != "text" or self._texts}
        with self._guard:
            self._stream.write(json.dumps({"at": moment, "event": event, **shown}) + "\n")
            self._stream.flush()

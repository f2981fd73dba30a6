"""What a long benchmark has measured so far, so that the same command goes on where it was interrupted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Kept:
    """One line of JSON a measurement, in a file beside the result; removed when the result is written.

    A measurement is found again by its key, which says everything that it depends on but the software's version.

    Args:
        out: the result file.
        fresh: forget what is there.
    """

    def __init__(self, out: Path, fresh: bool = False) -> None:
        self._file = out.with_suffix(".partial.jsonl")
        self._found: dict[str, dict[str, Any]] = {}
        if fresh:
            self.forget()
        elif self._file.is_file():
            for line in self._file.read_text().splitlines():
                try:
                    one = json.loads(line or "null")
                except ValueError:  # the line that an interruption cut
                    continue
                if one:
                    self._found[one["key"]] = one["figures"]
            print(f"{len(self._found)} measurements are kept in {self._file}", flush=True)

    def get(self, *key: object) -> dict[str, Any] | None:
        """The figures of a key, or None."""
        return self._found.get(json.dumps(key))

    def add(self, figures: dict[str, Any], *key: object) -> dict[str, Any]:
        """Keep figures; the same ones, for chaining."""
        text = json.dumps(key)
        self._found[text] = figures
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a") as file:
            file.write("\n" + json.dumps({"key": text, "figures": figures}, default=float))
        return figures

    def forget(self) -> None:
        """Remove the file."""
        self._found.clear()
        self._file.unlink(missing_ok=True)

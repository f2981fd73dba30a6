"""A run that dies by SIGKILL while it publishes: ``python -m examples.nightly.dying URL``, the arguments on stdin."""

from __future__ import annotations

import ast
import os
import signal
import sys

import sqlanon
from sqlanon import policy


class DieWhilePublishing:
    """A `Progress` that ends the process at the second beginning of the stage: everything is written and verified."""

    def __init__(self) -> None:
        self._left = 2

    def stage(self, release: str, stage: str) -> None:
        self._left -= stage == "publish"
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)

    def update(self, done: int, total: int, unit: str) -> None: ...

    def note(self, message: str) -> None: ...

    def finish(self, release: str) -> None: ...


if __name__ == "__main__":
    with sqlanon.connect(sys.argv[1], progress=DieWhilePublishing()) as db:
        db.run(policy.release(**ast.literal_eval(sys.stdin.read())))

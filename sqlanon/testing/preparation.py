"""Reads and profiles a source, for tests of later stages."""

from __future__ import annotations

import sys
from typing import Any

from sqlanon.progress import SilentProgress, Stopwatch
from sqlanon.release.divide.choose_division import division_of_run
from sqlanon.release.prepare.prepare import profile, read_source
from sqlanon.release.prepare.staged_source import PreparedSource, Reading, StagedSource
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


def prepare_source(
    scratch: Scratch, spec: ReleaseSpec, secret: str = "5" * 64, memory: int = sys.maxsize
) -> PreparedSource:
    """Read and profile the source of a release into scratch tables.

    Args:
        scratch: of the database.
        spec: the release.
        secret: key of hashes.
        memory: bytes for the kernels.
    """
    watch, source = Stopwatch("test", SilentProgress()), scratch.engine.relation(spec.source)
    staged: Any = read_source(scratch, spec, source, watch, Reading(secret, memory))
    assert isinstance(staged, StagedSource)
    units = division_of_run(spec, scratch.engine.workers)
    return profile(scratch, staged, units, watch, memory=memory)

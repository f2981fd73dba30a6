"""A method tried on the rows of a release, or on a part of them, to measure the loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlanon.declared import read_refining
from sqlanon.methods.base import Context
from sqlanon.privacy.base import Requirement
from sqlanon.progress import Progress
from sqlanon.release.divide.classes import Machine
from sqlanon.release.divide.division import Division
from sqlanon.release.prepare import guards
from sqlanon.release.prepare.staged_source import PreparedSource
from sqlanon.spec import ReleaseSpec
from sqlanon.table.encode import EncodedTable
from sqlanon.table.kinds import count_kinds
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Trial:
    """Inputs of a trial.

    Attributes:
        spec: the release.
        ready: the rows of the release.
        division: how the rows are divided.
        machine: resources of the method.
        progress: gets counts.
        secret: key of the release's hashes.
    """

    spec: ReleaseSpec
    ready: PreparedSource
    division: Division
    machine: Machine
    progress: Progress
    secret: str = field(repr=False)

    @property
    def asked(self) -> tuple[Requirement, ...]:
        """Requirements that a method solves."""
        return self.ready.solved

    def context(self, scratch: Scratch, encoded: EncodedTable) -> Context:
        """The context of the policy's method, without trials of ``refine: search``."""
        spec, machine = self.spec, self.machine
        refined = read_refining(spec, encoded.rows, count_kinds(encoded.quasi))
        return Context(
            scratch,
            encoded,
            self.asked,
            "auto",
            spec.memory or machine.memory,
            machine.threads,
            self.progress,
            spec.seed or 0,
            refine=replace(refined, search=0) if refined else None,
            format=spec.format.kind,
            secret=self.secret,
            release=spec.name,
            read_again=True,
        )

    def check_feasible(self, scratch: Scratch, encoded: EncodedTable, requirements: Sequence[Requirement]) -> None:
        """See `sqlanon.release.prepare.guards.check_feasible`, of the rows that are measured."""
        persons = [person.alias for person in self.ready.persons]
        guards.check_feasible(scratch, self.spec, encoded.stage, self.ready.roles, requirements, encoded.rows, persons)

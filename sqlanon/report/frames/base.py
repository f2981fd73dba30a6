"""A frame and its sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.query.release import Field, ReaderRelease
from sqlanon.release.catalog.entry import Entry
from sqlanon.report.document import Section
from sqlanon.results import AttackReport, RequirementResult, RunReport
from sqlanon.results.approvals import Approval
from sqlanon.results.kept_attacks import KeptAttacks
from sqlanon.results.measured_risk import MeasuredRisk, read_measured_risk
from sqlanon.shell import command

CHECK = "A check, not a finding: it lists what was measured and what was not, and decides nothing."
NO_COMMAND = "no command"
"""How a statement is known that nothing measures."""


@dataclass(frozen=True, slots=True)
class VersionFacts:
    """Facts about a version.

    Attributes:
        engine: where it is.
        entry: its row in the catalog.
        run: the run that made it.
        released: the view; None: it is in another file.
        approvals: of the release.
        versions: how many the catalog lists.
        beside: other published releases of the same source.
        attack: results of attacks; None: they were not run.
        kept: kept results of attacks on this version; None: none were kept.
    """

    engine: Engine
    entry: Entry
    run: RunReport
    released: ReaderRelease | None
    approvals: tuple[Approval, ...]
    versions: int
    beside: tuple[str, ...]
    attack: AttackReport | None = None
    kept: KeptAttacks | None = None

    @property
    def policy(self) -> Mapping[str, Any]:
        """As the catalog keeps it."""
        return self.entry.policy

    @property
    def risk(self) -> MeasuredRisk:
        """The risks that the run measured."""
        return read_measured_risk(self.run)

    @property
    def context(self) -> Mapping[str, str | None]:
        """The words of the policy."""
        return self.policy.get("context") or {}

    @property
    def measured_by_run(self) -> str:
        """The command whose verification measured the requirements."""
        return f"{command('run')}, version {self.entry.version}"

    def call(self, name: str, *options: str) -> str:
        """A command about this release."""
        return command(name, self.entry.release, options=options)

    def columns(self, *roles: str) -> list[str]:
        """The columns of some roles."""
        return [str(column["name"]) for column in self.policy["columns"] if column["role"] in roles]

    def requirements(self, *names: str) -> list[RequirementResult]:
        """Verified levels of some requirements; of all without names."""
        return [requirement for requirement in self.run.requirements if not names or requirement.name in names]

    def fields(self, role: str) -> list[Field]:
        """Published columns of a role, by the metadata."""
        return [field for field in self.released.fields if field.role == role] if self.released else []


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame.

    Attributes:
        name: on the command line.
        title: for people.
        source: the text that it follows.
        sections: makes its sections.
        needs: why it is not for a release; empty: it is.
    """

    name: str
    title: str
    source: str
    sections: Callable[[VersionFacts], tuple[Section, ...]]
    needs: Callable[[VersionFacts], str] = lambda _: ""

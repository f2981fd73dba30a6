"""Interface of a delivery: showing a version to readers at one kind of place, and withdrawing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sqlanon.engines.base import Engine
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.publish.new_version import NewVersion
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec


class Delivery(Protocol):
    """Publication, return and withdrawal of versions at a kind of places."""

    def in_steps(self, engine: Engine) -> bool:
        """Whether the catalog has a state between two steps, which `reconcile` finishes or takes back."""

    def put(self, parts: Sequence[NewVersion]) -> list[RunReport]:
        """Write, verify and show the versions of tables that are published together; all of them or none.

        Returns:
            the reports as the catalog has them.

        Raises:
            PrivacyViolation: the written tables fail; readers have what they had.
            UnsupportedError: several tables do not go to such a place together.
        """

    def settle(self, engine: Engine, entry: Entry, *, there: bool) -> list[str]:
        """Finish a pending or returning version that is ``there``, or remove the remains of one that is not.

        Returns:
            names of the removed files and folders.
        """

    def return_version(self, engine: Engine, entry: Entry, policy: Mapping[str, Any], current: Entry) -> None:
        """Let readers have an earlier version again, as ``policy`` says who reads and for how long.

        Raises:
            PolicyError: the version was at another place than the current one.
        """

    def unpublish(self, engine: Engine, entry: Entry) -> None:
        """Withdraw the published version, or record that; then the caller calls `reconcile`.

        Raises:
            PolicyError: readers have rows that this release did not publish.
            DependentsError: other objects read the views.
        """

    def withdraw(self, engine: Engine, entry: Entry) -> None:
        """Take a version from the readers that the catalog has as ``withdrawing``, unless that was done before."""

    def keep_readers(self, engine: Engine, spec: ReleaseSpec, entry: Entry) -> None:
        """Give the policy's readers their rights on the published version, and revoke those of others."""

    def tidy(self, engine: Engine, spec: ReleaseSpec, entry: Entry) -> None:
        """Remove earlier versions from a place's history, as the policy asks after each run."""

    def purge(self, engine: Engine, release: str, entries: Sequence[Entry]) -> None:
        """Remove the remains of versions that have no tables in the source's database.

        Args:
            engine: the source's database.
            release: the release.
            entries: its versions at such places, the newest last.

        Raises:
            DatabaseError: something is left.
        """


class PlainDelivery:
    """A delivery at places where readers have no rights of their own, and earlier versions leave nothing."""

    def check_withdrawal(self, engine: Engine, entry: Entry) -> None:
        """Look whether objects at the place depend on a version."""

    def keep_readers(self, engine: Engine, spec: ReleaseSpec, entry: Entry) -> None:
        """See `Delivery.keep_readers`."""

    def tidy(self, engine: Engine, spec: ReleaseSpec, entry: Entry) -> None:
        """See `Delivery.tidy`."""

    def purge(self, engine: Engine, release: str, entries: Sequence[Entry]) -> None:
        """See `Delivery.purge`."""

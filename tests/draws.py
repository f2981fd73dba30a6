"""Every run of a test draws the same.

Random tables, the secrets and seeds of releases, and their names, which secrets are mixed with.

What a test draws follows from its name alone, not from the tests before it in the same process. ``--random`` draws
anew. Processes that a test starts draw their own secrets, and what several tests share has names of its own in every
process.
"""

from __future__ import annotations

import hashlib
import secrets
import sys
import uuid
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any

import pytest
from hypothesis.internal.conjecture import providers

SECRET_BYTES = 32
SEED_BITS = 62


class Draws:
    """What releases draw, from the name of the test or shared fixture that makes them."""

    def __init__(self) -> None:
        self._streams: list[tuple[str, Iterator[int]]] = [("", count())]
        self._shared = 1
        self._token_hex = secrets.token_hex
        self._randbits = secrets.randbits
        self._uuid4 = uuid.uuid4

    def token_hex(self, nbytes: int | None = None) -> str:
        """A secret of a release, or a name, which must stay unique."""
        return self._next().hex() if nbytes == SECRET_BYTES else self._token_hex(nbytes)

    def randbits(self, k: int) -> int:
        """A seed of a release, or something else."""
        return int.from_bytes(self._next()) >> (256 - k) if k == SEED_BITS else self._randbits(k)

    def uuid4(self) -> uuid.UUID:
        """The name of a table or role that a test makes, or something else."""
        caller = str(sys._getframe(1).f_globals.get("__name__"))
        if self._shared or not caller.startswith("tests.") or caller == "tests.engines":
            return self._uuid4()
        return uuid.UUID(bytes=self._next()[:16], version=4)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """A test has its own draws."""
        self._shared -= 1
        try:
            return (yield from self._within(item.nodeid))
        finally:
            self._shared += 1

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        """What tests share has draws of its own, whichever test comes first."""
        if fixturedef.scope == "function":
            return (yield)
        self._shared += 1
        try:
            name = f"{request.node.nodeid}:{fixturedef.argname}:{request.param_index}"
            return (yield from self._within(name))
        finally:
            self._shared -= 1

    @contextmanager
    def share(self, name: str) -> Iterator[None]:
        """What a test makes for others as well has draws of its own, as a shared fixture."""
        self._shared += 1
        self._streams.append((name, count()))
        try:
            yield
        finally:
            self._streams.pop()
            self._shared -= 1

    def _within(self, name: str) -> Generator[None, Any, Any]:
        self._streams.append((name, count()))
        try:
            return (yield)
        finally:
            self._streams.pop()

    def _next(self) -> bytes:
        name, numbers = self._streams[-1]
        return hashlib.sha256(f"{next(numbers)} {name}".encode()).digest()


KEPT: list[Draws] = []
"""The draws of this process, if they are by names."""


@contextmanager
def share_draws(name: str) -> Iterator[None]:
    """See `Draws.share`; nothing with ``--random``."""
    with ExitStack() as stack:
        for draws in KEPT:
            stack.enter_context(draws.share(name))
        yield


def draw_the_same(config: pytest.Config) -> None:
    """From here on, draw by the names of tests."""
    draws = Draws()
    KEPT[:] = [draws]
    secrets.token_hex = draws.token_hex
    secrets.randbits = draws.randbits
    uuid.uuid4 = draws.uuid4
    config.pluginmanager.register(draws)
    # Constants of the modules that happen to be imported are tried as values: which ones depends on the tests before.
    providers._get_local_constants = lambda: providers._local_constants

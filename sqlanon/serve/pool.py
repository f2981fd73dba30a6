"""Pool of resources shared by all sessions: a resource is taken for one question, and no user ever has all of them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlanon.serve.cancel import LOOK_SECONDS, Cancel
from sqlanon.serve.refusals import CANCELLED, STOPPING, ServeError

T = TypeVar("T")


@dataclass(frozen=True)
class Turn:
    """A user's turn to take a resource.

    Attributes:
        user: the user who asks; "": the server itself, with an extra resource beyond those of the users.
        until: the moment of the monotonic clock until which to wait.
        cancel: ends the wait.
    """

    user: str
    until: float
    cancel: Cancel

    @property
    def seconds(self) -> float:
        """Seconds that are left."""
        return max(self.until - time.monotonic(), 0.001)


class Pool(Generic[T]):
    """Gives out resources, and makes them as they are needed.

    Args:
        make: makes a resource; it may raise.
        end: ends a resource; it does not raise.
        most: most resources of all users at once. A user has at most all but one, unless there is only one.
        spoils: errors that end the resource. Exceptions other than `Exception` do so anyhow.
        stamp: version of the resources: after a change, all older resources are ended before the next is made.
    """

    def __init__(
        self,
        make: Callable[[], T],
        end: Callable[[T], None],
        most: int,
        spoils: tuple[type[Exception], ...] = (),
        stamp: Callable[[], Hashable] = lambda: None,
    ) -> None:
        self._make, self._end, self._most, self._spoils, self._stamp = make, end, most, spoils, stamp
        self._change = threading.Condition()  # with a lock that the owner may take again
        self._idle: list[T] = []
        self._users: Counter[str] = Counter()
        self._made_of = stamp()
        self._keeping, self._closed = True, False

    @contextmanager
    def take(self, turn: Turn) -> Iterator[T]:
        """Take a resource for the time of a ``with``.

        Raises:
            ServeError: none was free in time, the client does not want it any more, or the server is stopping.
        """
        idle = self._take(turn)
        thing = None
        try:
            thing = idle if idle is not None else self._make()
            yield thing
        except BaseException as error:
            if thing is not None and (isinstance(error, self._spoils) or not isinstance(error, Exception)):
                self._end(thing)
                thing = None
            raise
        finally:
            self._give(turn, thing)

    def drop_idle(self) -> None:
        """End those that nobody has."""
        with self._change:
            while self._idle:
                self._end(self._idle.pop())

    def retire(self) -> None:
        """Keep none: those that are taken are ended as they are given back."""
        with self._change:
            self._keeping = False
        self.drop_idle()

    def close(self) -> None:
        """Give none any more."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        self.retire()

    def _take(self, turn: Turn) -> T | None:
        """An idle resource; None: the caller may make one."""
        with self._change:
            while True:
                turn.cancel.check()
                if self._closed:
                    raise ServeError(STOPPING, "the server is stopping")
                stamp = self._stamp()
                if self._made_of != stamp:
                    self.drop_idle()
                    if not self._users.total():
                        self._made_of = stamp
                if self._made_of == stamp and self._has_turn(turn.user):
                    self._users[turn.user] += 1
                    return self._idle.pop() if self._idle else None
                remaining = turn.until - time.monotonic()
                if remaining <= 0:
                    raise ServeError(CANCELLED, "the query waited longer than its time for others; ask again")
                self._change.wait(min(remaining, LOOK_SECONDS))

    def _has_turn(self, user: str) -> bool:
        if not user:
            return not self._users[user]
        in_use = self._users.total() - self._users[""]
        return in_use < self._most and self._users[user] < max(self._most - 1, 1)

    def _give(self, turn: Turn, thing: T | None) -> None:
        with self._change:
            if thing is not None and self._keeping and self._made_of == self._stamp():
                self._idle.append(thing)
                thing = None
        if thing is not None:  # before it is forgotten: a new stamp waits until none is left
            self._end(thing)
        with self._change:
            self._users -= Counter({turn.user: 1})
            self._change.notify_all()

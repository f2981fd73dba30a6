"""Users of the server: names with verifiers of SCRAM-SHA-256, from a file or a variable of the environment."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from scramp import ScramException, ScramMechanism

from sqlanon.errors import PolicyError

VARIABLE = "SQLANON_SERVE_USERS"
"""The variable with the users, where no file is given."""

Verifier = tuple[bytes, bytes, bytes, int]
"""Salt, stored key, server key and iterations (RFC 5802)."""

_ITERATIONS = 4096
_SALT = 16
"""Bytes of a salt, as PostgreSQL makes them."""
_VERIFIER = re.compile(r"SCRAM-SHA-256\$(\d{1,8}):([^$]+)\$([^:]+):(.+)")


class Users:
    """Names and verifiers.

    Args:
        verifiers: by name.
    """

    def __init__(self, verifiers: Mapping[str, Verifier]) -> None:
        self._verifiers = dict(verifiers)
        self._secret = secrets.token_bytes(32)
        self._shapes = [(len(verifier[0]), verifier[3]) for verifier in self._verifiers.values()] or [
            (_SALT, _ITERATIONS)
        ]

    def verifier(self, name: str) -> Verifier:
        """The verifier that a login is checked against; for an unknown name, a verifier that no password fits.

        It is the same each time, so that a client does not learn which names there are.
        """
        salt, stored, server, choice = (
            hmac.digest(self._secret, f"{part}{name}".encode(), "sha256") for part in "abcd"
        )
        # Salt and iterations of a known name, and made for known names too, which takes the same time.
        like = self._shapes[int.from_bytes(choice, "big") % len(self._shapes)]
        imitation = (salt * (like[0] // len(salt) + 1))[: like[0]], stored, server, like[1]
        return self._verifiers.get(name, imitation)


def read_users(path: Path | None) -> Users:
    """The users of a file, or of the environment.

    A line is ``name:password`` or ``name:verifier``, with the verifier as PostgreSQL keeps it
    (``SCRAM-SHA-256$4096:...``); empty lines and those that begin with # are left out.

    Args:
        path: the file; None: the variable `VARIABLE`.

    Raises:
        PolicyError: there are no users, the file is not for the owner alone, or a line is not as above. The
            text of a line is not shown.
    """
    place = VARIABLE if path is None else str(path)
    verifiers: dict[str, Verifier] = {}
    for number, line in enumerate(_text(path).splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, secret = line.partition(":")
        name = name.strip()
        if not name or not colon or not secret or name in verifiers:
            raise PolicyError(f"{place}, line {number}: name:password is wanted, each name once")
        verifiers[name] = _verifier(secret, f"{place}, line {number}")
    if not verifiers:
        raise PolicyError(f"{place} has no users; write a line name:password for each")
    return Users(verifiers)


def _text(path: Path | None) -> str:
    if path is None:
        if VARIABLE not in os.environ:
            raise PolicyError(
                f"who may log in? Give --users FILE with a line name:password for each user, or the variable {VARIABLE}"
            )
        return os.environ[VARIABLE]
    try:
        with open_secret(path) as file:
            return file.read().decode()
    except (OSError, UnicodeError) as error:
        raise PolicyError(f"{path}: cannot be read as text") from error


@contextmanager
def open_secret(path: Path) -> Iterator[BinaryIO]:
    """Open a file with secrets, once it is certain that nobody else reads or writes it.

    Raises:
        PolicyError: it belongs to somebody else, or others may use it.
        OSError: it cannot be opened.
    """
    # Of the opened file, not of the name, which may mean another file a moment later.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise PolicyError(f"{path} is no regular file")
        if status.st_uid not in (os.geteuid(), 0):
            raise PolicyError(f"{path} has secrets, and belongs to another user; make a file of your own")
        if status.st_mode & 0o077:
            raise PolicyError(f"{path} has secrets, and others may use it; chmod 600 {path}")
        yield file


def _verifier(secret: str, place: str) -> Verifier:
    try:
        match = _VERIFIER.fullmatch(secret.strip())
        if match is None:
            salt, stored, server, count = ScramMechanism("SCRAM-SHA-256").make_auth_info(
                secret, iteration_count=_ITERATIONS, salt=secrets.token_bytes(_SALT)
            )
            return salt, stored, server, count
        salt, stored, server = (base64.b64decode(part, validate=True) for part in match.groups()[1:])
    except (ScramException, ValueError) as error:
        raise PolicyError(f"{place}: this is no password or verifier that SCRAM-SHA-256 takes") from error
    if not len(stored) == len(server) == hashlib.sha256().digest_size or int(match[1]) < _ITERATIONS:
        raise PolicyError(f"{place}: a verifier has two keys of 32 bytes, and {_ITERATIONS} iterations at least")
    return salt, stored, server, int(match[1])

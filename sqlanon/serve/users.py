"""Who may log in: names with verifiers of SCRAM-SHA-256, from a file or a variable of the environment."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

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
        self._shapes = [(len(one[0]), one[3]) for one in self._verifiers.values()] or [(_SALT, _ITERATIONS)]

    def verifier(self, name: str) -> Verifier:
        """What the login of a name is checked against; of an unknown name one that no password fits.

        It is the same each time, so that a client does not learn which names there are.
        """
        salt, stored, server, choice = (
            hmac.digest(self._secret, f"{part}{name}".encode(), "sha256") for part in "abcd"
        )
        # Salt and iterations as one of the known names has them, and made for those too, which takes the same time.
        like = self._shapes[int.from_bytes(choice, "big") % len(self._shapes)]
        made = (salt * (like[0] // len(salt) + 1))[: like[0]], stored, server, like[1]
        return self._verifiers.get(name, made)


def read_users(path: Path | None) -> Users:
    """The users of a file, or of the environment.

    A line is ``name:password`` or ``name:verifier``, with the verifier as PostgreSQL keeps it
    (``SCRAM-SHA-256$4096:...``); empty lines and those that begin with # are left out.

    Args:
        path: the file; None: the variable `VARIABLE`.

    Raises:
        PolicyError: there are no users, others can read the file, or a line is not as above. The text
            of a line is not shown.
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
        if path.stat().st_mode & 0o077:
            raise PolicyError(f"{path} has passwords, and others may read it; chmod 600 {path}")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise PolicyError(f"{path}: cannot be read as text") from error


def _verifier(secret: str, place: str) -> Verifier:
    try:
        found = _VERIFIER.fullmatch(secret.strip())
        if found is None:
            salt, stored, server, count = ScramMechanism("SCRAM-SHA-256").make_auth_info(
                secret, iteration_count=_ITERATIONS, salt=secrets.token_bytes(_SALT)
            )
            return salt, stored, server, count
        salt, stored, server = (base64.b64decode(part, validate=True) for part in found.groups()[1:])
    except (ScramException, ValueError) as error:
        raise PolicyError(f"{place}: this is no password or verifier that SCRAM-SHA-256 takes") from error
    if not len(stored) == len(server) == hashlib.sha256().digest_size or int(found[1]) < _ITERATIONS:
        raise PolicyError(f"{place}: a verifier has two keys of 32 bytes, and {_ITERATIONS} iterations at least")
    return salt, stored, server, int(found[1])

"""Tokens of identifiers: a keyed HMAC-SHA-256 of a value's text, which every engine computes in SQL.

The token of a value is the first 128 bits of HMAC(key, text), as 32 hexadecimal digits (RFC 2104, section 5, has
truncation), and the key is HMAC(secret, purpose): the scope, and for a number of an event also the column's name. So
tokens of the same person are equal in all tables of a scope, and equal values of two scopes, or equal numbers of a
person and an event, have different tokens.

HMAC(key, text) = SHA256(key xor opad, SHA256(key xor ipad, text)). Both padded keys are made here and bound as values:
the text of a statement holds neither secret nor key.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping

from sqlanon.engines.base import Column
from sqlanon.errors import PolicyError
from sqlanon.spec import ReleaseSpec

_BLOCK = 64


def has_stable_text(column: Column) -> bool:
    """Whether equal values of a column have the same text, on every engine.

    That holds for whole numbers, text, enums and UUIDs.
    """
    plain = column.kind in ("integer", "text", "enum") or column.type.upper() == "UUID"
    return plain and column.deterministic and not column.own_operators


def problem_of(column: Column) -> str:
    """Why `has_stable_text` refuses a column."""
    return (
        f"pseudonym column {column.name} has type {column.shown_type}, whose equal values may have different texts, "
        "and so different tokens; cast it to a whole number or to text in a view of the source"
    )


def secret_of(spec: ReleaseSpec, stored: str) -> str:
    """The key of the release's tokens.

    It comes from the environment if the policy names a variable, else from the private schema.

    Raises:
        PolicyError: the variable is not set, or too short.
    """
    name = spec.token.secret if spec.token else None
    if name is None:
        return stored
    secret = os.environ.get(name, "")
    if len(secret.encode()) < 16:
        problem = "is not set" if not secret else "holds fewer than 16 bytes, which can be guessed"
        raise PolicyError(f"{spec.name}: the environment variable {name}, which keys the pseudonyms, {problem}")
    return secret


def make_keys(spec: ReleaseSpec, stored: str) -> dict[str, bytes]:
    """The key of each pseudonym column, by name in lower case; ``stored``: see `secret_of`."""
    person, keys = spec.token, {}
    secret = secret_of(spec, stored)
    for column in spec.with_role("pseudonym"):
        parts = ["person", str(spec.scope)] if column == person else ["event", str(spec.scope), column.name.lower()]
        keys[column.name.lower()] = hmac.digest(secret.encode(), "\0".join(parts).encode(), "sha256")
    return keys


def mark(keys: Mapping[str, bytes], secret: str) -> str:
    """Mark that the same keys were used, keyed with the release's own secret."""
    text = b"".join(name.encode() + b"\0" + key for name, key in sorted(keys.items()))
    return hmac.new(secret.encode(), text, "sha256").hexdigest()[:16]


def pad_key(key: bytes) -> tuple[str, str]:
    """The key as both hashes of an HMAC begin with it, in hexadecimal: xor ipad, and xor opad."""
    block = (key if len(key) <= _BLOCK else hashlib.sha256(key).digest()).ljust(_BLOCK, b"\0")
    return bytes(byte ^ 0x36 for byte in block).hex(), bytes(byte ^ 0x5C for byte in block).hex()

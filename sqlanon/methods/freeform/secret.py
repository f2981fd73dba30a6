"""Keys of random numbers: a secret that readers do not have, and nothing that a private value changes."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.arrays import Ints
    from sqlanon.kernels.extent import Geometry


def of_method(secret: str) -> str:
    """Substitute for the secret that a method gets.

    With it a method cannot predict the draw for a graph and choose the graph accordingly.
    """
    return hmac.new(secret.encode(), b"freeform method", hashlib.sha256).hexdigest()


def content_of(secret: str, options: Mapping[str, object], codes: Ints, geometry: Geometry) -> str:
    """Identity of matchings as a keyed hash: the method, the options, and the quasi values in their order.

    Private values are not part of it: if they changed the draw, and not the graph, a reader of two versions could match
    rows by private values, and would be left with the values that their two boxes have in common.
    """
    import numpy as np

    digest = hmac.new(secret.encode(), b"freeform content\0", hashlib.sha256)
    for name, value in sorted(options.items()):
        digest.update(f"{name}={value}\0".encode())
    for array in (codes, geometry.facts, geometry.table):
        digest.update(np.array(array.shape, "<i8").tobytes())
        digest.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data)
    return digest.hexdigest()


def key_of(secret: str, release: str, content: str) -> bytes:
    """32 bytes that random numbers are made with."""
    return hmac.new(secret.encode(), f"freeform key\0{release}\0{content}".encode(), hashlib.sha256).digest()

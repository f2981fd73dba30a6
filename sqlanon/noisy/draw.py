"""Noise: the only file that imports OpenDP, and from OpenDP only discrete Laplace and Gaussian noise on integers.

OpenDP draws from the system's generator, and takes no seed. Neither the noise nor a number computed from it is kept: a
published number without the noise is the exact answer.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.errors import PrivacyViolation, UnsupportedError

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.noisy.accounting import Law

TRIED = 1000
"""Numbers that are drawn to test the law of a scale; they are thrown away."""
ERRORS = 9
"""The variance of the tried numbers may differ from the law's by so many standard errors."""
LARGEST = 2**62
"""Exact answers are below: with the noise they fit 64 bits."""


def import_opendp() -> tuple[Any, Any, Any]:
    """The modules of OpenDP with domains, metrics, and mechanisms.

    The prelude of OpenDP is left out: it imports scikit-learn as well, and takes eight times as long.

    Raises:
        UnsupportedError: it is not installed.
    """
    try:
        from opendp import domains, measurements, metrics, mod
    except ImportError as missing:
        raise UnsupportedError("noise needs OpenDP: install sqlanon[dp]") from missing
    mod.enable_features("contrib")
    return domains, metrics, measurements


def make_mechanism(law: Law, scale: Fraction) -> Any:  # noqa: ANN401 - OpenDP makes its functions when it is imported
    """OpenDP's mechanism that adds discrete noise to a vector of integers."""
    domains, metrics, measurements = import_opendp()
    domain = domains.vector_domain(domains.atom_domain(T="i64"))
    if law == "laplace":
        return measurements.make_laplace(domain, metrics.l1_distance(T="i64"), scale=float(scale))
    return measurements.make_gaussian(domain, metrics.l2_distance(T="f64"), scale=float(scale))


def add_noise(exact: Longs, law: Law, scale: Fraction) -> Longs:
    """The exact answers with noise of their own each.

    Args:
        exact: int64[n].
        law: distribution of the noise.
        scale: a whole number of 1024ths.

    Cost: about 10 microseconds a number.
    """
    if len(exact) and int(np.abs(exact).max()) > LARGEST:
        raise PrivacyViolation("an answer is beyond 2^62")
    return np.array(make_mechanism(law, scale)(exact.tolist()), np.int64)


def try_law(law: Law, scale: Fraction) -> None:
    """Test the law on numbers that are thrown away, so that the test says nothing about published ones.

    Raises:
        PrivacyViolation: their variance is not that of the law. Of correct noise it happens once in 10^12 runs.
    """
    noise = add_noise(np.zeros(TRIED, np.int64), law, scale)
    size = float(scale)
    if law == "gaussian":
        variance, fourth = size**2, 3 * size**4
    else:
        fade = math.exp(-1 / size)
        stop = -math.expm1(-1 / size)
        variance = 2 * fade / stop**2
        fourth = 2 * fade * (1 + 10 * fade + fade**2) / stop**4
    error = math.sqrt(max(fourth - variance**2, 0.0) / TRIED)
    observed = float(np.mean(noise.astype(np.float64) ** 2))
    if abs(observed - variance) > ERRORS * error + 1e-3 * variance + 20 / TRIED:
        raise PrivacyViolation("the noise does not have the variance of its law: is OpenDP as it was tested?")

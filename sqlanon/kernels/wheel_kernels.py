"""Kernels that a wheel carries compiled, so that a first release compiles next to nothing.

They are compiled for a level of processors and not for a single processor: x86-64-v3 (AVX2 and FMA: Intel from Haswell
on, AMD from Zen on), or aarch64 as it began. A processor below the level, other versions of the compiler, or settings
of NUMBA_CPU_* of the user's own: everything is compiled as without them. They are code as the modules next to them are,
and trusted as those are.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
from numba.core import config

FOLDER = Path(__file__).with_name("_compiled")
"""A folder for each file of kernels, named by `sqlanon.kernels.cache.hash_inputs`; missing in a checkout."""

LEVELS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "x86_64": (
        "x86-64-v3",
        (
            "avx",
            "avx2",
            "bmi",
            "bmi2",
            "cmov",
            "cx16",
            "cx8",
            "f16c",
            "fma",
            "fxsr",
            "lzcnt",
            "mmx",
            "movbe",
            "popcnt",
            "sahf",
            "sse",
            "sse2",
            "sse3",
            "sse4.1",
            "sse4.2",
            "ssse3",
            "xsave",
        ),
    ),
    "aarch64": ("generic", ("neon", "fp-armv8")),
}
"""By machine: the processor that LLVM compiles for, and the features."""


def settings(machine: str = "") -> dict[str, str]:
    """Variables of the environment in which numba compiles for the level of a machine, by default of this machine."""
    name, features = LEVELS[machine or platform.machine()]
    return {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in features)}


@cache
def level() -> tuple[str, str] | None:
    """The processor and the features that shipped kernels were compiled for; None: they are not for this process."""
    if not FOLDER.is_dir() or platform.machine() not in LEVELS:
        return None
    if getattr(config, "CPU_NAME", None) or getattr(config, "CPU_FEATURES", None) is not None:
        return None
    try:
        here = llvm.get_host_cpu_features()
    except RuntimeError:
        return None
    _, features = LEVELS[platform.machine()]
    if not all(here.get(feature, False) for feature in features):
        return None
    machine = settings()
    return machine["NUMBA_CPU_NAME"], machine["NUMBA_CPU_FEATURES"]

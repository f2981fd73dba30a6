"""Build hook that puts compiled kernels into a wheel.

``python3 dev.py wheel`` compiles them and names their folder in SQLANON_COMPILED.

Without that variable the wheel has none, fits every platform, and compiles kernels where it is installed.
"""

import os
import sys
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):
    """A wheel with compiled kernels is for one version of Python and one platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """See hatchling."""
        folder = os.environ.get("SQLANON_COMPILED")
        if not folder or version == "editable":
            return
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        # The oldest libc that numba's own wheels run with.
        system = system.replace("linux_", "manylinux_2_28_", 1)
        build_data["pure_python"] = False
        build_data["tag"] = f"{python}-{python}-{system}"
        build_data["force_include"][folder] = "sqlanon/kernels/_compiled"

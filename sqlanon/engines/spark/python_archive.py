"""Sends a Python environment to executors.

Their machines then need Python itself only, and none of sqlanon's packages.
"""

from __future__ import annotations

import atexit
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.engines.spark.open_session import is_connect
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.private_folder import PrivateFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "sqlanon_environment"
"""The folder into which executors unpack it."""


def ship(session: SparkSession, archive: bool | str) -> None:
    """Send an environment to the executors, for the Python functions of a session.

    Args:
        session: a session of our own; the setting is changed in it alone.
        archive: a file that venv-pack or conda-pack has made; True: this process's environment is packed.

    Raises:
        PolicyError: there is no such file, or this environment cannot be packed; the text gives the remedy.
    """
    file = _pack_package() if archive is True else Path(str(archive))
    if not file.is_file():
        raise PolicyError(
            f"archive: there is no file {file}; make one with venv-pack or conda-pack, or give archive=True"
        )
    try:
        session.addArtifacts(f"{file.absolute()}#{NAME}", archive=True)
    except Exception as error:
        raise DatabaseError(f"archive: Spark cannot send {file} to the executors ({type(error).__name__})") from error
    place = "."
    if not is_connect(session) and session.sparkContext.master.startswith("local["):
        from pyspark.core.files import SparkFiles

        place = SparkFiles.getRootDirectory()  # the executor is the driver, which does not run there
    session.conf.set("spark.sql.execution.pyspark.python", f"{place}/{NAME}/bin/python")


def _pack_package() -> Path:
    try:
        import venv_pack
    except ImportError:
        raise PolicyError(
            "archive=True packs this environment with venv-pack, which is not here: pip install venv-pack, or name a "
            "file that venv-pack or conda-pack has made"
        ) from None
    folder = PrivateFolder(Path(tempfile.gettempdir()) / "sqlanon-packed")
    atexit.register(folder.remove)
    file = folder.path / "environment.tar.gz"
    packer: Any = venv_pack
    try:
        packer.pack(output=str(file))
    except packer.VenvPackException as error:
        raise PolicyError(
            f"archive=True: this environment cannot be packed: {str(error).splitlines()[0]}; install sqlanon without "
            "--editable, or name a file that venv-pack or conda-pack has made"
        ) from error
    return file

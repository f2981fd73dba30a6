"""Kernels that a wheel carries.

Found by what they were compiled from, on processors of their level, and nowhere else.
"""

from __future__ import annotations

import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from sqlanon.kernels import wheel_kernels
from tests.project.test_cache import CALLED, called, checkout
from tests.project.test_wheel import run
from tests.project.tree import ROOT

BELOW = f"""
from sqlanon.kernels import shipped
shipped.LEVELS = {{machine: (name, ("a feature of later processors",)) \
for machine, (name, _) in shipped.LEVELS.items()}}
{CALLED}"""
ALL = ["inner", "other", "outer"]

pytestmark = pytest.mark.skipif(
    wheel_kernels.platform.machine() not in wheel_kernels.LEVELS,
    reason="wheels for this processor carry no compiled kernels",
)


@pytest.fixture(scope="module")
def carrying(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package that carries what was compiled in another place, for the level of this machine."""
    built = checkout(tmp_path_factory.mktemp("built"))
    assert called(built, built / "cache", **wheel_kernels.settings())["compiled"] == ALL
    folder = checkout(tmp_path_factory.mktemp("carrying"))
    shutil.copytree(built / "cache" / "sqlanon" / "kernels", folder / "sqlanon" / "kernels" / "_compiled")
    return folder


def test_what_is_carried_is_not_compiled(carrying, tmp_path):
    assert called(carrying, tmp_path)["compiled"] == []
    assert list(tmp_path.rglob("*.nb?")) == []


@pytest.mark.thorough
def test_a_processor_below_the_level_compiles(carrying, tmp_path):
    assert called(carrying, tmp_path, BELOW)["compiled"] == ALL


@pytest.mark.thorough
def test_settings_of_the_users_own_compile(carrying, tmp_path):
    assert called(carrying, tmp_path, NUMBA_CPU_NAME="generic")["compiled"] == ALL


@pytest.mark.thorough
def test_a_changed_source_compiles_with_what_calls_it(carrying, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(carrying, folder)
    source = folder / "sqlanon" / "kernels" / "try_inner.py"
    source.write_text(source.read_text() + "\n# another text\n")
    assert called(folder, tmp_path / "cache")["compiled"] == ["inner", "outer"]


@pytest.mark.thorough
def test_a_damaged_file_is_compiled(carrying, tmp_path):
    folder = tmp_path / "damaged"
    shutil.copytree(carrying, folder)
    for file in (folder / "sqlanon" / "kernels" / "_compiled").glob("*.try_other-*/*.nbc"):
        file.write_bytes(file.read_bytes()[:100])
    assert called(folder, tmp_path / "cache")["compiled"] == ["other"]


def test_the_wheel_holds_what_it_is_given(tmp_path):
    """And is for this version of Python and this platform."""
    given = tmp_path / "compiled" / "some-0123"
    given.mkdir(parents=True)
    (given / "f.nbi").write_bytes(b"index")
    run(
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        tmp_path,
        ROOT,
        cwd=tmp_path,
        SQLANON_COMPILED=str(given.parent),
    )
    (built,) = tmp_path.glob("*.whl")
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert f"-{version}-{version}-" in built.name
    assert not built.name.endswith("-any.whl")
    with zipfile.ZipFile(built) as archive:
        assert archive.read("sqlanon/kernels/_compiled/some-0123/f.nbi") == b"index"

"""The wheel: it holds the package and its SQL and nothing else, and works where there is no checkout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.docs.commands import QUICKSTART, SCREEN, run_in_order
from tests.docs.test_commands import server as server  # noqa: PLC0414 - a fixture
from tests.project.tree import MACROS, MODULES, PACKAGE, ROOT, TEMPLATES, label


def run(*command: object, cwd: Path, **environment: str) -> str:
    """The output of a command that must succeed."""
    here = {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}
    ended = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**here, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    directory = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", directory, ROOT, cwd=directory)
    (built,) = directory.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the wheel's own files in it."""
    target = tmp_path_factory.mktemp("installed")
    run(
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        target,
        wheel,
        cwd=target,
    )
    return target


def python(installed: Path, script: Path, directory: Path) -> Any:
    """Run a script on the installed wheel and its dependencies, without the checkout; return its JSON.

    ``-S`` leaves out the path files of site-packages, which name the checkout, and ``-P`` the script's folder.
    """
    dependencies = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    path = os.pathsep.join([str(installed), *sorted(dependencies)])
    return json.loads(run(sys.executable, "-S", "-P", script, cwd=directory, PYTHONPATH=path))


def test_holds_the_package_and_its_sql(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {label(path) for path in MODULES} | {"sqlanon/py.typed"}
    templates = {f"sqlanon/_{label(path)}" for path in (*TEMPLATES, *MACROS)}
    described = {name for name in names if re.match(r"sqlanon-[\d.]+\.dist-info/", name)}
    assert modules <= names
    assert templates <= names
    assert {name for name in names - modules - templates - described if not (ROOT / name).is_file()} == set()
    assert any(name.endswith("licenses/LICENSE") for name in described)


def test_sql_is_the_checkouts(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert [p for p in (*TEMPLATES, *MACROS) if archive.read(f"sqlanon/_{label(p)}") != p.read_bytes()] == []


def test_version_is_written_once(wheel):
    from sqlanon._version import __version__

    assert wheel.name == f"sqlanon-{__version__}-py3-none-any.whl"
    assert f"[{__version__}]" in (ROOT / "CHANGELOG.md").read_text()
    assert [label(path) for path in [*MODULES, ROOT / "pyproject.toml"] if f'"{__version__}"' in path.read_text()] == [
        label(PACKAGE / "_version.py")
    ]


ANONYMIZE = """
import json
import sqlanon
import sqlanon.kernels.mondrian

with sqlanon.connect("duckdb:///:memory:") as db:
    db.engine.execute("CREATE TABLE people (age INTEGER, sex VARCHAR, zip VARCHAR, disease VARCHAR)")
    db.engine.execute(
        "INSERT INTO people VALUES (25, 'M', '53711', 'Flu'), (25, 'F', '53712', 'Hepatitis'), "
        "(26, 'M', '53711', 'Bronchitis'), (27, 'M', '53710', 'Broken Arm'), (27, 'F', '53712', 'AIDS'), "
        "(28, 'M', '53711', 'Hang Nail')"
    )
    release = db.anonymize(
        "people", quasi=["age", "sex", "zip"], sensitive="disease", accept_unique="disease", k=2,
        publish="release.people",
        method="mondrian", execution="pushdown",  # which runs no kernel: to compile one takes longer than all else here
    )
    report = release.report
    print(json.dumps({
        "from": sqlanon.__file__, "version": sqlanon.__version__, "rows": report.rows, "verified": report.verified,
        "min_class": report.min_class, "audit": release.audit().k,
        "published": len(db.engine.fetch("SELECT age_lo, age_hi, sex, zip, disease FROM release.people")),
    }))
"""


@pytest.mark.thorough
def test_every_template_renders(installed, tmp_path):
    reported = python(installed, Path(__file__).with_name("render.py"), tmp_path)
    assert Path(reported["from"]).is_relative_to(installed)
    assert reported["folders"] == [str(installed / "sqlanon" / "_sql")]
    assert set(reported["names"]) == {
        path.relative_to(ROOT / "sql").with_suffix("").as_posix().partition("/")[2] for path in TEMPLATES
    }
    assert reported["failed"] == []


@pytest.mark.thorough
def test_anonymizes(installed, tmp_path):
    from sqlanon._version import __version__

    script = tmp_path / "anonymize.py"
    script.write_text(ANONYMIZE)
    reported = python(installed, script, tmp_path)
    assert Path(reported["from"]).is_relative_to(installed)
    assert (reported["version"], reported["rows"], reported["published"], reported["verified"]) == (
        __version__,
        6,
        6,
        True,
    )
    assert reported["min_class"] >= 2
    assert reported["audit"] >= 2


@pytest.mark.thorough
def test_command(installed, tmp_path):
    path = os.pathsep.join([str(installed), sysconfig.get_path("purelib")])
    reported = run(sys.executable, "-S", installed / "bin" / "sqlanon", "--version", cwd=tmp_path, PYTHONPATH=path)
    assert reported.startswith("sqlanon ")


@pytest.mark.thorough
@pytest.mark.duckdb
@pytest.mark.postgres
def test_quick_start_of_an_installed_wheel(wheel, tmp_path, server):
    """``pip install`` of the wheel in a new environment, then every command of the page.

    Its packages come from the package index.
    """
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    run(environment / "bin" / "python", "-m", "pip", "install", "--quiet", f"{wheel}[cli]", cwd=tmp_path)
    names = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    names["PATH"] = f"{environment / 'bin'}{os.pathsep}{names['PATH']}"
    shown = run_in_order(QUICKSTART, tmp_path, names | SCREEN, server)
    assert len(shown) >= 20

"""The example project, run by dbt and sqlanon in turns on both adapters, as its README says.

The release is judged by definition.
"""

from __future__ import annotations

from collections import Counter

import pytest

import sqlanon
from examples.dbt_hospital.run import COMMANDS, environment
from tests.conftest import ready
from tests.dbt.real import artifact, copied, run, statuses
from tests.dbt.test_package import ADAPTERS
from tests.engines import read_table
from tests.invoked import invoke


def judge(rows, quasi):
    """Sizes of the classes by these columns, and the largest share of one diagnosis in each."""
    classes = {}
    for row in rows:
        classes.setdefault(tuple(str(row[name]) for name in quasi), []).append(row["diagnosis"])
    return [(len(values), max(Counter(values).values()) / len(values)) for values in classes.values()]


@pytest.mark.thorough
@pytest.mark.parametrize("engine", [pytest.param(one, id=one.family) for one in ADAPTERS])
def test_the_hospital_is_released(engine, tmp_path, monkeypatch):
    url = ready(engine).fresh(tmp_path)
    project = copied("examples/dbt_hospital", tmp_path)
    environ = environment(url)
    monkeypatch.chdir(project)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    for command in COMMANDS:
        program, *rest = command.split()
        if program == "dbt":
            run(project, *rest, environ=environ)
        else:
            ended = invoke(*rest, "--json")
            assert ended.exit_code == 0, ended.output
        if rest[0] == "build":
            ended = statuses(project)
            assert set(ended.values()) <= {"success", "pass", "no-op"}
            tested = {
                name.split("_release_")[0].split("_patients_")[0] for name in ended if name.startswith("sqlanon_")
            }
            points = rest[1] == "--exclude"
            assert len(tested) == (0 if points and engine.family == "postgres" else 3)
    exposure = artifact(project, "manifest.json")["exposures"]["exposure.hospital.diagnosis_dashboard"]
    assert "source.hospital.release.patients" in exposure["depends_on"]["nodes"]
    with sqlanon.connect(url) as db:
        rows = read_table(db, ("release", "patients"))
        assert {"patient_id", "name"}.isdisjoint(rows[0])
        released = [(rows, ["age_lo", "age_hi", "sex", "zip"])]
        if engine.family == "duckdb":
            released.append((read_table(db, ("main", "patients_points")), ["age", "sex", "zip"]))
        for table, quasi in released:
            assert len(table) == 400
            judged = judge(table, quasi)
            assert min(size for size, _ in judged) >= 5
            assert max(share for _, share in judged) <= 0.5
        schema = "main" if engine.family == "duckdb" else "hospital"
        assert sum(row["patients"] for row in read_table(db, (schema, "diagnoses"))) == 400
    engine.drop(url)

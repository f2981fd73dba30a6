"""``sqlanon evaluate``: what it prints, how it ends."""

from __future__ import annotations

from typing import Any

import pytest

WORKLOAD = """\
version: 1
queries:
  - {name: young, sql: "select count(*) as n from people where age < 35"}
  - {name: by sex, sql: "select sex, avg(age) as a from people group by sex"}
  - {name: median, sql: "select corr(age, age) from people"}
generators:
  - {kind: equality, columns: sex}
  - {kind: datacube, level: 1}
  - joint
"""


@pytest.fixture
def released(cli: Any, policy: Any, tmp_path: Any) -> Any:
    """A release, and a workload beside its policy."""
    (tmp_path / "workload.yml").write_text(WORKLOAD)
    assert cli("run").code == 0
    return policy


@pytest.mark.usefixtures("released")
def test_text_and_json(cli: Any) -> None:
    report = cli("evaluate", "--json").json
    assert (report["release"], report["view"], report["source"]) == ("people", "release.people", "main.people")
    assert report["sound"] is True
    assert report["total"]["errors"]["inside"] == report["total"]["errors"]["cells"] == 5
    assert [one["name"] for one in report["families"]] == ["queries", "equality"]
    young = report["queries"][0]
    assert young["low"] <= young["truth"] <= young["high"]
    assert report["queries"][2]["refused"]
    assert [cube["name"] for cube in report["cubes"]] == ["datacube 1", "joint"]
    assert all(cube["kld"] >= 0 and cube["missed"] == 0 for cube in report["cubes"])
    assert "cells" not in report
    text = cli("evaluate", "people")
    assert text.code == 0, text.err
    for word in ("release.people", "young", "by sex", "100 %", "KLD", "joint", "^^^", "equality"):
        assert word in text.out


@pytest.mark.usefixtures("released")
def test_the_picture_is_in_the_report_now(cli: Any) -> None:
    refused = cli("evaluate", "--plot", "p.png")
    assert (refused.code, "sqlanon report" in refused.err) == (2, True)
    assert "--plot" not in cli("evaluate", "--help").out


@pytest.mark.usefixtures("released")
def test_what_ends_it(cli: Any, tmp_path: Any) -> None:
    assert "no workload file" in cli("evaluate", "-w", "none.yml").err
    assert "neither a published release" in cli("evaluate", "nothing").err
    (tmp_path / "bad.yml").write_text("version: 1\ngenerators: [cube]\n")
    bad = cli("evaluate", "-w", "bad.yml")
    assert (bad.code, "bad.yml:2: generators[0].kind: not a kind" in bad.err) == (2, True)


@pytest.mark.usefixtures("released")
def test_a_changed_source_ends_with_1(cli: Any, warehouse: str, tmp_path: Any) -> None:
    """The bounds hold for the source that was released; more rows than that lie outside, and the text says so."""
    import duckdb

    (tmp_path / "workload.yml").write_text(WORKLOAD.partition("generators")[0])
    with duckdb.connect(warehouse.removeprefix("duckdb:///")) as connection:
        connection.execute("INSERT INTO people SELECT * FROM people")
    ended = cli("evaluate")
    assert ended.code == 1
    assert "OUTSIDE" in ended.out
    assert "another number of rows than the release" in ended.out
    assert "changed since" in ended.out


@pytest.mark.usefixtures("released")
def test_no_generated_query_is_shown(cli: Any, tmp_path: Any) -> None:
    """The text of a generated query holds values of the source: not even a refusal shows it."""
    (tmp_path / "workload.yml").write_text(
        "version: 1\ngenerators: [{kind: equality, columns: zip}, {kind: ranges, queries: 5}]\n"
    )
    for words in ((), ("--json",), ("-vv",)):
        ended = cli("evaluate", *words)
        assert "53701" not in ended.out + ended.err
        assert "asthma" not in ended.out + ended.err

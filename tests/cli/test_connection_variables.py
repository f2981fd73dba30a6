"""Variables of the environment in a policy's connection.

Whatever becomes of the connection, nothing prints their values.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli

SECRET = "Zq canary%2Fx"
POLICY = """\
version: 1
connection: "{connection}"
releases:
  - {{name: x, source: t, columns: {{a: quasi}}, privacy: {{k: 2}}}}
"""
CONNECTIONS = (
    "${VALUE}",
    "${VALUE}://host/x",
    "duckdb:///${VALUE}.duckdb",
    "duckdb:///${VALUE}",
    "postgresql://${VALUE}@127.0.0.1:1/x",
    "postgresql://u:${VALUE}@127.0.0.1:1/x",
    "postgresql://u@${VALUE}/x",
    "postgresql://u@127.0.0.1:${VALUE}/x",
    "postgresql://u@127.0.0.1:1/${VALUE}",
    "postgresql://u@127.0.0.1:1/x?sslmode=${VALUE}",
    "postgresql://u@127.0.0.1:1/x?options=${VALUE}",
    "postgresql:///x?host=/nowhere/${VALUE}",
    "mysql://${VALUE}/x",
)


@pytest.mark.parametrize("connection", CONNECTIONS)
@pytest.mark.parametrize(
    "value", [SECRET, "zqcanary", "zqcanary" * 60, "duckdb:///zqcanary.duckdb", "postgresql://zqcanary@127.0.0.1:1/x"]
)
def test_no_part_of_a_value_is_printed(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connection: str, value: str
) -> None:
    """Also where the value is a whole URL, of which errors name parts, and with --debug, which prints causes."""
    monkeypatch.setenv("VALUE", value)
    monkeypatch.chdir(tmp_path)
    Path("anon.yml").write_text(POLICY.format(connection=connection), encoding="utf-8")
    for command in (("plan",), ("run",), ("releases",), ("plan", "--debug"), ("run", "--json")):
        ended = cli(*command)
        assert ended.code in (2, 3), (command, ended)
        assert "canary" not in (ended.out + ended.err).lower(), command
        assert "VALUE" in ended.out + ended.err

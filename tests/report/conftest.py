"""Reports share the command line of `tests/cli`."""

from tests.cli.conftest import cli, people_csv, policy, warehouse

__all__ = ["cli", "people_csv", "policy", "warehouse"]

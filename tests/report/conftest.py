"""Reports share the command line of `tests/cli`."""

from tests.cli.conftest import cli, people_csv, people_file, policy, warehouse

__all__ = ["cli", "people_csv", "people_file", "policy", "warehouse"]

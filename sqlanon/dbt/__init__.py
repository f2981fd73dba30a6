"""dbt: the releases that a dbt project asks for, and a release as a Python model of dbt-duckdb.

Here belong the readers of dbt's files (manifest.json, run_results.json, dbt_project.yml, profiles.yml) and the helper
for Python models. Nothing here imports dbt: dbt's files are the interface, and a Python model gets its input by dbt.
The generic tests for dbt projects are SQL and live in the repository's ``dbt/``.
"""

from sqlanon.dbt.model import release
from sqlanon.dbt.project import load

__all__ = ["load", "release"]

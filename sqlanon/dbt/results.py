"""dbt's run_results.json: which models were not built, or failed a test of their own, when dbt last ran."""

from __future__ import annotations

from pathlib import Path

from sqlanon.dbt.files import read_json
from sqlanon.dbt.manifest import Manifest
from sqlanon.errors import PolicyError

_BAD = ("error", "fail", "runtime error", "skipped", "partial success")
"""The states of a node with children that dbt skips."""


def find_failed(path: Path, manifest: Manifest) -> dict[str, str]:
    """Model id -> why a release must not be made of it: dbt would not build the children either.

    A model that dbt's last command did not touch was built by an earlier command: nothing is known against it.

    Raises:
        PolicyError: the file is there and cannot be read.
    """
    if not path.is_file():
        return {}
    results = read_json(path).get("results")
    if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
        raise PolicyError(f"{path}: not the results of a dbt run; run dbt build")
    reasons: dict[str, str] = {}
    models = {model.node for model in manifest.asked}
    for result in results:
        node, status = str(result.get("unique_id")), str(result.get("status"))
        if status not in _BAD:
            continue
        if node in models:
            reasons[node] = f"dbt did not build the model when it last ran ({status})"
        elif (about := manifest.tests.get(node)) in models and status != "skipped":
            assert about is not None
            name = node.split(".")[2] if node.count(".") >= 2 else node
            reasons.setdefault(about, f"the model's test {name} did not pass when dbt last ran ({status})")
    return {node: f"{reason}; repair it and run dbt build" for node, reason in reasons.items()}

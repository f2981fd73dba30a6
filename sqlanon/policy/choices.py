"""Policies of a comparison: a release with another k, method, refine or epsilon, to be tried or written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sqlanon.errors import PolicyError
from sqlanon.policy.document import Document
from sqlanon.policy.load import load_document
from sqlanon.spec import PolicySpec


@dataclass(frozen=True, slots=True)
class Choice:
    """Changes to a release.

    Attributes:
        k: rows of a class.
        method: the algorithm.
        refine: whether a local pass improves the classes.
    """

    k: int
    method: str
    refine: bool


def choose_policy(
    path: str | os.PathLike[str], release: str, choice: Choice, environ: Mapping[str, str] | None = None
) -> tuple[str, PolicySpec]:
    """The text of a policy file with a choice for a release, and the spec of the changed policy.

    Comments are not kept.

    Raises:
        PolicyError: the file cannot be changed so, or the changed policy has mistakes.
    """
    raw, item = _read(path, release)
    if "statistics" in item:
        raise PolicyError(
            f"compare {release}: it has no rows; of noisy statistics epsilons are compared: --epsilon 0.5,1"
        )
    privacy = item.get("privacy")
    item["privacy"] = {**(privacy if isinstance(privacy, dict) else {}), "k": choice.k}
    item.pop("effort", None)
    item["method"], item["refine"] = choice.method, choice.refine
    return _write(path, raw, f"compare {release}: k={choice.k}, method {choice.method}", environ)


def choose_noise(
    path: str | os.PathLike[str],
    release: str,
    epsilon: float,
    places: Sequence[int] | None,
    environ: Mapping[str, str] | None = None,
) -> str:
    """The text of a policy file with another epsilon, and fewer tables, for a release of noisy statistics.

    Args:
        path: the file.
        release: the release.
        epsilon: of a version.
        places: of the tables that stay, without synthetic rows and groups of other tables; None: all.
        environ: values of placeholders; None: those of the process.

    Raises:
        PolicyError: see `choose_policy`; or a table is one of synthetic rows.
    """
    raw, item = _read(path, release)
    statistics = item["statistics"]
    statistics["epsilon"] = int(epsilon) if epsilon == int(epsilon) else epsilon
    if places is not None:
        declared = statistics.get("tables") or []
        if max(places) >= len(declared):
            raise PolicyError(f"compare {release}: synthetic rows are drawn of all their tables: choose those together")
        statistics.pop("rows", None)
        statistics["tables"] = tables = [declared[place] for place in places]
        columns = (table["by"] for table in tables)
        folded_names = {name.lower() for by in columns for name in ([by] if isinstance(by, str) else by)}
        statistics["groups"] = {
            name: group for name, group in statistics["groups"].items() if name.lower() in folded_names
        }
    return _write(path, raw, f"compare {release}: epsilon {epsilon:g}", environ)[0]


def _read(path: str | os.PathLike[str], release: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The data of a policy file, and in it those of a release."""
    raw: Any = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    releases = [item for item in raw["releases"] if isinstance(item, dict) and item.get("name") == release]
    if len(releases) != 1 or "tables" in releases[0]:
        raise PolicyError(f"compare {release}: it is published together with other tables; compare single releases")
    return raw, releases[0]


def _write(
    path: str | os.PathLike[str], raw: Mapping[str, Any], what: str, environ: Mapping[str, str] | None
) -> tuple[str, PolicySpec]:
    """The text of changed data, and their spec; problems begin with what was chosen."""
    text = yaml.safe_dump(raw, sort_keys=False, allow_unicode=True, width=120)
    try:
        policy = load_document(Document(os.fspath(path), text, os.environ if environ is None else environ), path)
    except PolicyError as error:
        # Lines are those of the changed text, which nobody sees.
        why = re.sub(r"^.*?:\d+: ", "", error.problems[0])
        raise PolicyError(f"{what}: {why}") from None
    return text, policy

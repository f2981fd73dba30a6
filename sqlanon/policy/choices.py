"""A policy with another k, method or refine for a release: the variants that a comparison tries, and writes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
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
    raw: Any = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    releases = [item for item in raw["releases"] if isinstance(item, dict) and item.get("name") == release]
    if len(releases) != 1 or "tables" in releases[0]:
        raise PolicyError(f"compare {release}: it is published together with other tables; compare single releases")
    (item,) = releases
    if "statistics" in item:
        raise PolicyError(
            f"compare {release}: it has no rows; of noisy statistics epsilons are compared: --epsilon 0.5,1"
        )
    privacy = item.get("privacy")
    item["privacy"] = {**(privacy if isinstance(privacy, dict) else {}), "k": choice.k}
    item.pop("effort", None)
    item["method"], item["refine"] = choice.method, choice.refine
    text = yaml.safe_dump(raw, sort_keys=False, allow_unicode=True, width=120)
    try:
        policy = load_document(Document(os.fspath(path), text, os.environ if environ is None else environ), path)
    except PolicyError as error:
        # Lines are those of the changed text, which nobody sees.
        why = re.sub(r"^.*?:\d+: ", "", error.problems[0])
        raise PolicyError(f"compare {release}: k={choice.k}, method {choice.method}: {why}") from None
    return text, policy

"""A policy file in a fresh directory, and the problems it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy import load
from sqlanon.spec import PolicySpec

Write = Callable[[str], Path]
Load = Callable[..., PolicySpec]
Problems = Callable[..., list[str]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a policy file."""

    def write(text: str) -> Path:
        path = tmp_path / "anon.yml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def read(write: Write) -> Load:
    """Writes and loads a policy file."""

    def read(text: str, environ: Mapping[str, str] | None = None) -> PolicySpec:
        return load(write(text), {} if environ is None else environ)

    return read


@pytest.fixture
def problems(read: Load, tmp_path: Path) -> Problems:
    """The problems of a policy file, its directory left out."""

    def problems(text: str, environ: Mapping[str, str] | None = None) -> list[str]:
        with pytest.raises(PolicyError) as raised:
            read(text, environ)
        return [problem.replace(f"{tmp_path}/", "") for problem in raised.value.problems]

    return problems

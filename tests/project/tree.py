"""Where the checkout's files are."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "sqlanon"
TEMPLATES = sorted((ROOT / "sql").rglob("*.sql"))
MACROS = sorted((ROOT / "sql").rglob("*.jinja"))
"""Macros that several templates of an engine import."""
MODULES = sorted(PACKAGE.rglob("*.py"))


def tracked() -> list[Path]:
    """Every file that git has, or would take."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return sorted(ROOT / name for name in set(listed.split("\0")) if name and (ROOT / name).is_file())


def label(path: Path) -> str:
    """A path as tests show it."""
    return path.relative_to(ROOT).as_posix()


@cache
def syntax(path: Path) -> ast.Module:
    """The syntax tree of a file: several tests look at all of them."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of that tree."""
    return tuple(ast.walk(syntax(path)))

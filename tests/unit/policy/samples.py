"""A small policy, and ways to change one thing in it."""

from __future__ import annotations

SMALL = """\
version: 1
releases:
  - name: patients
    source: main.patients
    publish: release.patients
    columns:
      age: quasi
      sex: quasi
      diagnosis: sensitive
      cost: insensitive
      name: identifier
    privacy: {k: 10}
"""


def with_column(text: str) -> str:
    return SMALL.replace("      age: quasi\n", f"      {text}\n")


def with_privacy(text: str) -> str:
    return SMALL.replace("    privacy: {k: 10}\n", f"    privacy: {text}\n")


def with_key(text: str) -> str:
    return SMALL + f"    {text}\n"

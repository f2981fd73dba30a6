"""Methods as one text, as an option that names several methods takes it: ``tree; fulldomain:search=local``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.request import Refusal, Request
from sqlanon.spec import MethodSpec

_ONE = re.compile(r"([a-z][a-z0-9_]*)(?::(.+))?")


def read_candidates(text: str) -> list[MethodSpec]:
    """The methods that a text names, in the text's order.

    Raises:
        ValueError: it cannot be read; the message does not repeat it.
    """
    methods = []
    for part in text.split(";"):
        match = _ONE.fullmatch(part.strip())
        if match is None:
            raise ValueError("its methods cannot be read")
        pairs = [item.partition("=") for item in match[2].split(",")] if match[2] else []
        if not all(equals and value for _, equals, value in pairs):
            raise ValueError("its methods cannot be read")
        methods.append(MethodSpec(match[1], {name.strip(): value.strip() for name, _, value in pairs}))
    return methods


def complete(spec: MethodSpec, declared: MethodDeclaration, *, diverse: bool) -> MethodSpec:
    """A candidate in the form in which it is run.

    With more than k asked, no class is divided by sensitive value unless the candidate says so.
    """
    if not diverse or "divide" in spec.options or declared.option("divide") is None:
        return spec
    return MethodSpec(spec.name, {**spec.options, "divide": "whole"})


def of_candidate(request: Request, spec: MethodSpec, declared: MethodDeclaration) -> Request:
    """The requests of a policy to a candidate."""
    return replace(request, method=spec.name, options=declared.values(spec.options))


def refuse_all(name: str, reasons: Iterable[tuple[MethodSpec, str]]) -> Refusal:
    """None of the candidates takes the policy."""
    listed = "; ".join(f"{spec.name}: {reason}" for spec, reason in reasons)
    return Refusal(f"{name}: none of its methods takes this: {listed}", "name another one in of", "of")


def format_candidate(spec: MethodSpec) -> str:
    """A candidate as it is written."""
    options: Mapping[str, str] = spec.options
    listed = ",".join(f"{name}={value}" for name, value in options.items())
    return f"{spec.name}:{listed}" if listed else spec.name

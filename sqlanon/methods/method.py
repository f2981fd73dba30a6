"""Methods: published algorithms, a file each, declared in `sqlanon.declared`.

They see codes, positions and spans, never values.

A method returns an assignment, row -> class. It is never trusted: verify measures the release.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from importlib import import_module
from typing import cast

from sqlanon.declared import (
    METHODS,
    MethodDeclaration,
    MethodsOption,
    collect_request,
    list_refusals,
    too_many_rows,
    unknown_method,
    wrong_options,
)
from sqlanon.declared.candidates import read_candidates
from sqlanon.declared.cost import Cost
from sqlanon.declared.method_options import Given
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Algorithm, Assignment, Context, Problem
from sqlanon.spec import MethodSpec, ReleaseSpec


class Method:
    """A method with options. The code is imported when it is asked about data or run.

    Args:
        declaration: the method.
        spec: the options, which are right.
    """

    def __init__(self, declaration: MethodDeclaration, spec: MethodSpec) -> None:
        self.declaration = declaration
        self._options = spec.options

    @property
    def cost(self) -> Cost:
        """How seconds and memory grow, roughly."""
        return self.declaration.cost

    @property
    def options(self) -> dict[str, Given]:
        """All options with their values."""
        return self.declaration.values(self._options)

    @cached_property
    def parts(self) -> tuple[Method, ...]:
        """The methods that it runs: those that the options name; none for most methods."""
        listed = (self.options[option.name] for option in self.declaration.options if isinstance(option, MethodsOption))
        return tuple(make_method(candidate) for text in listed for candidate in read_candidates(str(text)))

    def of_table(self, *, large: bool) -> Method:
        """The method that is run: of a large table, the first of the parts where it says so."""
        alone = self.declaration.first_alone
        return self.parts[0] if large and alone and self.options[alone[0]] == alone[1] else self

    @cached_property
    def algorithm(self) -> Algorithm:
        """The code."""
        return import_method(self.declaration)(**self.options)

    def describe(self) -> str:
        """The method with the options, for reports."""
        return self.declaration.describe(self._options)

    def refusal(self, problem: Problem) -> str | None:
        """Reason why this method cannot solve a problem of these data, and an alternative; None if it can."""
        refused = too_many_rows(self.declaration, self._options, problem.rows)
        return f"method {refused}" if refused else self.algorithm.refusal(problem)

    def assign(self, context: Context) -> Assignment:
        """Compute the assignment, and refine it where that is asked."""
        alone = context.refine is None
        assignment = self.algorithm.assign(
            replace(context, listed=context.listed and alone, read_again=context.read_again or not alone)
        )
        if context.refine is None or assignment.refined:
            return assignment
        from sqlanon.methods.shared.refine import refine_assignment

        return refine_assignment(context, assignment, context.refine)


def import_method(declaration: MethodDeclaration) -> type[Algorithm]:
    """Import the code that a declaration names."""
    if not isinstance(declaration.code, str):
        return declaration.code
    module, _, name = declaration.code.partition(":")
    return cast("type[Algorithm]", getattr(import_module(module), name))


def make_method(spec: MethodSpec) -> Method:
    """The configured method that a spec names.

    Raises:
        PolicyError: no such method, option or value; the text lists the known ones and does not repeat the given text,
            which may be a secret or a cell value in the wrong place.
    """
    declaration = METHODS.get(spec.name)
    if declaration is None:
        raise PolicyError(f"method: {unknown_method(spec.name)}")
    wrong = wrong_options(declaration, spec.options)
    if wrong:
        option_names = {option.name for option in declaration.options}
        raise PolicyError(
            [
                f"method {spec.name}: {f'{error.option}: ' if error.option in option_names else ''}{error}"
                for error in wrong
            ]
        )
    return Method(declaration, spec)


def method_of(spec: ReleaseSpec) -> Method:
    """The method of a release.

    Policies have been checked; a spec that was made by hand is checked here.

    Raises:
        PolicyError: as `make_method`, or the release asks for something that the method lacks.
    """
    method = make_method(spec.method)
    refused = list_refusals(method.declaration, collect_request(spec, method.declaration))
    if refused:
        raise PolicyError([f"{spec.name}: method {reason}" for reason in refused])
    return method

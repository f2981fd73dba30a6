"""What a policy can choose, declared as data: formats, requirements, and methods with options, limits and costs.

It is apart from their code. The room imports the specs and nothing else of sqlanon, no array library, no compiler and no
driver, so that a policy is checked completely before any method is imported. Code is named, as ``module:class``,
and imported by `sqlanon.methods`.
"""

from sqlanon.declared.check import asked_of, refusals, too_many_rows, unknown_method, wrong_options
from sqlanon.declared.formats import FORMATS, FormatFacts
from sqlanon.declared.method import Asked, MethodDeclaration, Refused, Whole, Word
from sqlanon.declared.methods import METHODS
from sqlanon.declared.registry import Registry
from sqlanon.declared.requirements import REQUIREMENTS, Number, RequirementDeclaration, Value

__all__ = [
    "FORMATS",
    "METHODS",
    "REQUIREMENTS",
    "Asked",
    "FormatFacts",
    "MethodDeclaration",
    "Number",
    "Refused",
    "Registry",
    "RequirementDeclaration",
    "Value",
    "Whole",
    "Word",
    "asked_of",
    "refusals",
    "too_many_rows",
    "unknown_method",
    "wrong_options",
]

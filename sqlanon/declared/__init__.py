"""The choices of a policy, declared as data.

There are formats, requirements, metrics, and methods with options, limits and costs.

It is apart from their code. The room imports the specs and errors and nothing else of sqlanon, no array library, no
compiler and no driver, so that a policy is checked completely before any method is imported. Code is named, as
``module:class``, and imported by the rooms that run it. Methods and requirements are declared next to their code, in
files ``declaration.py``, which registries name and import when asked. Extensions add declarations by entry points
(`extensions`).
"""

from sqlanon.declared.check import (
    able_of,
    collect_request,
    limit_suppressed,
    list_refusals,
    refuse_suppression,
    too_many_rows,
    unknown_method,
    wrong_options,
)
from sqlanon.declared.formats import FORMATS, FormatFacts
from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.method_options import MethodsOption, Whole, Word
from sqlanon.declared.methods import METHODS
from sqlanon.declared.metrics import ALL, METRICS, MetricDeclaration, list_metrics
from sqlanon.declared.registry import Registry
from sqlanon.declared.request import Refusal, Request
from sqlanon.declared.requirements import REQUIREMENTS, RequirementDeclaration
from sqlanon.declared.trials import least_class, read_refining
from sqlanon.declared.values import Number, Value

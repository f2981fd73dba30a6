"""The declarations of all methods: options, limits, cost, and the combinations of a policy that each does not take.

They are named here, and imported at the first request. A combination is a function of the requests known before
a database is read (`sqlanon.declared.request.Request`). Requests that depend on the data (NULLs, infinities,
occurrences, memory) are refused by the method's code.
"""

from __future__ import annotations

from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.registry import Registry

METHODS: Registry[MethodDeclaration] = Registry(
    "method",
    (
        "sqlanon.methods.onedim.declaration:TREE",
        "sqlanon.methods.onedim.declaration:HILBERT",
        "sqlanon.methods.onedim.declaration:HILBERT_FAST",
        "sqlanon.methods.mondrian.declaration:MONDRIAN",
        "sqlanon.methods.anatomy.declaration:ANATOMY",
        "sqlanon.methods.suppress.declaration:SUPPRESS",
        "sqlanon.methods.best.declaration:BEST",
        "sqlanon.methods.fulldomain.declaration:FULLDOMAIN",
        "sqlanon.methods.clustering.declaration:KMEMBER",
        "sqlanon.methods.clustering.declaration:SEQUENTIAL",
        "sqlanon.methods.microaggregation.declaration:MICROAGGREGATION",
        "sqlanon.methods.freeform.declaration:FREEFORM",
    ),
    "sqlanon.methods",
)
"""Every method by name."""

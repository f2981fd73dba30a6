"""The declarations of all methods, a file a family: options, limits, cost, and the combinations of a policy that it does not take.

A new method is a declaration here, a file of code and its kernel, and an oracle in the tests.

A combination is a function of what is known before a database is read (`sqlanon.declared.asked.Asked`). What depends on the data (NULLs,
infinities, occurrences, memory) is refused by the method's code.
"""

from __future__ import annotations

from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.methods.anatomy import ANATOMY
from sqlanon.declared.methods.best import BEST
from sqlanon.declared.methods.clustering import AGGLOMERATIVE, KMEMBER, MDAV, SEQUENTIAL
from sqlanon.declared.methods.freeform import FREEFORM
from sqlanon.declared.methods.fulldomain import FULLDOMAIN
from sqlanon.declared.methods.mondrian import MONDRIAN
from sqlanon.declared.methods.onedim import HILBERT, HILBERT_FAST, IDISTANCE, IDISTANCE_FAST, TREE
from sqlanon.declared.methods.suppress import SUPPRESS
from sqlanon.declared.methods.tds import TDS
from sqlanon.declared.methods.topdown import TOPDOWN
from sqlanon.declared.registry import Registry

METHODS: Registry[MethodDeclaration] = Registry(
    "method",
    (
        TREE,
        HILBERT,
        HILBERT_FAST,
        IDISTANCE,
        IDISTANCE_FAST,
        MONDRIAN,
        TOPDOWN,
        ANATOMY,
        SUPPRESS,
        BEST,
        TDS,
        FULLDOMAIN,
        KMEMBER,
        MDAV,
        AGGLOMERATIVE,
        SEQUENTIAL,
        FREEFORM,
    ),
    "sqlanon.methods",
)
"""Every method by name."""

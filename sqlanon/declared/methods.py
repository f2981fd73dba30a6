"""The declarations of all methods. A new one is an entry here, a file of code and its kernel, and an oracle in the tests."""

from __future__ import annotations

from sqlanon.declared import limits
from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MOST_NODES, MethodDeclaration, Most, Named, Rule, Several, Whole, Word
from sqlanon.declared.registry import Registry

MOST_CENTRES = 50_000
"""Centres, at most: as many as the rows that they are found from."""

MOST_SUBSETS = 12
"""Quasi columns of the cascade: 2^12 subsets."""

MOST_MATCHED = 4000
"""Rows of the minimum matching."""

MOST_CLUSTERED = 50_000
"""Rows that are clustered together, at most: the cost is their square."""

_ONEDIM = "sqlanon.methods.onedim.method"
_FRAMEWORK = "Ghinita et al. 2009"

_MINIMIZE = Word(
    "minimize",
    ("gcp", "sum", "max"),
    "What the division into runs minimizes: the loss of all rows, the sum of the classes' losses, or the largest.",
    shown=True,
)
_SOLVER = Word(
    "solver",
    ("auto", "optimal", "ac", "ipcsd", "dual"),
    "What divides the order; docs/onedim.md says which solver takes which problem.",
)
_CENTRES = Whole("centres", 1, MOST_CENTRES, 512, "Centres that rows are assigned to (the paper's default).")
_OPTIONS = (_MINIMIZE, _SOLVER)
_DIVIDE = Word(
    "divide",
    ("values", "whole"),
    "Whether rows of equal quasi values may be divided by their sensitive value.",
)

_RULES: tuple[Rule, ...] = (
    limits.minimize_of_goal,
    limits.goal_of_solver,
    limits.one_sensitive,
    limits.solver_of_l,
    limits.optimal_line,
)
_AXES = Most("quasi columns", 127, "tree or hilbert")
"""Squared distances of more columns do not fit 64 bits."""


def _sum(instead: str) -> Most:
    """The exact sum of extents costs the square of the rows."""
    return Most("rows", 20_000, instead, "its cost is quadratic", ("minimize", "sum"))


TREE = MethodDeclaration(
    "tree",
    "Along the leaves of loss-cut trees (ours).",
    f"{_ONEDIM}:Tree",
    Cost(0.04, 0.045, squared=0.12),
    _OPTIONS,
    maximizes=("k", "l"),
    limits=(_sum("minimize=gcp"),),
    rules=_RULES,
)
HILBERT = MethodDeclaration(
    "hilbert",
    f"Along the Hilbert curve, exact loss ({_FRAMEWORK}).",
    f"{_ONEDIM}:Hilbert",
    Cost(0.045, 0.01),
    _OPTIONS,
    maximizes=("k", "l"),
    limits=(_sum("minimize=gcp or hilbert_fast"),),
    rules=_RULES,
)
HILBERT_FAST = MethodDeclaration(
    "hilbert_fast",
    f"Along the Hilbert curve, extents on the curve ({_FRAMEWORK}, section 6.1).",
    f"{_ONEDIM}:HilbertFast",
    Cost(0.025, 0.004, rows=1.1),
    _OPTIONS,
    requirements=("k", "l"),
    rules=(*limits.fast("hilbert"), *_RULES),
    instead="hilbert",
)
IDISTANCE = MethodDeclaration(
    "idistance",
    f"Along centres and distances, exact loss ({_FRAMEWORK}).",
    f"{_ONEDIM}:IDistance",
    Cost(0.025, 0.075),
    (*_OPTIONS, _CENTRES),
    maximizes=("k", "l"),
    limits=(_AXES, _sum("minimize=gcp or idistance_fast")),
    rules=_RULES,
)
IDISTANCE_FAST = MethodDeclaration(
    "idistance_fast",
    f"Along centres and distances, extents of distances ({_FRAMEWORK}).",
    f"{_ONEDIM}:IDistanceFast",
    Cost(0.03, 0.065, rows=1.05),
    (*_OPTIONS, _CENTRES),
    requirements=("k", "l"),
    limits=(_AXES,),
    rules=(*limits.fast("idistance"), *_RULES),
    instead="idistance",
)
MONDRIAN = MethodDeclaration(
    "mondrian",
    "Greedy multidimensional partitioning (LeFevre et al. 2006).",
    "sqlanon.methods.mondrian.method:Mondrian",
    Cost(0.025, 0.012, rows=1.1, k=-0.35, squared=0.3, pushed=Cost(2.0, 3.3, columns=2.2)),
    (
        Word("variant", ("strict", "relaxed"), "Whether rows of equal values stay together.", shown=True),
        Word(
            "cut",
            ("loss", "median"),
            "The cut that loses least (ours), or the paper's, at the median.",
            shown=True,
        ),
    ),
    maximizes=("k", "l"),
    rules=(limits.maximized_in_memory, limits.maximized_strictly, limits.one_sensitive),
)
TOPDOWN = MethodDeclaration(
    "topdown",
    "Clusters divided around two far rows (Xu et al. 2006).",
    "sqlanon.methods.topdown:TopDown",
    Cost(0.035, 2.3, rows=1.5, worst=9.0),
    executions=("kernel",),
    requirements=("k",),
    limits=(Most("rows", 50_000, "tree", "its cost is quadratic"),),
)
ANATOMY = MethodDeclaration(
    "anatomy",
    "Random groups of l different sensitive values (Xiao and Tao 2006).",
    "sqlanon.methods.anatomy:Anatomy",
    Cost(0.02, 0.0075, columns=0.65),
    requirements=("k", "l"),
    rules=(limits.groups_of_one_column, limits.groups_of_l_rows),
    instead="tree or mondrian (format: anatomy takes their classes as well)",
)
SUPPRESS = MethodDeclaration(
    "suppress",
    "Values shown where a class agrees, else hidden: TP (Xiao, Yi and Tao 2010) and a cascade after it (ours).",
    "sqlanon.methods.suppress.method:Suppress",
    Cost(0.04, 0.35, columns=6.9, worst=2.0),
    (
        Word(
            "variant",
            ("cascade", "tp"),
            "The cascade hides one column more each time (ours); tp, the paper's, hides all that differ in what its groups cannot keep.",
            shown=True,
        ),
        Word(
            "rest", ("none", "hilbert", "tree", "mondrian"), "The method that divides what tp leaves (TP+)."
        ),
        _DIVIDE,
        Word(
            "solver",
            ("auto", "optimal"),
            "optimal: the fewest stars for two sensitive values and l = 2, by a minimum matching.",
        ),
    ),
    requirements=("k", "l", "distinct_l"),
    formats=("suppressed", "labels", "ranges", "points"),
    suppresses="cap",
    limits=(
        Most(
            "quasi columns",
            MOST_SUBSETS,
            "variant=tp",
            "its steps are the subsets of the columns",
            ("variant", "cascade"),
        ),
        Most("rows", MOST_MATCHED, "solver=auto", "its cost is cubic", ("solver", "optimal")),
    ),
    rules=(limits.rest_of_tp, limits.matched_values, limits.capped_classes, limits.refined_stars),
    instead="tree, hilbert or mondrian",
)
FULLDOMAIN = MethodDeclaration(
    "fulldomain",
    "By levels of hierarchies: one level a column (Incognito, LeFevre et al. 2005), or each class its own nodes (ours).",
    "sqlanon.methods.fulldomain.method:FullDomain",
    Cost(0.02, 0.038, rows=1.25, columns=7.0, worst=50.0),
    (
        Word(
            "search",
            ("local", "global", "all", "single"),
            "Whether each class has its own nodes, or every column one level: the best, or the best of all minimal ones; single: the best "
            "cut points of ordered columns.",
            shown=True,
        ),
        Word(
            "metric",
            ("loss", "entropy", "height", "dm", "cm", "c_avg"),
            "What global and all minimize: LM, non-uniform entropy, the sum of levels, or the discernability metric; single: LM, dm, the "
            "classification metric, or the mean class size.",
        ),
        Whole(
            "nodes",
            1,
            MOST_NODES,
            MOST_NODES,
            "Combinations of levels that local looks at, at most, before the rest becomes one class, or sets of cuts that single looks at. The "
            "report says where the search ended.",
        ),
        _DIVIDE,
    ),
    formats=("ranges", "labels", "points", "suppressed"),
    rules=(
        limits.options_of_search,
        limits.single_search,
        limits.minimal_nodes,
        limits.suppressed_by_level,
        limits.refined_classes,
    ),
    suppresses="rows",
)

TDS = MethodDeclaration(
    "tds",
    "Top-down specialization: nodes of hierarchies are replaced by their children (after Fung, Wang and Yu 2005).",
    "sqlanon.methods.tds:TDS",
    Cost(0.1, 0.05, columns=1.5, worst=20.0),
    (
        Named(
            "target",
            "A sensitive column: of all nodes the one is specialized that says most of it for the fall of the smallest class. Without "
            "it the one that makes the boxes of the most rows smaller.",
        ),
        Word(
            "publish",
            ("least", "cut"),
            "Whether a class is published at its least common node, or at the nodes of the cut.",
        ),
    ),
    executions=("kernel",),
    formats=("ranges", "labels", "points", "suppressed"),
    rules=(limits.specialized_in_memory, limits.refined_cut),
)
BEST = MethodDeclaration(
    "best",
    "Runs several methods and keeps the classes that lose least (ours).",
    "sqlanon.methods.best:Best",
    Cost(0.3, 0.12, columns=1.2, worst=15.0),
    (
        Several(
            "of",
            "tree; hilbert; fulldomain:search=local",
            "The methods, each as `name:option=value`; those that do not take what is asked are left out, and a note says so. "
            "With l, `divide` is `whole` where a method has it and does not say otherwise.",
            shown=True,
        ),
        Word(
            "metric",
            ("gcp", "ncp", "lm", "dm", "c_avg", "stars"),
            "What decides, as reports name it; stars: hidden values, for format suppressed. Of equal ones the first counts.",
            shown=True,
        ),
    ),
    executions=("kernel",),
    formats=("ranges", "labels", "points", "suppressed"),
    rules=(limits.counted_stars,),
)

_BLOCK = Whole(
    "block",
    1,
    MOST_CLUSTERED,
    MOST_CLUSTERED,
    "Rows of the order `tree` that are clustered together; by default the whole table, which may have no more rows than this.",
)
_CLUSTERED = (
    Most(
        "rows",
        MOST_CLUSTERED,
        "block=4096, or tree with refine and its search",
        "its cost is quadratic",
        ("block", MOST_CLUSTERED),
    ),
)
_WITH_BOXES = ("ranges", "labels", "points", "suppressed")
KMEMBER = MethodDeclaration(
    "kmember",
    "Greedy clusters, each around a row far from the last (Byun et al. 2007).",
    "sqlanon.methods.clustering.kmember:KMember",
    Cost(0.04, 0.5, rows=1.3, worst=6.0),
    (
        Word(
            "grow",
            ("cluster", "centre"),
            "Whether a cluster takes the row that widens it least, or those nearest to its first row (as Goldberger and Tassa 2010 put it).",
            shown=True,
        ),
        _BLOCK,
    ),
    executions=("kernel",),
    formats=_WITH_BOXES,
    limits=_CLUSTERED,
)
MDAV = MethodDeclaration(
    "mdav",
    "Clusters around the rows farthest from the mean (Domingo-Ferrer and Mateo-Sanz 2002).",
    "sqlanon.methods.clustering.mdav:MDAV",
    Cost(0.04, 0.1, rows=1.3, worst=6.0),
    (_BLOCK,),
    executions=("kernel",),
    formats=_WITH_BOXES,
    limits=_CLUSTERED,
)

AGGLOMERATIVE = MethodDeclaration(
    "agglomerative",
    "The two clusters whose union costs least unite first, until the requirements hold (Gionis and Tassa 2007).",
    "sqlanon.methods.clustering.agglomerative:Agglomerative",
    Cost(0.04, 2.0, rows=1.3, worst=8.0),
    (_BLOCK,),
    executions=("kernel",),
    formats=_WITH_BOXES,
    limits=_CLUSTERED,
)

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
    ),
    "sqlanon.methods",
)
"""Every method by name."""

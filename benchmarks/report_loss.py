"""The tables of loss for ``docs/benchmarks.md``.

They compare the best peers, refine and its search, and LeFevre's experiments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks.tables import Result, contender, figures, number, read, source, table


def loss(folder: Path) -> str:
    """Range NCP of every contender, as the independent evaluator sees it."""
    head = ("table", "k", "method", "Range NCP", "at most", "classes", "C_AVG", "method (s)")
    return figures(
        folder,
        "loss",
        head,
        lambda result: (
            (
                one["table"],
                one["k"],
                contender(one),
                f"**{one['evaluator']['range_ncp']:.4f}**",
                one.get("target", "-"),
                f"{one['evaluator']['classes']:,}",
                f"{one['evaluator']['c_avg']:.2f}",
                f"{one['method_seconds']:.2f}",
            )
            for one in result["results"]
        ),
    )


def effort(folder: Path) -> str:
    """Range NCP and cost of every effort."""
    head = ("table", "k", "effort", "Range NCP", "classes", "processor seconds of the run")
    return figures(
        folder,
        "loss_effort",
        head,
        lambda result: (
            (
                one["table"],
                one["k"],
                contender(one).removeprefix("effort "),
                f"**{one['evaluator']['range_ncp']:.4f}**",
                f"{one['evaluator']['classes']:,}",
                f"{one['processor_seconds']:.1f}",
            )
            for one in result["results"]
        ),
    )


def nominal(folder: Path) -> str:
    """Loss by sets, as the independent evaluator sees it, beside the best peer."""
    head = ("k", "method", "set loss", "goal", "best peer", "GCP (numbers by range)", "classes", "method (s)")
    return figures(
        folder,
        "nominal",
        head,
        lambda result: (
            (
                one["k"],
                one["contender"],
                f"**{one['evaluator']['set_ncp']:.4f}**",
                number(one["target"], ".4f"),
                number(one["peer"], ".4f"),
                f"{one['gcp']:.4f}",
                f"{one['evaluator']['classes']:,}",
                f"{one['method_seconds']:.2f}",
            )
            for one in result["results"]
        ),
    )


def refine(folder: Path) -> str:
    """What refine gains and what it costs."""
    head = (
        "table",
        "rows",
        "k",
        "method",
        "GCP",
        "refined",
        "gain",
        "method (s)",
        "refine (s)",
        "s a million rows",
    )
    return figures(
        folder,
        "refine",
        head,
        lambda result: (
            (
                one["table"],
                f"{one['rows']:,}",
                one["k"],
                one["method"].partition(":")[0],
                f"{one['gcp']:.4f}",
                f"**{one['refined_gcp']:.4f}**",
                f"{one['gain']:.1%}",
                f"{one['method_seconds']:.2f}",
                f"{one['refine_seconds']:.2f}",
                f"{one['refine_seconds'] / one['rows'] * 1e6:.1f}",
            )
            for one in result["results"]
        ),
    )


def search(folder: Path) -> str:
    """What the search of refine gains and what it costs, by its trials."""
    head = ("table", "k", "search", "loss", "at most", "classes", "search (processor s)")
    return figures(
        folder,
        "search",
        head,
        lambda result: (
            (
                one["table"],
                one["k"],
                run["trials"],
                f"**{run['loss']:.4f}**",
                f"{run['goal']:.4f}" if run.get("goal") else "-",
                f"{run['classes']:,}",
                f"{run['search_seconds']:.1f}" if "search_seconds" in run else "-",
            )
            for one in result["results"]
            for run in one["runs"]
        ),
    )


def diverse(folder: Path) -> str:
    """Loss where more than k is asked, by how much is searched."""
    head = ("rows", "sensitive", "asked", "run", "loss", "classes", "release (processor s)")
    return figures(
        folder,
        "diverse",
        head,
        lambda result: (
            (
                f"{one['rows']:,}",
                one["sensitive"],
                one["case"].partition(",")[0],
                name,
                f"**{run['loss']:.4f}**" if name == "normal" else f"{run['loss']:.4f}",
                f"{run['classes']:,}",
                f"{run['processor_seconds']:.1f}",
            )
            for one in result["results"]
            for name, run in one["runs"].items()
        ),
    )


def peers(folder: Path, kind: str) -> str:
    """The default beside the best peer of hierarchies, or of sets."""
    head = ("table", "rows", "k", "peer", "normal", "below", "high", "below", "normal: release (processor s)")
    return figures(
        folder,
        f"peers_{kind}",
        head,
        lambda result: (
            (
                one["table"],
                f"{one['rows']:,}",
                one["k"],
                f"{one['peer']['loss']:.4f}",
                *(
                    cell
                    for effort in ("normal", "high")
                    for cell in (
                        (f"{one['runs'][effort]['loss']:.4f}", f"{one['below'][effort]:.1%}")
                        if effort in one["runs"]
                        else ("-", "-")
                    )
                ),
                f"{one['runs']['normal']['processor_seconds']:.1f}",
            )
            for one in result["results"]
        ),
    )


def node_bound(folder: Path) -> str:
    """What no release of nodes is below."""
    return figures(
        folder,
        "node_bound",
        ("table", "rows", "k", "peer", "every release, at least", "below the peer, at most", "processor s"),
        lambda result: (
            (
                one["table"],
                f"{one['rows']:,}",
                one["k"],
                f"{one['peer']:.4f}",
                f"{one['bound']:.4f}",
                f"{one['below_at_most']:.1%}",
                f"{one['processor_seconds']:.0f}",
            )
            for one in result["results"]
        ),
    )


def best(folder: Path) -> str:
    """What `best` keeps of three searches, beside each of them."""
    head = ("table", "k", "method", "loss", "classes", "release (processor s)")
    return figures(
        folder,
        "best",
        head,
        lambda result: (
            (
                one["table"],
                one["k"],
                f"`{run['method']}`",
                f"**{run['loss']:.5f}**" if "least" in run else f"{run['loss']:.5f}",
                f"{run['classes']:,}",
                f"{run['processor_seconds']:.1f}",
            )
            for one in result["results"]
            for run in one["runs"]
        ),
    )


def search_rows(folder: Path) -> str:
    """How the time of the search grows with the rows."""
    head = (
        "rows",
        "release (processor s)",
        "with search (processor s)",
        "search (processor s)",
        "search, s a million rows",
        "peak GiB",
        "GCP",
        "with search",
    )
    return figures(
        folder,
        "search_rows",
        head,
        lambda result: (
            (
                f"{one['rows']:,}",
                f"{before['cpu_seconds']:.1f}",
                f"{after['cpu_seconds']:.1f}",
                f"{one['search_seconds']:.1f}",
                f"**{one['search_seconds'] / one['rows'] * 1e6:.2f}**",
                f"{after['peak_gib']:.2f}",
                f"{before['gcp']:.5f}",
                f"{after['gcp']:.5f}",
            )
            for one in result["results"]
            for before, after in [one["runs"]]
        ),
    )


def clusters(folder: Path, name: str = "clusters") -> str:
    """Clustering in blocks by rows."""
    head = ("rows", "method", "processor s", "s a million rows", "peak GiB", "classes", "GCP")
    return figures(
        folder,
        name,
        head,
        lambda result: (
            (
                f"{one['rows']:,}",
                one["method"],
                f"{one['cpu_seconds']:.1f}",
                f"**{one['cpu_per_million']:.1f}**",
                f"{one['peak_gib']:.2f}",
                f"{one['classes']:,}",
                f"{one['gcp']:.4f}",
            )
            for one in result["results"]
        ),
    )


def lefevre(folder: Path) -> str:
    """C_DM and C_AVG at every point."""
    result = read(folder, "lefevre")
    if result is None:
        return ""
    found = [
        {**one, "contender": one.get("contender") or f"{one['variant']}, {one['cut']}"} for one in result["results"]
    ]
    names = list(dict.fromkeys(one["contender"] for one in found))
    rows = []
    for figure, x in sorted({(one["figure"], one["x"]) for one in found}):
        here = {one["contender"]: one for one in found if (one["figure"], one["x"]) == (figure, x)}
        cells = [_sizes(here[name]) for name in names]
        rows.append((figure.removeprefix("figure").replace("_", " "), f"{x:g}", *cells))
    return f"{table(('figure', 'x', *names), rows)}\n\n{source(result)}"


def _sizes(one: Result) -> str:
    """C_DM and C_AVG; if the best was not proven, a lower bound of C_DM.

    Results have six digits.
    """
    bound = one.get("dm_bound")
    left = f" (no less than {bound:.3g})" if bound is not None and bound < one["dm"] * (1 - 1e-5) else ""
    return f"{one['dm']:.3g} / {one['c_avg']:.2f}{left}"


SECTIONS: Mapping[str, Callable[[Path], str]] = {
    "loss": loss,
    "effort": effort,
    "nominal": nominal,
    "refine": refine,
    "search": search,
    "best": best,
    "diverse": diverse,
    "peers nodes": partial(peers, kind="nodes"),
    "node bound": node_bound,
    "peers sets": partial(peers, kind="sets"),
    "search_rows": search_rows,
    "lefevre": lefevre,
}

"""The tables of Ghinita's experiments: figures for ``docs/benchmarks.md``, ratios to the paper's own methods for
``docs/ghinita2009.md``, where its claims are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.papers.ghinita.experiments import TITLES, L
from benchmarks.papers.ghinita.pictures import METRICS, parameter
from benchmarks.tables import Result, number, read, source, table

Cell = Callable[[Result, Sequence[Result]], str]


def everything(folder: Path) -> str:
    """Every experiment that has been measured: loss or privacy with the method's seconds."""
    parts = []
    for name, title in TITLES.items():
        result = read(folder, f"ghinita_{name}")
        if result is None:
            continue
        figure, word = ("pm", "PM") if name.startswith("e") else ("gcp", "GCP")
        parts.append(f"### {title}\n\n{word} / seconds of the method.")
        parts += _tables(name, result, partial(_figures, figure))
        if name in ("l", "l-n"):
            parts.append("Weighted maximum NCP / average NCP / weighted average volume.")
            parts += _tables(name, result, _metrics)
        if name == "l":
            parts += _all_metrics(result)
        for data in _data(result):
            parts += [
                f"![{title}, {data}](../benchmarks/results/ghinita_{name}_{data}{more}.png)"
                for more in (("", "_metrics") if name in ("l", "l-n") else ("",))
            ]
        parts.append(source(result))
    return "\n\n".join(parts)


def _data(result: Result) -> list[str]:
    return list(dict.fromkeys(one["data"] for one in result["results"]))


def _tables(name: str, result: Result, cell: Cell) -> list[str]:
    """One table for every family of tables: x down, contenders across."""
    made = []
    for data in _data(result):
        mine = [one for one in result["results"] if one["data"] == data]
        names = list(dict.fromkeys(one["contender"] for one in mine))
        rows = []
        for x in dict.fromkeys(one["x"] for one in mine):
            here = {one["contender"]: one for one in mine if one["x"] == x}
            cells = [cell(here[who], list(here.values())) if who in here else "-" for who in names]
            rows.append((f"{x:,.10g}", *cells))
        made.append(table((f"{data}, {parameter(name)}", *names), rows))
    return made


ALL = {
    "gcp": "GCP",
    "il1": "IL1 (mean)",
    "il_inf": "IL∞",
    "il_sum": "sum",
    "weighted_max_ncp": "weighted max NCP",
    "avg_ncp": "average NCP",
    "weighted_avg_volume": "weighted average volume",
    "c_avg": "C_AVG",
    "pm": "PM",
}


def _all_metrics(result: Result) -> list[str]:
    """Every metric at the default l, or the largest one that was run."""
    made = []
    for data in _data(result):
        mine = [one for one in result["results"] if one["data"] == data]
        x = L if any(one["x"] == L for one in mine) else max(one["x"] for one in mine)
        rows = [(one["contender"], *(number(one[m], ".4g") for m in ALL)) for one in mine if one["x"] == x]
        made.append(table((f"{data}, l={x}", *ALL.values()), rows))
    return made


def _figures(figure: str, one: Result, _: Sequence[Result]) -> str:
    if one["method_seconds"] is None:
        return "infeasible" if one["infeasible"] else "refused"
    text = f"{number(one[figure], '.4f' if figure == 'gcp' else '.2f')} / {number(one['method_seconds'], '.2f')}"
    return text + (f" ({one['infeasible']} of {one['projections']} infeasible)" if one["infeasible"] else "")


def _metrics(one: Result, _: Sequence[Result]) -> str:
    return " / ".join(number(one[metric], ".3g") for metric in METRICS)


def _ratios(name: str, folder: Path) -> str:
    """Every contender against Hilb on the same rows, or against AC."""
    result = read(folder, f"ghinita_{name}")
    if result is None:
        return ""
    figure, word, base = ("pm", "PM", "AC") if name.startswith("e") else ("gcp", "GCP", "Hilb")
    parts = [f"{word} / {word} of {base}, then seconds / seconds of {base}, on the same rows."]
    parts += _tables(name, result, partial(_ratio, figure, base))
    if name in ("l", "l-n"):
        parts.append(f"Weighted maximum NCP, average NCP, weighted average volume, each / that of {base}.")
        parts += _tables(name, result, partial(_metric_ratios, base))
    if name != "alpha":
        parts.append(f"Averages are over {_projections(result)}.")
    return "\n\n".join([*parts, source(result)])


def _projections(result: Result) -> str:
    counts = {one["d"]: one["projections"] for one in result["results"]}
    return ", ".join(f"{count} projection{'s' * (count > 1)} to {d} attributes" for d, count in sorted(counts.items()))


def _base(one: Result, here: Sequence[Result], base: str) -> Result | None:
    """The contender of that name, or its namesake on a sample of the same rows."""
    return next(
        (
            o
            for o in here
            if o["contender"].split(",")[0] == base and o["rows"] == one["rows"] and o["method"] == "hilbert"
        ),
        None,
    )


def _ratio(figure: str, base: str, one: Result, here: Sequence[Result]) -> str:
    own = _base(one, here, base)
    if own is None or one["method_seconds"] is None:
        return "-"
    return f"{_by(one, own, figure)} / {_by(one, own, 'method_seconds')}"


def _metric_ratios(base: str, one: Result, here: Sequence[Result]) -> str:
    own = _base(one, here, base)
    return "-" if own is None else " / ".join(_by(one, own, metric) for metric in METRICS)


def _by(one: Result, own: Result, figure: str) -> str:
    if one[figure] is None or not own[figure]:
        return "-"
    return f"{one[figure] / own[figure]:.2f}"


SECTIONS: Mapping[str, Callable[[Path], str]] = {f"ghinita {name}": partial(_ratios, name) for name in TITLES}

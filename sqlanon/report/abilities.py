"""Abilities of engines, methods, formats and requirements, from the markers in the declarations (`sqlanon.lack`).

It is shown by docs/what-works.md and ``sqlanon methods``.

After a change of a declaration: python -c "from sqlanon.report.abilities import page; print(page(), end='')" >
docs/what-works.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlanon.declared import FORMATS, METHODS, REQUIREMENTS, MethodDeclaration
from sqlanon.engines.lacks import DBT_FEATURES, DBT_LACKS, FEATURES, LACKS, LAKE_FEATURES, LAKE_LACKS
from sqlanon.lack import KINDS, Able, Lack


@dataclass(frozen=True, slots=True)
class Cell:
    """State of one ability in a word or two, and the marker where it is lacking; None: there."""

    text: str
    lack: Lack | None = None


@dataclass(frozen=True, slots=True)
class Works:
    """A table of one kind of declaration with the abilities of each.

    Attributes:
        title: of the table.
        abilities: description of each ability by the name of the column.
        rows: the cells of each thing, by its name, in the order of ``abilities``.
    """

    title: str
    abilities: Mapping[str, str]
    rows: Mapping[str, tuple[Cell, ...]]

    def reasons(self) -> Iterator[tuple[str, Lack, list[str]]]:
        """Each marker once in each ability, with the things that have it."""
        for place, ability in enumerate(self.abilities):
            by_lack: dict[Lack, list[str]] = {}
            for name, cells in self.rows.items():
                lack = cells[place].lack
                if lack is not None:
                    by_lack.setdefault(lack, []).append(name)
            for lack, names in by_lack.items():
                yield ability, lack, names

    def to_dict(self) -> dict[str, dict[str, dict[str, str | None]]]:
        """The table as JSON has it: by thing and ability."""
        return {
            name: {
                ability: {
                    "has": cell.text,
                    "lacks": None if cell.lack is None else cell.lack.kind,
                    "why": None if cell.lack is None else cell.lack.why,
                }
                for ability, cell in zip(self.abilities, cells, strict=True)
            }
            for name, cells in self.rows.items()
        }


def _make_cell(able: Able) -> Cell:
    return Cell("no", able) if isinstance(able, Lack) else Cell("yes")


def _list_names(names: tuple[str, ...] | None, others: Lack) -> Cell:
    return Cell("all") if names is None else Cell(", ".join(names), others)


def _formats_of(method: MethodDeclaration) -> Cell:
    """Without l a format that publishes quasi values as they are hides nothing."""
    if method.formats is not None or method.requirements is None or "l" in method.requirements:
        return _list_names(method.formats, method.other_formats)
    return _list_names(tuple(name for name, form in FORMATS.items() if not form.exact), method.other_requirements)


def _of_method(method: MethodDeclaration) -> tuple[Cell, ...]:
    suppresses, maximizes = method.suppresses, method.maximizes
    return (
        _list_names(method.requirements, method.other_requirements),
        _formats_of(method),
        _make_cell(method.pushdown),
        Cell("no", maximizes) if isinstance(maximizes, Lack) else Cell(", ".join(maximizes)),
        Cell("no", suppresses)
        if isinstance(suppresses, Lack)
        else Cell("left out, starred" if suppresses == "rows" else "starred"),
        _make_cell(method.persons),
        _make_cell(method.whole),
        _make_cell(method.population),
        Cell("yes" if method.in_blocks else "on the driver"),
    )


def list_methods() -> Works:
    """Every method."""
    abilities = {
        "requirements": "requirements of `privacy` that its classes can meet",
        "formats": "formats that its classes can be published in",
        "pushdown": "`execution: pushdown`: run as SQL in the database, with the same classes",
        "maximize": "`maximize: k` or `l` within a bound on the loss",
        "suppression": "`suppression`: rows that are left out, or starred",
        "persons": "`person`: k and l over persons who have several rows",
        "persons: whole": "all rows of a person in one class",
        "population": "`k_map` and `delta_presence`, which compare with a table of the population",
        "executors": "on Spark, tables of more than 100,000 rows are divided in the executors",
    }
    return Works("Methods", abilities, {name: _of_method(method) for name, method in METHODS.items()})


def list_formats() -> Works:
    """Every format."""
    abilities = {
        "mean": "`mean`: means of classes",
        "maximize": "a bound on the loss, as `maximize` needs it: how far a class reaches is published",
        "rows: starred": "suppressed rows that are published without their values",
        "population": "`k_map` and `delta_presence`: rows of a population are counted in its cells",
    }
    rows = {
        name: (_make_cell(form.means), _make_cell(form.reach), _make_cell(form.hides), _make_cell(form.cells))
        for name, form in FORMATS.items()
    }
    return Works("Formats", abilities, rows)


def list_requirements() -> Works:
    """Every requirement."""
    abilities = {
        "joint": "`joint`: also within each value of the other sensitive columns",
        "all methods": "methods that take all requirements take it; else those that name it do",
    }
    return Works(
        "Requirements",
        abilities,
        {
            name: (_make_cell(requirement.joint), _make_cell(requirement.tally))
            for name, requirement in REQUIREMENTS.items()
        },
    )


def list_engines() -> Works:
    """Every engine."""
    return _list_lacks("Engines", FEATURES, LACKS)


def list_lakes() -> Works:
    """Every format of lake tables, as a target of releases."""
    return _list_lacks("Lakes", LAKE_FEATURES, LAKE_LACKS)


def list_adapters() -> Works:
    """Every adapter of dbt whose models are released."""
    return _list_lacks("dbt", DBT_FEATURES, DBT_LACKS)


def list_tables() -> tuple[Works, ...]:
    """All tables, in the order of docs/what-works.md."""
    return list_engines(), list_lakes(), list_adapters(), list_methods(), list_formats(), list_requirements()


def _list_lacks(title: str, features: Mapping[str, str], lacks: Mapping[str, Mapping[str, Lack]]) -> Works:
    rows = {
        name: tuple(Cell("no", lacking[feature]) if feature in lacking else Cell("yes") for feature in features)
        for name, lacking in lacks.items()
    }
    return Works(title, features, rows)


def page() -> str:
    """docs/what-works.md."""
    parts = [_INTRODUCTION]
    parts += [_section(table, across=table.title not in {"Engines", "Lakes", "dbt"}) for table in list_tables()]
    return "\n".join(parts)


def _section(table: Works, *, across: bool) -> str:
    """A table, turned where there are few things of many abilities, and the reasons below."""
    head = [f"`{name}`" if across else name for name in table.rows]
    cells = {ability: [table.rows[name][place] for name in table.rows] for place, ability in enumerate(table.abilities)}
    if across:
        lines = _lines(
            ["", *table.abilities],
            [[name, *map(_format_cell, row)] for name, row in zip(head, table.rows.values(), strict=True)],
        )
        lines += ["", *(f"- **{ability}**: {about}." for ability, about in table.abilities.items())]
    else:
        lines = _lines(
            ["", "", *head],
            [[f"`{ability}`", about, *map(_format_cell, cells[ability])] for ability, about in table.abilities.items()],
        )
    shown = [(f"**{ability}**, {', '.join(names)}: {_sentence(lack)}") for ability, lack, names in table.reasons()]
    reasons = ["Why not:", "", *(f"- {line}" for line in shown), ""] if shown else []
    return "\n".join([f"## {table.title}", "", *lines, "", *reasons])


def _lines(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def _format_cell(cell: Cell) -> str:
    return cell.lack.kind if cell.lack is not None and cell.text == "no" else cell.text


def _sentence(lack: Lack) -> str:
    return f"{lack.why} ({lack.kind})."


_INTRODUCTION = f"""\
# What works where

<!-- Generated by sqlanon.report.abilities.page(); change the markers in the declarations instead. -->

For those who choose an engine, a method or a format, and for those who got an error that says what is lacking.

    sqlanon methods              # the methods
    sqlanon methods mondrian     # what one has and lacks, and why
    sqlanon methods --json       # all of this page

What is lacking is refused before data are read, with the reason below; a test asks for each of these, and for all \
that is there. The words:

{chr(10).join(f"- `{kind}`: {meaning}." for kind, meaning in KINDS.items())}

Methods have limits of their own besides, which depend on their options: [policy](policy.md#method-method), \
and the page of each method.
"""

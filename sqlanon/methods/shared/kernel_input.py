"""From an encoded table to the input of kernels: geometry, demands, and a matrix of codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.kernels.extent import NULLS, SIZE, WORD_END, Geometry
from sqlanon.kernels.lanes import pad_width
from sqlanon.kernels.requirements import Demands, demands_of
from sqlanon.kernels.rows import Rows, TreeRows, fill, pack, pick
from sqlanon.methods.base import Context
from sqlanon.methods.shared.threads import LEAST_ROWS, spread
from sqlanon.privacy.base import Coded, Values, beyond_rows, least_rows, shapes_beyond_rows
from sqlanon.privacy.values import rows_of_codes, values_of
from sqlanon.table.geometry import geometry_of
from sqlanon.table.work import check_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Ints, Longs
    from sqlanon.table.domain import Domain


def make_geometry(context: Context) -> Geometry:
    """The attributes' facts and tables; see `geometry_of`."""
    return geometry_of(context.scratch, context.encoded.quasi)


def fetch_codes(
    context: Context,
    tie_break: bool,
    part: TableRef | None = None,
    span: tuple[int, int] | None = None,
    label: str = "part",
    geometry: Geometry | None = None,
    *,
    sensitive: bool = True,
) -> tuple[Ints, Ints, list[Ints], Ints]:
    """Stream codes out of the database.

    Args:
        context: the run.
        tie_break: in the order in which relaxed methods divide equal rows (the work table then has ``tie``).
        part: only rows of partitions in this table (rid, ``label``) ...
        span: ... with part, or without ``part`` with rid, in [first, past); None: all.
        label: the column of ``part`` that numbers partitions.
        geometry: the attributes, for codes of the type that `TreeRows` has.
        sensitive: fetch sensitive codes and those of persons too.

    Returns:
        rid int32[n], codes int32[d, n] (with ``geometry`` perhaps int16), sensitive codes, then those of persons where
        a requirement counts them (each int32[n]), part int32[n] (empty without ``part``).
    """
    encoded = context.encoded
    domains = encoded.quasi + (encoded.counted if sensitive else ())
    rid, *arrays = _read_columns(context, domains, tie_break, part, span, label)
    d = len(encoded.quasi)
    codes: Ints = np.empty((d, len(rid)), np.int32 if geometry is None else code_type(geometry))
    for column, array in zip(codes, arrays, strict=False):
        column[:] = array
    values = [array.astype(np.int32, copy=False) for array in arrays[d : len(domains)]]
    parts = arrays[-1] if part is not None else np.zeros(0, dtype=np.int32)
    return rid.astype(np.int32, copy=False), codes, values, parts.astype(np.int32, copy=False)


def _read_columns(
    context: Context,
    domains: Sequence[Domain],
    tie_break: bool,
    part: TableRef | None = None,
    span: tuple[int, int] | None = None,
    label: str = "part",
) -> Sequence[npt.NDArray[np.generic]]:
    """Row ids, the codes of some columns, and with ``part`` the partitions, in the types in which they are stored."""
    encoded, names = context.encoded, [domain.code for domain in domains]
    binds: dict[str, int | float | str | None] = {}
    if span:
        binds = {"first": span[0], "past": span[1]}
    encoded_codes = encoded.read(domains, span) if part is None and not tie_break else None
    if encoded_codes is not None:
        arrays: Sequence[npt.NDArray[np.generic]] = encoded_codes
    else:
        query = context.scratch.sql(
            "table/codes",
            binds,
            work=encoded.work,
            columns=names,
            tie_break=tie_break,
            part=part,
            label=label,
            span=span is not None,
        )
        arrays = context.scratch.fetch_arrays(
            query,
            ["int32"] + [domain.code_array for domain in domains] + ["int32"] * (part is not None),
        )
    if part is None and span is None:
        check_rows(encoded.rows, len(arrays[0]))
    return arrays


def list_sizes(context: Context) -> Longs:
    """Codes of each attribute, with NULL: int64[d]."""
    return np.array([domain.codes for domain in context.encoded.quasi], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """The whole work table in memory.

    Attributes:
        rid: int32[n].
        codes: int32[d, n].
        sensitive: per sensitive column int32[n], then the same of persons where a requirement counts them.
        geometry: the attributes.
    """

    rid: Ints
    codes: Ints
    sensitive: list[Ints]
    geometry: Geometry

    @property
    def sensitive_matrix(self) -> Ints:
        """The sensitive codes as int32[s, n]."""
        return np.array(self.sensitive, dtype=np.int32).reshape(len(self.sensitive), len(self.rid))


def load(context: Context) -> LoadedTable:
    """Read the work table, by row id."""
    encoded = context.encoded
    stored, *arrays = _read_columns(context, encoded.quasi + encoded.counted, tie_break=False)
    rid, places = _rank_rows(stored.astype(np.int32, copy=False))
    codes: Ints = np.empty((len(encoded.quasi), len(rid)), np.int32)
    sensitive: list[Ints] = [np.empty(len(rid), np.int32) for _ in encoded.counted]
    columns = [*codes, *sensitive]

    def arrange(first: int, past: int) -> None:
        for column, array in zip(columns[first:past], arrays[first:past], strict=True):
            column[... if places is None else places] = array

    spread(arrange, len(columns), context.threads if len(rid) > LEAST_ROWS else 1, 1)
    return LoadedTable(rid, codes, sensitive, make_geometry(context))


def _rank_rows(rid: Ints) -> tuple[Ints, Ints | None]:
    """Row ids in ascending order, and the place of each row in that order; None: they are in order."""
    if not (rid[1:] < rid[:-1]).any():
        return rid, None
    n, least = len(rid), int(rid.min())  # an engine's threads give a few ascending pieces
    if int(rid.max()) - least == n - 1:  # ids that follow one another are places
        places, is_seen = rid - np.int32(least), np.zeros(n, np.bool_)
        is_seen[places] = True
        if is_seen.all():
            return np.arange(least, least + n, dtype=np.int32), places
    order = np.argsort(rid, kind="stable")
    places = np.empty(n, np.int32)
    places[order] = np.arange(n, dtype=np.int32)
    return rid[order], places


def code_type(geometry: Geometry) -> type[np.int16 | np.int32]:
    """The type of codes in `TreeRows`."""
    return np.int16 if (geometry.facts[:, SIZE] + geometry.facts[:, NULLS]).max(initial=0) <= 1 << 15 else np.int32


def bare_of(columns: Ints, numbers: Ints, geometry: Geometry, threads: int = 1) -> TreeRows:
    """Rows as trees take them, from [d, *] codes and int32[n], the column of ``columns`` of each row."""
    d, kind = len(columns), code_type(geometry)
    packed: Ints = np.zeros((columns.shape[1], pad_width(d)), kind)
    spread(lambda start, stop: pack(columns, packed, start, stop), len(packed), threads)
    codes: Ints = np.empty((len(numbers), pad_width(d)), kind)
    spread(lambda start, stop: pick(packed, numbers, codes, start, stop), len(numbers), threads)
    return TreeRows(codes, numbers, np.zeros(0, np.int32))


def fill_rows(bare: TreeRows, geometry: Geometry, threads: int = 1, *, codes: bool = True) -> Rows:
    """The same rows as solvers take them, with or without codes; they stay as they are when the bare rows move on."""
    n, lanes = bare.codes.shape
    words = int(geometry.facts[:, WORD_END].max(initial=0))
    kept_lanes, places = np.zeros((n if codes else 0, lanes), np.int32), np.zeros((n, lanes), np.int32)
    sets = np.zeros((n, words), np.uint64)
    spread(lambda start, stop: fill(bare.codes, geometry, kept_lanes, places, sets, start, stop), n, threads)
    return Rows(kept_lanes, places, sets, bare.number.copy())


def rows_of(columns: Ints, numbers: Ints, geometry: Geometry, threads: int = 1) -> Rows:
    """Rows as solvers take them, from int32[d, *] codes and int32[n], the column of ``columns`` of each row."""
    return fill_rows(bare_of(columns, numbers, geometry, threads), geometry, threads)


def make_room(n: int, d: int, geometry: Geometry, *, counted: bool = False) -> TreeRows:
    """Room for ``n`` rows of ``d`` attributes, zeroed; memory is taken where it is first written."""
    return TreeRows(
        np.zeros((n, pad_width(d)), code_type(geometry)),
        np.zeros(n, np.int32),
        np.zeros(n if counted else 0, np.int32),
    )


def least_class(context: Context) -> int:
    """The fewest rows that the requirements leave a class, k or l."""
    return max(
        [least_rows(context.requirements)] + [shape.p // shape.q for shape in shapes_beyond_rows(context.requirements)]
    )


@dataclass(frozen=True, slots=True)
class WholeTable:
    """Figures of the whole table that requirements need, by sensitive column; see `Coded.whole` and `Coded.values`."""

    rows: Sequence[Longs] = ()
    values: Sequence[Values] = ()


def whole_table(context: Context) -> WholeTable:
    """Codes and frequencies of each sensitive column in the whole table, if a requirement asks for them."""
    requirements, domains = context.requirements, context.encoded.sensitive
    if not any(requirement.compares or requirement.reads_values for requirement in requirements):
        return WholeTable()
    values = [rows_of_codes(context.scratch, context.encoded.work, domain) for domain in domains]
    reads_values = any(requirement.reads_values for requirement in requirements)
    return WholeTable(values, [values_of(context.scratch, domain) for domain in domains] if reads_values else ())


def demands(context: Context, sensitive: list[Ints], rows: int, whole: WholeTable) -> Demands:
    """The requirements over ``rows`` rows.

    ``sensitive`` is as `fetch_codes` returns it, ``whole`` is the result of `whole_table`.
    """
    encoded = context.encoded
    past = len(encoded.sensitive)
    coded = Coded(
        rows,
        sensitive[:past],
        [domain.codes for domain in encoded.sensitive],
        whole.rows,
        sensitive[past:],
        [domain.codes for domain in encoded.persons],
        whole.values,
    )
    requirements = context.requirements
    return demands_of(least_rows(requirements), [requirement.tally(coded) for requirement in beyond_rows(requirements)])

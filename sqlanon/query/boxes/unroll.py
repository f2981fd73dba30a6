"""Boxes unrolled: tables with a row for every distinct box and each value in it, for lookups and GROUP BY.

The lookups compute the tests on these values (`sqlanon.query.boxes.listed_boxes`); steps of a GROUP BY are those of
`sqlanon.query.boxes.buckets`, runs those of `sqlanon.query.boxes.runs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from sqlanon.engines.rows import read_integer
from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.buckets import Bucket
from sqlanon.query.boxes.listed_boxes import Lookup, keeps_null_apart, null_only
from sqlanon.query.boxes.released_view import ReleasedView
from sqlanon.query.boxes.runs import Runs
from sqlanon.query.logic.number_line import measure
from sqlanon.query.logic.value_tests import ValueTest
from sqlanon.query.sql.sqltree import FALSE, Tree, column, sql, string, table_of

ROWS = "_rows"
"""The table of the boxes, with the keys ``<box>_<part>`` that are read here."""


class BoxUnroller:
    """Makes the tables of unrolled boxes.

    Args:
        view: the release.
        tests: the tests of all boxes that are in use.
        buckets: the boxes that GROUP BY spreads in steps or runs.
        members: for boxes whose sets are numbers in the rows, by id, a query of the numbers and ``members``.
    """

    def __init__(
        self,
        view: ReleasedView,
        tests: Sequence[ValueTest],
        buckets: Mapping[str, Bucket | Runs],
        members: Mapping[str, exp.Select],
    ) -> None:
        self._view, self._tests, self._buckets_of, self._members = view, tests, buckets, members

    def members(self, lookup: Lookup) -> exp.Query:
        """Every distinct box, unrolled into values ``v`` of weight ``w``."""
        box = lookup.box
        unrolled = self._buckets(lookup) if lookup.bucketed else self._unroll(box)
        if lookup.key is None or box.state is None:
            return unrolled
        keys = [f"{box.id}_{part}" for part in box.parts]
        if box.point is not None:
            return self._points(lookup, keys)
        plain = constants_of(box)
        empty = [exp.alias_(plain.get(part, no_members(box)), f"{box.id}_{part}", quoted=True) for part in box.parts]
        name = f"{box.id}_state"
        if lookup.bucketed:
            return self._unknown_buckets(lookup, unrolled, empty)
        query: exp.Query = unrolled.select(exp.alias_(string("none"), name, quoted=True))
        if box.beside:
            query = query.union(self._beside(box, unrolled), distinct=False)
        listed: exp.Query = exp.Select().select(column("v", "g")).distinct().from_(unrolled.copy().subquery("g"))
        if null_only(lookup.key):
            listed = _or_any(box, listed)
        unknown = (
            exp.Select()
            .select(
                *empty,
                exp.alias_(column("v", "d"), "v", quoted=True),
                sql("1 AS w"),
                sql("TRUE AS u"),
                column("state", "t").as_(name, quoted=True),
            )
            .from_(listed.subquery("d"))
            .join(_states("some", "any"), join_type="cross")
        )
        null = (
            exp.Select()
            .select(
                *(tree.copy() for tree in empty),
                exp.null().as_("v", quoted=True),
                sql("1 AS w"),
                sql("t.state <> 'all' AS u"),
                column("state", "t").as_(name, quoted=True),
            )
            .from_(_states(*_beside_null(lookup.key)))
        )
        return query.union(unknown, distinct=False).union(null, distinct=False)

    def _buckets(self, lookup: Lookup) -> exp.Query:
        """Every distinct box, unrolled into the buckets that it reaches."""
        box = lookup.box
        comparisons = [t.comparison for t in self._tests if t.box == box.id and t.comparison is not None]
        return self._buckets_of[box.id].unroll(box, comparisons, lookup.number_of, self._distinct(box))

    def _unknown_buckets(self, lookup: Lookup, buckets: exp.Query, empty: Sequence[Tree]) -> exp.Query:
        """Buckets, including those of unknown boxes.

        These have every listed bucket, whatever the tests say, and NULL.
        """
        state, number = f"{lookup.box.id}_state", exp.Literal.number
        listed = exp.Select().select(column("v", "g")).distinct().from_(buckets.copy().subquery("g"))
        runs = self._buckets_of[lookup.box.id]
        if isinstance(runs, Runs) and len(runs.ways) == 1:  # every value is in it, also where the release shows none
            listed = exp.Select().select(exp.alias_(number(0), "v", quoted=True))
        groups = sorted({lookup.number_of(holds) for holds in lookup.known_groups})
        ways = _values("y", ("way", "i"), [(way, 0) for way in groups])
        ends = [exp.alias_(exp.null(), name, quoted=True) for name in "lh"]
        states_ = column("state", "t").as_(state, quoted=True)
        first: exp.Query = (
            exp.Select().select(sql("b.*"), exp.alias_(string("none"), state, quoted=True)).from_(buckets.subquery("b"))
        )
        some_ = (
            exp.Select()
            .select(
                *empty,
                exp.alias_(column("v", "d"), "v", quoted=True),
                sql("1 AS w"),
                sql("TRUE AS u"),
                exp.alias_(column("way", "y"), "way", quoted=True),
                *ends,
                states_,
            )
            .from_(listed.subquery("d"))
            .join(ways, join_type="cross")
            .join(_states("some", "any"), join_type="cross")
        )
        null = (
            exp.Select()
            .select(
                *(tree.copy() for tree in empty),
                exp.null().as_("v", quoted=True),
                sql("1 AS w"),
                sql("t.state <> 'all' AS u"),
                exp.alias_(number(lookup.null_number), "way", quoted=True),
                *(end.copy() for end in ends),
                states_.copy(),
            )
            .from_(_states(*_beside_null(lookup.key)))
        )
        if lookup.box.beside:
            first = first.union(self._beside(lookup.box, buckets, number(lookup.null_number)), distinct=False)
        return first.union(some_, distinct=False).union(null, distinct=False)

    def _beside(self, box: Box, buckets: exp.Query, way: Tree | None = None) -> exp.Query:
        """The values of boxes that have ends and may be NULL, and NULL, which is half of such a box.

        Args:
            box: the column.
            buckets: the column's boxes, unrolled.
            way: the group of NULL, where ``buckets`` has buckets.
        """
        keys = [f"{box.id}_{part}" for part in box.parts]
        ends = exp.alias_(string("ends"), f"{box.id}_state", quoted=True)
        values = exp.Select().select(sql("b.*"), ends).from_(buckets.copy().subquery("b"))
        more = (
            []
            if way is None
            else [
                exp.alias_(way, "way", quoted=True),
                exp.null().as_("l", quoted=True),
                exp.null().as_("h", quoted=True),
            ]
        )
        null = (
            exp.Select()
            .select(
                *(column(key, "b") for key in keys),
                exp.null().as_("v", quoted=True),
                sql("SUM(:w) AS w", w=column("w", "b")),
                sql("FALSE AS u"),
                *more,
                ends.copy(),
            )
            .from_(buckets.copy().subquery("b"))
            .group_by(*(column(key, "b") for key in keys))
        )
        return exp.union(values, null, distinct=False)

    def _distinct(self, box: Box) -> exp.Select:
        """The distinct boxes with known values, by keys."""
        keys = [column(f"{box.id}_{part}", "k") for part in box.parts]
        distinct = exp.Select().select(*keys).distinct().from_(exp.to_table(ROWS).as_("k"))
        if box.state is not None and box.point is None:
            states = "('none', 'ends')" if box.beside else "('none')"
            distinct = distinct.where(sql(f":s IN {states}", s=column(f"{box.id}_state", "k")))
        return distinct

    def _points(self, lookup: Lookup, keys: list[str]) -> exp.Query:
        """Format points: a row may have any value that is printed, and the estimate takes the shown value."""
        box = lookup.box
        name = f"{box.id}_state"
        value = {"lo": f"{box.id}_lo", "set": f"{box.id}_set", "node": f"{box.id}_node"}[next(iter(box.parts))]
        shown: Tree = column(value, "k")
        shown = sql(":s[1]", s=shown) if "set" in box.parts else shown
        # A node is written as text.
        shown = self._view.collate(box.field, self._cast(box, shown) if "node" in box.parts else shown)
        point = sql("CASE WHEN :n = 'none' THEN :v END", n=column(name, "k"), v=shown)
        points = (
            exp.Select()
            .select(*(column(key, "k") for key in [*keys, name]), exp.alias_(point, "v", quoted=True))
            .distinct()
            .from_(exp.to_table(ROWS).as_("k"))
        )
        listed_values: exp.Query = exp.Select().select(column("v", "g")).distinct().from_(points.copy().subquery("g"))
        if lookup.key is not None and null_only(lookup.key):
            listed_values = _or_any(box, listed_values).union(
                exp.Select().select(exp.alias_(exp.null(), "v", quoted=True))
            )
        return (
            exp.Select()
            .select(
                *(column(key, "p") for key in [*keys, name]),
                exp.alias_(column("v", "o"), "v", quoted=True),
                sql("CASE WHEN p.v IS NOT DISTINCT FROM o.v THEN 1 ELSE 0 END AS w"),
                sql("TRUE AS u"),
            )
            .from_(points.subquery("p"))
            .join(listed_values.subquery("o"), join_type="cross")
        )

    def _unroll(self, box: Box) -> exp.Select:
        keys = {part: f"{box.id}_{part}" for part in box.parts}
        rest = [sql("1 AS w"), sql("FALSE AS u")]
        if box.shape == "group":
            sensitive = self._view.released.sensitive
            assert sensitive is not None
            return (
                exp.Select()
                .select(
                    column(self._view.released.group or "", "s").as_(keys["group"], quoted=True),
                    exp.alias_(self._view.collate(box.field, column(box.field.name, "s")), "v", quoted=True),
                    exp.alias_(column("count", "s"), "w", quoted=True),
                    rest[1],
                )
                .from_(table_of(sensitive.ref, "s"))
            )
        if box.shape in ("node", "order"):
            leaves = _values("d", ("i", "v"), enumerate(box.values))
            value = self._view.collate(box.field, self._cast(box, column("v", "d")))
            if box.shape == "node":
                nodes = _values("n", ("label", "low", "high"), box.nodes)
                label = column("label", "n")
                if box.valued:  # the text that the engine gives a value is not always that of the hierarchy's file
                    label = exp.cast(self._cast(box, label), "TEXT")
                return (
                    exp.Select()
                    .select(label.as_(keys["node"], quoted=True), exp.alias_(value, "v", quoted=True), *rest)
                    .from_(nodes)
                    .join(leaves, on=sql("d.i BETWEEN n.low AND n.high"))
                )
            low, high = (_values(name, ("i", "v"), enumerate(box.values)) for name in ("a", "b"))
            ends = [
                self._cast(box, column("v", name)).as_(keys[part], quoted=True)
                for name, part in (("a", "lo"), ("b", "hi"))
            ]
            return (
                exp.Select()
                .select(*ends, exp.alias_(value, "v", quoted=True), *rest)
                .from_(low)
                .join(high, on=sql("a.i <= b.i"))
                .join(leaves, on=sql("d.i BETWEEN a.i AND b.i"))
            )
        distinct = self._distinct(box)
        key_columns = [column(key, "k") for key in keys.values()]
        if box.shape == "set":
            numbered = self._members.get(box.id)
            array = column(keys["set"] if numbered is None else "members", "k")
            distinct = distinct if numbered is None else numbered
            value = self._view.collate(box.field, exp.Explode(this=array))
            return (
                exp.Select()
                .select(*key_columns, exp.alias_(value, "v", quoted=True), *rest)
                .from_(distinct.subquery("k"))
            )
        first, last, value = number_values(box, column(keys["lo"], "k"), column(keys["hi"], "k"))
        series = sql("SELECT 1 FROM a CROSS JOIN LATERAL GENERATE_SERIES(:f, :l) AS s(i)", f=first, l=last)
        series.set("expressions", [*key_columns, exp.alias_(value, "v", quoted=True), *rest])
        series.args["from_"].this.replace(distinct.subquery("k"))
        assert isinstance(series, exp.Select)
        return series

    def _cast(self, box: Box, value: Tree) -> Tree:
        """A declared value, in the source's type."""
        if box.type is not None:
            return exp.cast(value, box.type)
        if box.field.kind in ("text", "enum", "other"):
            return value
        return exp.cast(value, exp.DataType.build(box.field.source_type, dialect=self._view.engine.dialect))


def _or_any(box: Box, listed: exp.Query) -> exp.Query:
    """The listed values, or, if none is listed, a constant in place of the values that the release never shows."""
    value = next(iter(constants_of(box).values()), string(""))
    with_value = exp.Select().select(sql("1")).from_(listed.copy().subquery("z")).where(sql("z.v IS NOT NULL"))
    fallback = exp.Select().select(exp.alias_(value, "v", quoted=True)).where(exp.Not(this=exp.Exists(this=with_value)))
    return exp.Union(this=listed, expression=fallback, distinct=False)


def no_members(box: Box) -> Tree:
    """The key of a set where there is none."""
    if "set" not in box.parts or box.state is None:
        return exp.null()
    return sql("CAST([] AS TEXT[])")


def constants_of(box: Box) -> Mapping[str, Tree]:
    """Values for the keys of a box that has none, so that keys are never NULL and join by equality."""
    kind = box.field.kind
    plain: dict[str, Tree] = {
        "integer": exp.Literal.number(0),
        "decimal": exp.Literal.number(0),
        "float": exp.Literal.number(0),
        "boolean": FALSE,
        "date": exp.cast(string("1970-01-01"), "DATE"),
        "timestamp": exp.cast(string("1970-01-01 00:00:00"), "TIMESTAMP"),
    }
    return {
        part: plain.get(kind, string("")) if part in ("lo", "hi") else string("") for part in box.parts if part != "set"
    }


def number_values(box: Box, lo: Tree, hi: Tree) -> tuple[Tree, Tree, Tree]:
    """First and last whole number of a box, and the value of a number ``i``."""
    place = column("i", "s")
    if box.field.kind == "date":
        return (
            *(exp.cast(measure(end, "date") or end, "BIGINT") for end in (lo, hi)),
            sql("CAST('1970-01-01' AS DATE) + CAST(:i AS INTEGER)", i=place),
        )  # type: ignore[return-value]
    if box.field.kind == "boolean":
        return (*(exp.cast(end.copy(), "INTEGER") for end in (lo, hi)), sql(":i = 1", i=place))  # type: ignore[return-value]
    if box.field.source_type.upper() in (
        "HUGEINT",
        "UHUGEINT",
        "UBIGINT",
    ):  # a series is of BIGINT: count from the first on
        last = sql("CAST(LEAST(:h - :l, 1000000000000) AS BIGINT)", h=hi, l=lo)
        return sql("CAST(0 AS BIGINT)"), last, sql(":l + :i", l=lo, i=place)
    # PostgreSQL has no series of small integers.
    return exp.cast(lo.copy(), "BIGINT"), exp.cast(hi.copy(), "BIGINT"), place


def _beside_null(key: Tree | None) -> tuple[str, ...]:
    """The states of rows that may be in the group of NULL.

    Rows of any value count too, if an unpublished value may be in that group.
    """
    return ("some", "all") if key is None or keeps_null_apart(key) else ("some", "all", "any")


def _states(*kinds: str) -> exp.Expr:
    """A table ``t`` of states. It is no UNION of constants: Spark 4.3 cannot read such plans in its tasks."""
    return _values("t", ("state",), [(kind,) for kind in kinds])


def _values(alias: str, names: Sequence[str], rows: Iterable[Sequence[object]]) -> exp.Expr:
    tuples = [
        exp.Tuple(expressions=[string(v) if isinstance(v, str) else exp.Literal.number(read_integer(v)) for v in row])
        for row in rows
    ]
    return exp.Subquery(
        this=exp.Select(expressions=[exp.Star()]).from_(
            exp.Values(
                expressions=tuples,
                alias=exp.TableAlias(
                    this=exp.to_identifier(f"{alias}0"), columns=[exp.to_identifier(n) for n in names]
                ),
            )
        ),
        alias=exp.TableAlias(this=exp.to_identifier(alias)),
    )

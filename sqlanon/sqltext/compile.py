"""From a template to a `Statement`: render (jinja2), check (an allow-list of syntax), compile (sqlglot).

Transpiling is not porting: sqlglot passes much through that another engine lacks or understands
differently. So what a core template may contain is listed here, node by node, and anything else is an error.
"""

from __future__ import annotations

import re
import secrets
from functools import lru_cache
from pathlib import Path

import jinja2
import sqlglot
from sqlglot import exp

from sqlanon.engines.base import Bind, Statement
from sqlanon.errors import TemplateError
from sqlanon.sqltext.find import added_template, own_functions, template_path
from sqlanon.sqltext.quote import identifier, literal, scratch_table, table_name

ALLOWED: frozenset[type[exp.Expr]] = frozenset({
    exp.Add, exp.Alias, exp.AggFunc, exp.And, exp.Array, exp.ArrayAgg, exp.Between, exp.Boolean, exp.Case, exp.Cast,
    exp.Coalesce, exp.Collate, exp.Column, exp.ColumnDef, exp.Commit, exp.Count, exp.Create, exp.CTE, exp.DataType, exp.Delete,
    exp.DataTypeParam, exp.Distinct, exp.Div, exp.Drop, exp.EQ, exp.Except, exp.Exists, exp.Filter, exp.Floor, exp.From,
    exp.GT, exp.GTE, exp.Greatest, exp.Group, exp.Having, exp.Identifier, exp.If, exp.In, exp.Insert, exp.Is, exp.Join,
    exp.LT, exp.LTE, exp.Lag, exp.Lead, exp.Least, exp.Limit, exp.Literal, exp.Max, exp.Min, exp.Mul, exp.NEQ, exp.Neg, exp.Not, exp.Null,
    exp.Or, exp.Order, exp.Ordered, exp.Paren, exp.Placeholder, exp.Properties, exp.RowNumber, exp.Schema,
    exp.DenseRank, exp.Rank, exp.Select, exp.Star, exp.Sub, exp.Subquery, exp.Sum, exp.Table, exp.TableAlias, exp.TemporaryProperty,
    exp.Union, exp.Update, exp.Var, exp.Where, exp.Window, exp.WindowSpec, exp.With, exp.Abs, exp.Avg, exp.IsNan,
    exp.Tuple, exp.WithinGroup, exp.Transaction, exp.Alter, exp.Values, exp.ColumnConstraint, exp.NotNullColumnConstraint,
    exp.NullSafeEQ, exp.IntDiv,  exp.Any, exp.ArrayContains, exp.Mod,  exp.DPipe, exp.GroupConcat, exp.Concat,  exp.NullSafeNEQ, exp.Pow, exp.CountIf,
    exp.BitwiseOrAgg, exp.BitwiseLeftShift, exp.BitwiseAnd, exp.Exp, exp.Ln, exp.Explode,
})  # fmt: skip
"""Syntax a core template may use: all of it means the same on every engine we compile to."""

# Random, so that no name a user chose can look like them.
_SENTINEL = f"_sqlanon_bind_{secrets.token_hex(8)}_"
_ANY_RUN = f"_sqlanon_run_{secrets.token_hex(8)}_"
_ANY_TYPE = f"_sqlanon_type_{secrets.token_hex(8)}_"
NUMBER = "_sqlanon_number"
"""The column of `numbered`."""
_NAME = r'(?:\w+|"(?:[^"]|"")+")'
_QUOTED_TYPE = re.compile(rf"""\bAS ((?:{_NAME}\.)?"(?:[^"]|"")+"|"(?:[^"]|"")+"\.\w+)\)""")
"""The end of a cast to a type whose name has quotes: a person's own, which sqlglot would write without them."""
_TOKEN = re.compile(r"""'[^']*'|"[^"]*"|--[^\n]*|::|:([^\W\d]\w*)""")
"""What a placeholder must not be looked for in, or a placeholder; a doubled quote ends one quoted text and begins the next."""


@lru_cache(maxsize=8)
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - SQL, not HTML
    )
    environment.filters["ident"] = identifier
    environment.filters["table"] = table_name
    environment.filters["scratch"] = scratch_table
    environment.filters["literal"] = literal
    return environment


@lru_cache(maxsize=512)
def _template(path: str) -> jinja2.Template:
    return _read(Path(path).read_text(encoding="utf-8"))


@lru_cache(maxsize=128)
def _added(text: str) -> jinja2.Template:
    return _read(text)


def _read(text: str) -> jinja2.Template:
    template = _environment().from_string(text)
    template.globals = dict(
        template.globals
    )  # every rendering copies them, which takes long from a chain of maps
    return template


@lru_cache(maxsize=4096)
def _compiled(name: str, text: str, written: str, dialect: str) -> str:
    """Check ``text`` and write it in ``dialect``; placeholders become the driver's, a bare % is doubled for psycopg.

    A text in the engine's own dialect is not parsed: the engine does that, and a run of many columns has thousands of texts.
    """
    if written == dialect:
        return _placeholders(text, dialect)
    types: list[str] = []

    def named(cast: re.Match[str]) -> str:
        types.append(cast[1])
        return f"AS {_ANY_TYPE}{len(types) - 1}_)"

    try:
        tree = sqlglot.parse_one(_QUOTED_TYPE.sub(named, text), read=written)
    except sqlglot.errors.SqlglotError as error:
        raise TemplateError(f"template {name} does not parse") from error
    _check(name, tree)
    for node in list(tree.find_all(exp.Placeholder)):
        node.replace(exp.column(f"{_SENTINEL}{node.name}"))
    out = tree.sql(dialect=dialect, unsupported_level=sqlglot.ErrorLevel.RAISE)
    for i, quoted in enumerate(types):
        out = out.replace(f"{_ANY_TYPE}{i}_", quoted)
    return _finish(out, dialect)


def _check(name: str, tree: exp.Expr) -> None:
    for node in tree.walk():
        if isinstance(node, exp.Anonymous) and node.name in own_functions():
            continue  # stored functions of ours mean the same on every engine
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous | exp.Identifier):
            continue  # the schema of such a call
        if type(node) not in ALLOWED:
            raise TemplateError(f"template {name} uses {type(node).__name__}, which is not portable")
        if isinstance(node, exp.Group) and node.args.get("all"):
            raise TemplateError(f"template {name} uses GROUP BY ALL, which is not portable")


def _placeholders(text: str, dialect: str) -> str:
    """Replace ``:name`` outside of quotes, comments and casts."""
    return _finish(_TOKEN.sub(lambda token: _SENTINEL + token[1] if token[1] else token[0], text), dialect)


def _finish(text: str, dialect: str) -> str:
    if dialect == "duckdb":
        return re.sub(_SENTINEL + r"(\w+)", r"$\1", text).strip()
    return re.sub(_SENTINEL + r"(\w+)", r"%(\1)s", text.replace("%", "%%")).strip()


def statement(
    name: str,
    dialect: str,
    binds: dict[str, Bind] | None = None,
    *,
    run: str | None = None,
    **context: object,
) -> Statement:
    """Render template ``name`` for an engine.

    Args:
        name: the template, such as ``table/stage``.
        dialect: the engine's dialect.
        binds: values for the template's ``:name`` placeholders.
        run: the random part of the run's scratch names.
        context: what the template's header lists under ``params``: names, tables, numbers, never cell values.

    Raises:
        TemplateError: the template does not parse, or uses syntax outside the allow-list.
    """
    added = added_template(name)
    path, written = template_path(name, dialect) if added is None else (None, "duckdb")
    try:
        text = (_template(str(path)) if added is None else _added(added)).render(**context)
    except jinja2.UndefinedError as error:
        raise TemplateError(f"template {name} lacks a parameter") from error
    # Scratch names differ from run to run; compiled text is cached without the run's part of them.
    own = f"_sqlanon_{run}_" if run else _ANY_RUN
    text = _compiled(name, text.replace(own, _ANY_RUN), written, dialect).replace(_ANY_RUN, own)
    used = {key: value for key, value in (binds or {}).items() if _uses(text, key, dialect)}
    if not used and dialect == "postgres":
        text = text.replace("%%", "%")
    return Statement(name, text, used)


def numbered(made: Statement, dialect: str) -> Statement:
    """A query whose ORDER BY became its last column, numbers from 1, for engines that keep no order of what they stream.

    Raises:
        TemplateError: the numbers would not be those of its rows.
    """
    tree = sqlglot.parse_one(made.text, read=dialect)
    order = tree.args.get("order")
    if (
        not isinstance(tree, exp.Select)
        or order is None
        or tree.args.get("distinct")
        or tree.args.get("limit")
    ):
        raise TemplateError(f"template {made.name}: rows in order are those of a plain SELECT with ORDER BY")
    tree.set("order", None)
    number = exp.Window(this=exp.RowNumber(), order=order)
    tree.select(exp.alias_(number, NUMBER, quoted=True), copy=False)
    return Statement(made.name, tree.sql(dialect=dialect), made.binds)


def is_ordered(made: Statement, dialect: str) -> bool:
    """Whether a query says in which order its rows come."""
    return sqlglot.parse_one(made.text, read=dialect).args.get("order") is not None


def _uses(text: str, key: str, dialect: str) -> bool:
    pattern = rf"\${key}\b" if dialect == "duckdb" else rf"%\({key}\)s"
    return re.search(pattern, text) is not None

"""What a role with CREATE on the first schema of somebody's search path may put there.

Each object writes a line when it runs.

Every name is one that sqlanon's SQL, or PostgreSQL's own, would find first if the path were the person's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.engines import quote

SCHEMA = "trap"
LOG = f"{SCHEMA}.log"

_ARITHMETIC = ("+", "-", "*", "/", "%")
_COMPARISON = ("=", "<>", "<", "<=", ">", ">=")
# Pairs that have no operator of PostgreSQL's own with exactly these arguments: one that is planted wins the choice.
_MIXED = (
    ("numeric", "integer"),
    ("integer", "numeric"),
    ("bigint", "numeric"),
    ("numeric", "bigint"),
    ("double precision", "integer"),
    ("smallint", "numeric"),
)
_FUNCTIONS = (
    ("floor", "integer", "double precision"),
    ("abs", "real", "numeric"),
    ("div", "integer, integer", "integer"),
    ("div", "numeric, integer", "numeric"),
    ("length", "character varying", "integer"),
    ("trunc", "integer", "numeric"),
    ("substr", "character varying, integer, integer", "text"),
    ("encode", "bytea, character varying", "text"),
    ("sha256", "text", "bytea"),
    ("isfinite", "text", "boolean"),
    ("generate_series", "integer, bigint", "integer"),
    ("hash_record_extended", "record, integer", "bigint"),
    ("hash_numeric_extended", "numeric, integer", "bigint"),
    ("set_config", "character varying, character varying, boolean", "text"),
    ("round", "integer, integer", "numeric"),
    ("has_table_privilege", "name, oid, character varying", "boolean"),
    ("has_schema_privilege", "name, oid, character varying", "boolean"),
    ("format_type", "oid, bigint", "text"),
    ("quote_ident", "character varying", "text"),
    ("to_regclass", "character varying", "regclass"),
    ("pg_try_advisory_lock", "integer, bigint", "boolean"),
    ("pg_advisory_unlock", "integer, bigint", "boolean"),
    ("upper", "character varying", "text"),
    ("lower", "character varying", "text"),
    ("concat", "text, text", "text"),
    ("current_schema", "integer", "name"),
    ("extract", "text, bigint", "numeric"),
    ("power", "integer, integer", "double precision"),
    ("exp", "integer", "double precision"),
    ("ln", "integer", "double precision"),
    ("string_to_array", "character varying, text", "text[]"),
    ("overlap", "integer, integer, integer, integer", "double precision"),
    ("contains", "integer, integer, integer", "boolean"),
    ("ncp", "integer, integer, integer, integer", "double precision"),
    ("hilbert_key", "integer[], bigint", "bigint"),
)
_AGGREGATES = (
    ("sum", "smallint"),
    ("min", "boolean"),
    ("max", "boolean"),
    ("avg", "boolean"),
    ("count", "integer"),
    ("count", "text"),
    ("array_agg", "integer"),
    ("bool_or", "integer"),
    ("string_agg", "character varying, character varying"),
)
_TABLES = (
    "catalog",
    "secrets",
    "pg_class",
    "pg_type",
    "pg_namespace",
    "pg_attribute",
    "pg_locks",
    "pg_roles",
    "ward_metadata",
    "doubled",
)
_DOMAINS = (
    "text",
    "numeric",
    "bigint",
    "integer",
    "smallint",
    "boolean",
    "date",
    "double_precision",
    "regclass",
    "name",
)


def hostile(owner: str) -> Iterator[str]:
    """Statements that plant the objects, to be run by a role that may create in the schema.

    Args:
        owner: whose calls are logged; what the planting itself runs is not.
    """
    yield f"CREATE TABLE {LOG} (what text)"
    yield f"GRANT INSERT ON {LOG} TO PUBLIC"
    yield (
        f"CREATE FUNCTION {SCHEMA}.note(what text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN "
        f"IF session_user = {owner!r} THEN INSERT INTO {LOG} VALUES (what); END IF; RETURN NULL; END $$"
    )
    number = 0
    for left, right in _MIXED:
        for symbol in _ARITHMETIC + _COMPARISON:
            number += 1
            result = "boolean" if symbol in _COMPARISON else "numeric"
            yield _function(f"op{number}", f"a {left}, b {right}", result, f"{symbol}({left}, {right})")
            yield (
                f"CREATE OPERATOR {SCHEMA}.{symbol} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = "
                f"{SCHEMA}.op{number})"
            )
    for left, right in (
        ("text", "character varying"),
        ("name", "character varying"),
        ("text", "name"),
        ("text", "integer"),
    ):
        for symbol in ("=", "||", "<>"):
            number += 1
            result = "text" if symbol == "||" else "boolean"
            yield _function(f"op{number}", f"a {left}, b {right}", result, f"{symbol}({left}, {right})")
            yield (
                f"CREATE OPERATOR {SCHEMA}.{symbol} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = "
                f"{SCHEMA}.op{number})"
            )
    for name, arguments, result in _FUNCTIONS:
        yield _function(name, arguments, result, f"{name}({arguments})")
    for i, (name, arguments) in enumerate(_AGGREGATES):
        yield _function(f"step{i}", f"integer, {arguments}", "integer", f"aggregate {name}")
        yield f"CREATE AGGREGATE {SCHEMA}.{name}({arguments}) (SFUNC = {SCHEMA}.step{i}, STYPE = integer)"
    for name in _TABLES:
        yield (
            f"CREATE VIEW {SCHEMA}.{name} AS SELECT {SCHEMA}.note('view {name}'), 'x'::text AS release, 'x'::text AS "
            "secret"
        )
    for name in _DOMAINS:
        yield _function(f"check_{name}", "pg_catalog.text", "pg_catalog.bool", f"domain {name}")
        yield f"CREATE DOMAIN {SCHEMA}.{quote(name)} AS pg_catalog.text CHECK ({SCHEMA}.check_{name}(VALUE))"
    yield f"CREATE TYPE {SCHEMA}.pair AS (a pg_catalog.int4)"
    for to in ("text", "int4", "numeric"):
        yield _function(f"cast_{to}", f"{SCHEMA}.pair", f"pg_catalog.{to}", f"cast to {to}")
        yield (
            f"CREATE CAST ({SCHEMA}.pair AS pg_catalog.{to}) WITH FUNCTION {SCHEMA}.cast_{to}({SCHEMA}.pair) AS "
            "IMPLICIT"
        )


def _function(name: str, arguments: str, result: str, what: str) -> str:
    """A function that writes a line and gives NULL: as an operator it makes every comparison unknown."""
    body = f"BEGIN PERFORM {SCHEMA}.note($note${what}$note$); RETURN NULL; END"
    return f"CREATE FUNCTION {SCHEMA}.{name}({arguments}) RETURNS {result} LANGUAGE plpgsql AS $trap$ {body} $trap$"

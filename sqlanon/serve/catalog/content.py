"""The rows of the catalog: the served tables, their columns, the types they have. The rest of it is empty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from sqlanon.serve.client_tables import ServedTable
from sqlanon.serve.values import Type
from sqlanon.serve.variables import Variables

DATABASE = "sqlanon"
OWNER = "sqlanon"
"""Whom all objects belong to; nobody logs in under this name."""
_OWNER_OID, _DATABASE_OID = 10, 5
_SYSTEM, _INFORMATION, _FIRST_SCHEMA, _FIRST_TABLE = 11, 13000, 16384, 20000
_HEAP, _TABLESPACE, _COLLATION = 2, 1663, 100
_ARRAY_RECEIVE = 2400
"""The function that reads lists: by it Npgsql knows their types."""
CATALOG, STANDARD = "pgc", "infs"
"""The schemas in memory that hold ``pg_catalog`` and ``information_schema``."""

_TYPES = {
    "oid": "UINTEGER",
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float8": "DOUBLE",
    "oids": "UINTEGER[]",
    "int2s": "SMALLINT[]",
    "int4s": "INTEGER[]",
    "texts": "VARCHAR[]",
    "timestamptz": "TIMESTAMP",
    "text": "VARCHAR",
}
_ROWS = 100
"""Rows of a statement that fills a table."""
_EMPTY = {"bool": False, "oid": 0, "int2": 0, "int4": 0, "int8": 0, "float8": 0.0}
"""Values of a column that a row leaves out."""

_BASE = """
16 bool 1 B 1000 b 0 boolean
17 bytea -1 U 1001 b 0 bytea
18 char 1 Z 1002 b 0 "char"
19 name 64 S 1003 b 18 name
20 int8 8 N 1016 b 0 bigint
21 int2 2 N 1005 b 0 smallint
22 int2vector -1 A 1006 b 21 int2vector
23 int4 4 N 1007 b 0 integer
24 regproc 4 N 1008 b 0 regproc
25 text -1 S 1009 b 0 text
26 oid 4 N 1028 b 0 oid
114 json -1 U 199 b 0 json
700 float4 4 N 1021 b 0 real
701 float8 8 N 1022 b 0 double precision
705 unknown -2 X 0 p 0 unknown
1005 _int2 -1 A 0 b 21 smallint[]
1007 _int4 -1 A 0 b 23 integer[]
1009 _text -1 A 0 b 25 text[]
1015 _varchar -1 A 0 b 1043 character varying[]
1016 _int8 -1 A 0 b 20 bigint[]
1022 _float8 -1 A 0 b 701 double precision[]
1028 _oid -1 A 0 b 26 oid[]
1042 bpchar -1 S 1014 b 0 character
1043 varchar -1 S 1015 b 0 character varying
1082 date 4 D 1182 b 0 date
1083 time 8 D 1183 b 0 time without time zone
1114 timestamp 8 D 1115 b 0 timestamp without time zone
1184 timestamptz 8 D 1185 b 0 timestamp with time zone
1186 interval 16 T 1187 b 0 interval
1700 numeric -1 N 1231 b 0 numeric
2205 regclass 4 N 2210 b 0 regclass
2206 regtype 4 N 2211 b 0 regtype
2950 uuid 16 U 2951 b 0 uuid
"""
_DIGITS = {21: 16, 23: 32, 20: 64, 701: 53}

_FUNCTIONS = {
    "pg_get_keywords": "word catcode barelabel catdesc baredesc",
    "pg_show_all_settings": "name setting",
    "pg_available_extensions": "name default_version installed_version comment",
    "pg_ts_token_type": "tokid alias description",
}
"""Functions that give rows: tables without any, here."""

Rows = Iterator[tuple[str, dict[str, object]]]


@cache
def columns() -> dict[str, list[tuple[str, str]]]:
    """The tables with the names and kinds of their columns, as PostgreSQL 15 has them."""
    text = (files("sqlanon.serve.catalog") / "columns.txt").read_text(encoding="ascii")
    tables = {}
    for line in text.splitlines():
        name, *fields = line.split()
        pairs = [column.rpartition(":") for column in fields]
        tables[name] = [(column, kind) for column, _, kind in pairs]
    return tables | {name: [(column, "text") for column in names.split()] for name, names in _FUNCTIONS.items()}


def place(name: str) -> str:
    """Where a table of the catalog is in memory."""
    schema, _, table = name.rpartition(".")
    return f'{STANDARD if schema else CATALOG}."{table}"'


def definitions() -> Iterator[str]:
    """Statements that make the tables."""
    for schema in (CATALOG, STANDARD, "fn"):
        yield f"CREATE SCHEMA {schema}"
    for name, fields in columns().items():
        listed = ", ".join(f'"{column}" {_TYPES[kind]}' for column, kind in fields)
        yield f"CREATE TABLE {place(name)} ({listed})"
    yield f"CREATE TABLE {CATALOG}.spelled (oid UINTEGER, name VARCHAR)"


def inserts(served: Sequence[ServedTable], variables: Variables) -> Iterator[tuple[str, list[object]]]:
    """Statements that fill the tables, with their values: some of many rows each, as each is planned anew."""
    filled: dict[str, list[list[object]]] = {f"{CATALOG}.spelled": []}
    for name, row in _rows(served, variables):
        values = [row.get(column, _EMPTY.get(kind)) for column, kind in columns()[name]]
        filled.setdefault(place(name), []).append(values)
    for line in _BASE.strip().splitlines():
        oid, *_, spelled = line.split(maxsplit=7)
        filled[f"{CATALOG}.spelled"].append([int(oid), spelled])
    for target, rows in filled.items():
        for start in range(0, len(rows), _ROWS):
            some = rows[start : start + _ROWS]
            marks = ", ".join(f"({', '.join('?' * len(row))})" for row in some)
            yield f"INSERT INTO {target} VALUES {marks}", [value for row in some for value in row]  # noqa: S608 - ours


def schemas(served: Sequence[ServedTable]) -> list[str]:
    """The schemas that have tables; the first is the current schema."""
    names = sorted({released.schema for released in served})
    return sorted(names, key=lambda name: name != "public") or ["public"]


def _rows(served: Sequence[ServedTable], variables: Variables) -> Rows:
    oids = {name: _FIRST_SCHEMA + i for i, name in enumerate(schemas(served))}
    spaces = {"pg_catalog": _SYSTEM, "information_schema": _INFORMATION, **oids}
    for name, oid in spaces.items():
        yield "pg_namespace", {"oid": oid, "nspname": name, "nspowner": _OWNER_OID}
        yield ("information_schema.schemata", {"catalog_name": DATABASE, "schema_name": name, "schema_owner": OWNER})
    yield "pg_am", {"oid": _HEAP, "amname": "heap", "amtype": "t"}
    yield "pg_tablespace", {"oid": _TABLESPACE, "spcname": "pg_default", "spcowner": _OWNER_OID}
    yield (
        "pg_collation",
        {"oid": _COLLATION, "collname": "default", "collnamespace": _SYSTEM, "collprovider": "d", "collencoding": -1},
    )
    yield (
        "pg_database",
        {
            "oid": _DATABASE_OID,
            "datname": DATABASE,
            "datdba": _OWNER_OID,
            "encoding": 6,
            "datlocprovider": "c",
            "datallowconn": True,
            "datconnlimit": -1,
            "dattablespace": _TABLESPACE,
            "datcollate": "C",
            "datctype": "C",
        },
    )
    yield "pg_roles", {"rolname": OWNER, "rolinherit": True, "rolconnlimit": -1, "oid": _OWNER_OID}
    yield "pg_proc", {"oid": _ARRAY_RECEIVE, "proname": "array_recv", "pronamespace": _SYSTEM, "proowner": _OWNER_OID}
    yield from _types()
    for name, value in variables.values.items():
        yield "pg_settings", {"name": name, "setting": value, "vartype": "string", "context": "user"}
    for i, released in enumerate(served):
        yield from _table(released, _FIRST_TABLE + i, oids[released.schema])


def _types() -> Rows:
    for line in _BASE.strip().splitlines():
        oid, name, size, category, array, kind, element, _ = line.split(maxsplit=7)
        yield (
            "pg_type",
            {
                "oid": int(oid),
                "typname": name,
                "typnamespace": _SYSTEM,
                "typowner": _OWNER_OID,
                "typlen": int(size),
                "typtype": kind,
                "typcategory": category,
                "typisdefined": True,
                "typdelim": ",",
                "typelem": int(element),
                "typarray": int(array),
                "typtypmod": -1,
                "typcollation": _COLLATION if category == "S" else 0,
                "typreceive": _ARRAY_RECEIVE if category == "A" else 0,
            },
        )


def _table(served: ServedTable, oid: int, space: int) -> Rows:
    yield (
        "pg_class",
        {
            "oid": oid,
            "relname": served.name,
            "relnamespace": space,
            "relowner": _OWNER_OID,
            "relam": _HEAP,
            "reltuples": -1.0,
            "relpersistence": "p",
            "relkind": "r",
            "relnatts": len(served.columns),
            "relreplident": "d",
            "relispopulated": True,
            "relacl": [f"=r/{OWNER}"],
        },
    )
    yield "pg_tables", {"schemaname": served.schema, "tablename": served.name, "tableowner": OWNER}
    yield "pg_description", {"objoid": oid, "classoid": 1259, "objsubid": 0, "description": served.comment}
    identity = {"table_catalog": DATABASE, "table_schema": served.schema, "table_name": served.name}
    yield (
        "information_schema.tables",
        {**identity, "table_type": "BASE TABLE", "is_insertable_into": "NO", "is_typed": "NO"},
    )
    for number, (column, comment) in enumerate(zip(served.columns, served.comments, strict=True), 1):
        yield "pg_attribute", _attribute(oid, number, column.name, column.type)
        yield "pg_description", {"objoid": oid, "classoid": 1259, "objsubid": number, "description": comment}
        yield (
            "information_schema.columns",
            {
                **identity,
                "column_name": column.name,
                "ordinal_position": number,
                "is_nullable": "YES",
                "data_type": column.type.name,
                "numeric_precision": _DIGITS.get(column.type.oid),
                "numeric_precision_radix": 2 if column.type.oid in _DIGITS else None,
                "numeric_scale": 0 if column.type.oid in (20, 21, 23) else None,
                "udt_catalog": DATABASE,
                "udt_schema": "pg_catalog",
                "udt_name": _name_of(column.type),
                "dtd_identifier": str(number),
                "is_self_referencing": "NO",
                "is_identity": "NO",
                "is_generated": "NEVER",
                "is_updatable": "NO",
                "character_maximum_length": None,
                "character_octet_length": None,
                "datetime_precision": None,
                "interval_precision": None,
                "maximum_cardinality": None,
            },
        )


def _attribute(oid: int, number: int, name: str, kind: Type) -> dict[str, object]:
    return {
        "attrelid": oid,
        "attname": name,
        "atttypid": kind.oid,
        "attstattarget": -1,
        "attlen": kind.size,
        "attnum": number,
        "attcacheoff": -1,
        "atttypmod": -1,
        "attstorage": "p",
        "attalign": "i",
        "attidentity": "",
        "attgenerated": "",
        "attcompression": "",
        "attislocal": True,
        "attcollation": _COLLATION if kind.oid == 25 else 0,
    }


def _name_of(kind: Type) -> str:
    return next(line.split()[1] for line in _BASE.strip().splitlines() if line.startswith(f"{kind.oid} "))

"""The private schema on PostgreSQL.

It checks the owner, the rights of others, and the planner's statistics.

``pg_stats`` shows the most common values of a table to every role that may read the table, without a right on its
schema.
"""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
from psycopg import sql

from sqlanon.engines.base import TableRef
from sqlanon.engines.postgres.meter import query_sizes
from sqlanon.errors import DatabaseError

_MINE = """
WITH RECURSIVE mine(oid) AS (
    SELECT r.oid FROM pg_roles AS r WHERE r.rolname = current_user
    UNION
    SELECT m.roleid FROM pg_auth_members AS m JOIN mine ON m.member = mine.oid
)
"""
# Not pg_has_role: of a superuser it says that he is a member of every role.
_OWNER = f"""
{_MINE}
SELECT pg_get_userbyid(n.nspowner), n.nspowner IN (SELECT oid FROM mine), o.rolsuper
FROM pg_namespace AS n JOIN pg_roles AS o ON o.oid = n.nspowner
WHERE n.nspname = %(schema)s
"""  # noqa: S608 - constants only
_PLAIN = """
SELECT c.relkind = 'r' AND NOT c.relrowsecurity AND NOT EXISTS (
    SELECT FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND t.typnamespace <> 'pg_catalog'::regnamespace
)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND c.relname = %(name)s
"""
_GRANTEE = "CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(g.grantee) END"
# The roles that have rights on a table or a column of it. Of triggers sqlanon makes none: the right TRIGGER is enough
# to make one, its function runs with the rights of the role that writes the table, and revoking the right leaves it
# there.
_STATE = f"""
{_MINE}, tables AS (
    SELECT c.oid, c.relname, c.relowner, c.relacl
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = %(schema)s
)
SELECT 'owner', pg_get_userbyid(n.nspowner), NULL, NULL, n.nspowner IN (SELECT oid FROM mine)
FROM pg_namespace AS n
WHERE n.nspname = %(schema)s
UNION ALL
SELECT 'strange', c.relname, pg_get_userbyid(c.relowner), NULL, NULL
FROM tables AS c
WHERE c.relowner NOT IN (SELECT oid FROM mine)
UNION ALL
SELECT 'trigger', c.relname, t.tgname, pg_get_userbyid(p.proowner), NULL
FROM pg_trigger AS t JOIN tables AS c ON c.oid = t.tgrelid JOIN pg_proc AS p ON p.oid = t.tgfoid
WHERE NOT t.tgisinternal
UNION ALL
SELECT 'granted', c.relname, {_GRANTEE}, NULL, NULL
FROM tables AS c, aclexplode(c.relacl) AS g
WHERE g.grantee <> c.relowner
UNION ALL
SELECT 'granted', c.relname, {_GRANTEE}, NULL, NULL
FROM tables AS c JOIN pg_attribute AS a ON a.attrelid = c.oid, aclexplode(a.attacl) AS g
WHERE g.grantee <> c.relowner AND NOT a.attisdropped
UNION ALL
SELECT 'default', NULL, NULL, NULL, NULL
FROM pg_default_acl AS d, aclexplode(d.defaclacl) AS g
WHERE d.defaclobjtype = 'r' AND g.grantee <> d.defaclrole
    AND d.defaclrole = (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = current_user)
ORDER BY 1, 2, 3
"""  # noqa: S608 - constants only
_ALL_READERS = f"""
{_MINE}
SELECT r.rolname
FROM pg_roles AS r
WHERE r.rolcanlogin AND r.oid NOT IN (SELECT oid FROM mine)
    AND (r.rolsuper OR pg_has_role(r.oid, 'pg_read_all_data', 'MEMBER'))
ORDER BY 1
"""  # noqa: S608 - constants only
_OWNER_MEMBERS = """
WITH owner(oid) AS (
    SELECT COALESCE(
        (SELECT n.nspowner FROM pg_namespace AS n WHERE n.nspname = %(schema)s),
        (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = current_user)
    )
)
SELECT r.rolname, pg_get_userbyid(o.oid)
FROM pg_roles AS r CROSS JOIN owner AS o
WHERE r.rolcanlogin AND NOT r.rolsuper AND r.oid <> o.oid AND r.rolname <> current_user
    AND pg_has_role(r.oid, o.oid, 'MEMBER')
ORDER BY 1
"""
_TABLE_GRANTEES = """
SELECT DISTINCT t.name, g.grantee, CASE g.grantee WHEN 0 THEN '' ELSE pg_get_userbyid(g.grantee) END
FROM unnest(%s::text[]) AS t(name) JOIN pg_class AS c ON c.oid = to_regclass(t.name), aclexplode(c.relacl) AS g
WHERE g.grantee <> c.relowner
"""
_COUNTED = """
SELECT n.nspname, c.relname, array_agg(a.attname::text ORDER BY a.attnum),
    array_agg(format_type(a.atttypid, a.atttypmod)
        || COALESCE(' COLLATE ' || quote_ident(k.nspname) || '.' || quote_ident(l.collname), '') ORDER BY a.attnum)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
LEFT JOIN pg_namespace AS k ON k.oid = l.collnamespace
WHERE n.nspname = %(schema)s AND c.relkind = 'r' AND c.relname = ANY(%(names)s::text[])
    AND a.attstattarget IS DISTINCT FROM 0
GROUP BY n.nspname, c.relname
ORDER BY 1, 2
"""
SHOWN = 5
"""So many names are listed in an error."""

Connection = psycopg.Connection


def check_private(connection: Connection, schema: str) -> bool:
    """Refuse a private schema that other roles could read or change.

    It is refused if another role owns it, has or may read a table in it, or if tables in it have triggers.

    Returns:
        Whether default privileges give others rights on new tables of this role.

    Raises:
        DatabaseError: see above; the text gives the remedy.
    """
    rows_by_kind: dict[str, list[tuple[object, ...]]] = {}
    for kind, *row in connection.execute(_STATE, {"schema": schema}).fetchall():
        rows_by_kind.setdefault(kind, []).append(tuple(row))
    by_default = "default" in rows_by_kind
    if "owner" not in rows_by_kind:
        return by_default
    ((name, _, _, mine),) = rows_by_kind["owner"]
    if not mine:
        raise DatabaseError(
            f"schema {schema} belongs to role {name}, who could read all that sqlanon keeps there: run as that role or "
            "as a declared member of it (a superuser too), or drop the schema if it is not yours"
        )
    if strange := rows_by_kind.get("strange"):
        listed = _join_names([f"{table} of role {role}" for table, role, *_ in strange])
        raise DatabaseError(
            f"the private schema {schema} holds what is not yours: {listed}; drop it, and revoke CREATE on the schema"
        )
    if triggers := rows_by_kind.get("trigger"):
        listed = _join_names([f"{name} on {table} (function of role {role})" for table, name, role, _ in triggers])
        table, name, *_ = triggers[0]
        drop = sql.SQL("DROP TRIGGER {} ON {}").format(sql.Identifier(str(name)), sql.Identifier(schema, str(table)))
        raise DatabaseError(
            f"private tables of {schema} have triggers, which sqlanon does not make and which would run with your "
            f"rights: {listed}; look at what they do, then drop them: {drop.as_string(connection)}"
        )
    if granted := rows_by_kind.get("granted"):
        tables = _join_names(sorted({str(table) for table, *_ in granted}))
        roles = sorted({str(role) for _, role, *_ in granted})
        first = sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA {} FROM {}").format(sql.Identifier(schema), _role(roles[0]))
        raise DatabaseError(
            f"{_join_names(roles)} may read or change private tables of sqlanon (of {schema}: {tables}), or see their "
            f"values in pg_stats: {first.as_string(connection)}; column rights are revoked by column. Consider what "
            "was read as known"
        )
    return by_default


def check_readable(connection: Connection, table: TableRef) -> bool:
    """Refuse to read a table of the private schema that could run code that another role planted there.

    Returns:
        Whether the schema belongs to another role, who may put something else in the table's place at any time.

    Raises:
        DatabaseError: the schema is neither this role's nor a superuser's, and the table is not a plain table.
    """
    owner = _owner(connection, str(table.schema))
    if owner is None or owner[1] or owner[2]:
        return False
    row = connection.execute(_PLAIN, {"schema": table.schema, "name": table.name}).fetchone()
    if row is not None and not row[0]:
        raise DatabaseError(
            f"{table} is not a table of sqlanon: schema {table.schema} belongs to role {owner[0]}, and to read it "
            "would run what that role put there"
        )
    return True


def tables_only(connection: Connection, *, end: bool = False) -> None:
    """Have the server refuse views, foreign tables and policies of row-level security, or no longer.

    Servers older than their releases of August 2024 refuse the policies only.
    """
    connection.execute("SELECT set_config('row_security', %s, false)", ["on" if end else "off"])
    connection.execute(
        "SELECT set_config(s.name, %s, false) FROM pg_settings AS s WHERE s.name = 'restrict_nonsystem_relation_kind'",
        ["" if end else "view, foreign-table"],
    )


def all_readers(connection: Connection) -> list[str]:
    """See `Engine.all_readers`."""
    return [str(row[0]) for row in connection.execute(_ALL_READERS).fetchall()]


def owner_members(connection: Connection, schema: str) -> list[tuple[str, str]]:
    """See `Rights.owner_members`."""
    rows = connection.execute(_OWNER_MEMBERS, {"schema": schema}).fetchall()
    return [(str(name), str(owner)) for name, owner in rows]


def query_grantees(tables: Sequence[str], sized: Sequence[str] = ()) -> str:
    """A query, without values, of who has rights on new tables by default, and of sizes.

    Args:
        tables: the new tables, as SQL; their sizes are among the rows.
        sized: other tables with sizes to look up.
    """
    names = sql.Literal(list(tables)).as_string(None)
    return f"{_TABLE_GRANTEES.replace('%s', names)}UNION ALL{query_sizes([*tables, *sized])}"


def revoke(connection: Connection, rows: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Revoke the grants of default privileges from everybody.

    Args:
        connection: of the tables' owner.
        rows: those of `query_grantees`.

    Returns:
        the rows that are sizes.
    """
    for table, oid, name in rows:
        if oid is None:
            continue
        role = sql.Identifier(str(name)) if oid else sql.SQL("PUBLIC")
        connection.execute(sql.SQL("REVOKE ALL ON {} FROM {}").format(sql.SQL(str(table)), role))
    return [row for row in rows if row[1] is None]


def drop_statistics(connection: Connection, tables: Sequence[TableRef]) -> None:
    """See `Engine.drop_statistics`.

    A column's old statistics would stay when the target is set to 0; to give the column the same type again removes
    them, and rewrites nothing.
    """
    texts = []
    for schema in sorted({str(table.schema) for table in tables}):
        names = [table.name for table in tables if table.schema == schema]
        for _, name, columns, types in connection.execute(_COUNTED, {"schema": schema, "names": names}).fetchall():
            changes = sql.SQL(", ").join(
                sql.SQL("ALTER COLUMN {c} TYPE {t}, ALTER COLUMN {c} SET STATISTICS 0").format(
                    c=sql.Identifier(column), t=sql.SQL(kind)
                )
                for column, kind in zip(columns, types, strict=True)
            )
            texts.append(sql.SQL("ALTER TABLE {} {}").format(sql.Identifier(schema, name), changes))
    if texts:
        connection.execute(sql.SQL(";\n").join(texts))


def _owner(connection: Connection, schema: str) -> tuple[str, bool, bool] | None:
    """Who owns a schema, whether this session has that role, and whether it is a superuser."""
    row = connection.execute(_OWNER, {"schema": schema}).fetchone()
    return (str(row[0]), bool(row[1]), bool(row[2])) if row else None


def _role(name: str) -> sql.Composable:
    return sql.SQL("PUBLIC") if name == "PUBLIC" else sql.Identifier(name)


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more

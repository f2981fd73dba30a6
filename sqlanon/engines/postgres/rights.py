"""Rights on PostgreSQL: rights of a view, grantees, roles that could read too much, and objects that need a view."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
from psycopg import sql

from sqlanon.engines.base import TableRef

_VIEW = (
    "SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = %(schema)s AND c.relname = %(name)s"
)
_GRANTEE = "CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END"
_RECORDED = f"""
SELECT g.privilege_type, NULL, {_GRANTEE}, g.is_grantable
FROM pg_class AS c, aclexplode(c.relacl) AS g
WHERE c.oid = ({_VIEW}) AND g.grantee <> c.relowner
UNION ALL
SELECT g.privilege_type, a.attname, {_GRANTEE}, g.is_grantable
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid, aclexplode(a.attacl) AS g
WHERE c.oid = ({_VIEW}) AND g.grantee <> c.relowner AND a.attname = ANY(%(columns)s) AND NOT a.attisdropped
"""  # noqa: S608 - constants only
_BY_DEFAULT = f"""
SELECT DISTINCT {_GRANTEE}
FROM pg_default_acl AS d, aclexplode(d.defaclacl) AS g
WHERE d.defaclobjtype = 'r' AND g.grantee <> d.defaclrole AND pg_get_userbyid(d.defaclrole) = current_user
"""  # noqa: S608
_COMMENTS = f"""
SELECT a.attname, col_description(a.attrelid, a.attnum)
FROM pg_attribute AS a
WHERE a.attrelid = ({_VIEW}) AND a.attname = ANY(%(columns)s) AND col_description(a.attrelid, a.attnum) IS NOT NULL
UNION ALL
SELECT NULL, obj_description(({_VIEW}), 'pg_class') WHERE obj_description(({_VIEW}), 'pg_class') IS NOT NULL
"""  # noqa: S608
_DEPENDENTS = f"""
SELECT DISTINCT CASE WHEN r.oid IS NULL THEN pg_describe_object(d.classid, d.objid, 0)
    ELSE pg_describe_object('pg_class'::regclass, r.ev_class, 0) END
FROM pg_class AS c
JOIN pg_depend AS d ON (d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid)
    OR (d.refclassid = 'pg_type'::regclass AND d.refobjid = c.reltype)
LEFT JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
WHERE c.oid = ({_VIEW}) AND d.deptype <> 'i' AND r.ev_class IS DISTINCT FROM c.oid
ORDER BY 1
"""  # noqa: S608
# A view's own rule depends on it internally; rules of other views, functions and whatever uses its row type do not.

_HIDING = """
WITH RECURSIVE reads(oid, role) AS (
    SELECT c.oid, CAST(current_user AS regrole)::oid
    FROM unnest(%(schemas)s::text[], %(names)s::text[]) AS t(schema, name)
    JOIN pg_namespace AS n ON n.nspname = t.schema
    JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = t.name
    UNION
    SELECT d.refobjid, CASE WHEN v.reloptions::text ~ 'security_invoker=(t|y|on|1)' THEN r.role ELSE v.relowner END
    FROM reads AS r
    JOIN pg_class AS v ON v.oid = r.oid AND v.relkind = 'v'
    JOIN pg_rewrite AS w ON w.ev_class = v.oid
    JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
        AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> v.oid
)
SELECT DISTINCT quote_ident(n.nspname) || '.' || quote_ident(c.relname)
FROM reads AS r
JOIN pg_class AS c ON c.oid = r.oid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_roles AS o ON o.oid = r.role
WHERE c.relrowsecurity AND NOT o.rolsuper AND NOT o.rolbypassrls
    AND (c.relforcerowsecurity OR NOT pg_has_role(o.oid, c.relowner, 'USAGE'))
ORDER BY 1
"""
# A view reads with the rights of its owner, unless it is made with security_invoker; so do the policies of its tables.

Connection = psycopg.Connection


def _names(view: TableRef) -> dict[str, object]:
    return {"schema": view.schema, "name": view.name}


def _ident(table: TableRef) -> sql.Identifier:
    return sql.Identifier(*(part for part in (table.schema, table.name) if part))


def record_rights(connection: Connection, view: TableRef, columns: Sequence[str]) -> list[str]:
    """Statements that restore rights and comments of a replaced view: `Rights.list_restore_statements`."""
    binds = {**_names(view), "columns": list(columns)}
    target = _ident(view).as_string(connection)
    by_default = connection.execute(_BY_DEFAULT).fetchall()
    statements = [f"REVOKE ALL ON {target} FROM {grantee}" for (grantee,) in by_default]
    for privilege, column, grantee, grantable in connection.execute(_RECORDED, binds).fetchall():
        of = f" ({sql.Identifier(column).as_string(connection)})" if column else ""
        option = " WITH GRANT OPTION" if grantable else ""
        statements.append(f"GRANT {privilege}{of} ON {target} TO {grantee}{option}")
    for column, comment in connection.execute(_COMMENTS, binds).fetchall():
        what = f"COLUMN {target}.{sql.Identifier(column).as_string(connection)}" if column else f"VIEW {target}"
        statements.append(f"COMMENT ON {what} IS {sql.Literal(comment).as_string(connection)}")
    return statements


def dependents(connection: Connection, view: TableRef) -> list[str]:
    """See `Engine.dependents`."""
    return [str(row[0]) for row in connection.execute(_DEPENDENTS, _names(view)).fetchall()]


def list_dependents(connection: Connection, views: Sequence[TableRef]) -> list[str]:
    """See `Engine.list_dependents`."""
    describe = f"SELECT pg_describe_object('pg_class'::regclass, ({_VIEW}), 0)"
    left_out = {connection.execute(describe, _names(view)).fetchone() for view in views}
    views_found = {name for view in views for name in dependents(connection, view)}
    return sorted(views_found - {str(row[0]) for row in left_out if row})


def definition(connection: Connection, view: TableRef) -> str | None:
    """See `Engine.definition`: the server writes the query out in full, with every name resolved."""
    query = f"SELECT pg_get_viewdef(c.oid) FROM pg_class AS c WHERE c.oid = ({_VIEW}) AND c.relkind = 'v'"  # noqa: S608
    row = connection.execute(query, _names(view)).fetchone()
    return str(row[0]) if row else None


def roles(connection: Connection, names: Sequence[str]) -> list[str]:
    """See `Rights.roles`."""
    if not names:
        return []
    query = "SELECT rolname FROM pg_roles WHERE rolname = ANY(%s)"
    roles_known = {str(row[0]) for row in connection.execute(query, [list(names)]).fetchall()}
    return [name for name in names if name in roles_known]


def grant_usage(connection: Connection, views: Sequence[TableRef], role: str) -> str | None:
    """See `Rights.grant_usage`; returns the schema that could not be granted, or None."""
    to = sql.Identifier(role)
    for schema in sorted({view.schema for view in views if view.schema}):
        if not can_use(connection, role, schema):
            connection.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(sql.Identifier(schema), to))
            if not can_use(connection, role, schema):
                return f"schema {schema}"  # PostgreSQL only warns when it grants nothing
    return None


def grant_select(connection: Connection, views: Sequence[TableRef], role: str) -> str | None:
    """See `Rights.grant_select`; returns the view that could not be granted, or None."""
    to = sql.Identifier(role)
    for view in views:
        if not _has_select(connection, role, view):
            connection.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(_ident(view), to))
            if not _has_select(connection, role, view):
                return str(view)
    return None


def revoke_select(connection: Connection, views: Sequence[TableRef], role: str) -> None:
    """See `Rights.revoke_select`."""
    for view in views:
        connection.execute(sql.SQL("REVOKE SELECT ON {} FROM {}").format(_ident(view), sql.Identifier(role)))


def _has_select(connection: Connection, role: str, view: TableRef) -> bool:
    query = f"SELECT has_table_privilege(CAST(%(role)s AS name), ({_VIEW}), 'SELECT')"
    row = connection.execute(query, {**_names(view), "role": role}).fetchone()
    return bool(row and row[0])


def can_select(connection: Connection, role: str, ref: TableRef) -> bool:
    """See `Rights.can_select`: as a whole or any column of it."""
    query = f"SELECT has_any_column_privilege(CAST(%(role)s AS name), ({_VIEW}), 'SELECT')"
    row = connection.execute(query, {**_names(ref), "role": role}).fetchone()
    return bool(row and row[0])


def list_filtered_tables(connection: Connection, tables: Sequence[TableRef]) -> list[str]:
    """See `Rights.list_filtered_tables`."""
    binds = {"schemas": [table.schema for table in tables], "names": [table.name for table in tables]}
    return [str(name) for (name,) in connection.execute(_HIDING, binds).fetchall()]


def can_use(connection: Connection, role: str, schema: str) -> bool:
    """See `Rights.can_use`."""
    query = "SELECT has_schema_privilege(CAST(%s AS name), n.oid, 'USAGE') FROM pg_namespace AS n WHERE n.nspname = %s"
    row = connection.execute(query, [role, schema]).fetchone()
    return bool(row and row[0])


def lock_holder(connection: Connection, space: int, key: int) -> str:
    """Who holds an advisory lock, as the end of a sentence; empty if it is free again. Every role may ask."""
    query = (
        "SELECT l.pid, a.usename, a.application_name FROM pg_locks AS l LEFT JOIN pg_stat_activity AS a ON a.pid = "
        "l.pid WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.classid = %s::bigint::oid AND "
        "l.objid = %s::bigint::oid AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = "
        "current_database())"
    )
    row = connection.execute(query, [space, key & 0xFFFFFFFF]).fetchone()
    if row is None:
        return ""
    program = "".join(char for char in str(row[2] or "") if char.isprintable())
    return f" (pid {row[0]}, role {row[1]}{f', application {program}' if program else ''})"


def grantees(connection: Connection, schema: str) -> list[str]:
    """See `Rights.grantees`."""
    query = (
        "SELECT DISTINCT CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(g.grantee) END "
        "FROM pg_namespace AS n, aclexplode(n.nspacl) AS g WHERE n.nspname = %s AND g.grantee <> n.nspowner ORDER BY 1"
    )
    return [str(row[0]) for row in connection.execute(query, [schema]).fetchall()]


def make_private(connection: Connection, schema: str) -> None:
    """Revoke the grants of default privileges from all roles: without USAGE no role can use objects of the schema."""
    for name in grantees(connection, schema):
        whom = sql.SQL("PUBLIC") if name == "PUBLIC" else sql.Identifier(name)
        connection.execute(sql.SQL("REVOKE ALL ON SCHEMA {} FROM {}").format(sql.Identifier(schema), whom))

-- Functions of PostgreSQL's catalog that look something up or calculate, for the database in memory: fn.NAME.

CREATE MACRO fn.pg_partition_ancestors(a0) AS CAST(a0 AS UINTEGER);
CREATE MACRO fn.pg_partition_root(a0) AS CAST(a0 AS UINTEGER);
CREATE MACRO fn._pg_expandarray(a0) AS {'x': NULL::SMALLINT, 'n': NULL::INTEGER};
CREATE MACRO fn.format_type
    (o, m := NULL) AS (SELECT max(s.name) FROM pgc.spelled AS s WHERE s.oid = o);
CREATE MACRO fn.obj_description
    (o, c := NULL) AS (SELECT max(d.description) FROM pgc.pg_description AS d WHERE d.objoid = o AND d.objsubid = 0);
CREATE MACRO fn.col_description
    (o, n) AS (SELECT max(d.description) FROM pgc.pg_description AS d WHERE d.objoid = o AND d.objsubid = n);
CREATE MACRO fn.current_setting
    (n, m := NULL) AS (SELECT max(s.setting) FROM pgc.pg_settings AS s WHERE lower(s.name) = lower(n));
CREATE MACRO fn.to_regclass
    (n) AS CASE replace(n, 'pg_catalog.', '')
        WHEN 'pg_class' THEN 1259
        WHEN 'pg_type' THEN 1247
        WHEN 'pg_namespace' THEN 2615
        WHEN 'pg_database' THEN 1262
        WHEN 'pg_proc' THEN 1255
        ELSE (
            SELECT max(c.oid)
            FROM pgc.pg_class AS c
            JOIN pgc.pg_namespace AS s ON s.oid = c.relnamespace
            WHERE replace(n, '"', '') IN (c.relname, s.nspname || '.' || c.relname, CAST(c.oid AS VARCHAR))
        )
    END;
CREATE MACRO fn.as_oid
    (n) AS coalesce(fn.to_regclass(CAST(n AS VARCHAR)), TRY_CAST(CAST(n AS VARCHAR) AS UINTEGER));
CREATE MACRO fn.regclass_name
    (o) AS coalesce(
        (SELECT max(c.relname) FROM pgc.pg_class AS c WHERE c.oid = CAST(o AS UINTEGER)), CAST(o AS VARCHAR)
    );
CREATE MACRO fn.to_regtype
    (n) AS (
        SELECT max(t.oid)
        FROM pgc.pg_type AS t
        JOIN pgc.spelled AS s ON s.oid = t.oid
        WHERE n IN (t.typname, s.name, 'pg_catalog.' || t.typname)
    );
CREATE MACRO fn.to_regnamespace
    (n) AS (SELECT max(s.oid) FROM pgc.pg_namespace AS s WHERE s.nspname = replace(n, '"', ''));
CREATE MACRO fn.regnamespace_name
    (o) AS (SELECT max(s.nspname) FROM pgc.pg_namespace AS s WHERE s.oid = o);
CREATE MACRO fn.quote_ident
    (n) AS CASE WHEN regexp_full_match(n, '[a-z_][a-z0-9_$]*') THEN n ELSE '"' || replace(n, '"', '""') || '"' END;
CREATE MACRO fn.quote_literal(n) AS chr(39) || replace(n, chr(39), repeat(chr(39), 2)) || chr(39);
CREATE MACRO fn.array_upper(a, d) AS CASE WHEN len(a) > 0 THEN len(a) END;
CREATE MACRO fn.array_lower(a, d) AS CASE WHEN len(a) > 0 THEN 1 END;

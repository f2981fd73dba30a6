-- Functions of PostgreSQL's catalog, for the database in memory: fn.NAME. Those of what is not there give NULL.

CREATE MACRO fn.pg_get_expr
    (a0, a1) AS NULL::VARCHAR,
    (a0, a1, a2) AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_constraintdef
    (a0) AS NULL::VARCHAR,
    (a0, a1) AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_indexdef
    (a0) AS NULL::VARCHAR,
    (a0, a1) AS NULL::VARCHAR,
    (a0, a1, a2) AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_viewdef
    (a0) AS NULL::VARCHAR,
    (a0, a1) AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_ruledef
    (a0) AS NULL::VARCHAR,
    (a0, a1) AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_triggerdef
    (a0) AS NULL::VARCHAR,
    (a0, a1) AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_partkeydef(a0) AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_function_result(a0) AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_function_arguments(a0) AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_function_identity_arguments(a0) AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_functiondef(a0) AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_serial_sequence(a0, a1) AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_statisticsobjdef_columns(a0) AS NULL::VARCHAR;
CREATE MACRO fn.shobj_description(a0, a1) AS NULL::VARCHAR;
CREATE MACRO fn.pg_tablespace_location(a0) AS NULL::VARCHAR;
CREATE MACRO fn.pg_sequence_last_value(a0) AS NULL::VARCHAR;
CREATE MACRO fn.inet_server_addr() AS NULL::VARCHAR;
CREATE MACRO fn.inet_client_addr() AS NULL::VARCHAR;
CREATE MACRO fn.pg_get_userbyid(a0) AS 'sqlanon';
CREATE MACRO fn.pg_table_is_visible(a0) AS TRUE;
CREATE MACRO fn.pg_type_is_visible(a0) AS TRUE;
CREATE MACRO fn.pg_function_is_visible(a0) AS TRUE;
CREATE MACRO fn.pg_collation_is_visible(a0) AS TRUE;
CREATE MACRO fn.pg_relation_is_publishable(a0) AS FALSE;
CREATE MACRO fn.pg_is_other_temp_schema(a0) AS FALSE;
CREATE MACRO fn.pg_is_in_recovery() AS FALSE;
CREATE MACRO fn.pg_my_temp_schema() AS 0::UINTEGER;
CREATE MACRO fn.pg_encoding_to_char(a0) AS 'UTF8';
CREATE MACRO fn.pg_char_to_encoding(a0) AS 6;
CREATE MACRO fn.pg_relation_size(a0) AS 0::BIGINT;
CREATE MACRO fn.pg_total_relation_size(a0) AS 0::BIGINT;
CREATE MACRO fn.pg_table_size(a0) AS 0::BIGINT;
CREATE MACRO fn.pg_indexes_size(a0) AS 0::BIGINT;
CREATE MACRO fn.pg_database_size(a0) AS 0::BIGINT;
CREATE MACRO fn.pg_size_pretty(a0) AS '0 bytes';
CREATE MACRO fn.pg_partition_ancestors(a0) AS CAST(a0 AS UINTEGER);
CREATE MACRO fn.pg_partition_root(a0) AS CAST(a0 AS UINTEGER);
CREATE MACRO fn._pg_expandarray(a0) AS {'x': NULL::SMALLINT, 'n': NULL::INTEGER};
CREATE MACRO fn.has_table_privilege
    (a, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER'),
    (u, a, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER'),
    (u, a, c, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER');
CREATE MACRO fn.has_any_column_privilege
    (a, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER'),
    (u, a, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER'),
    (u, a, c, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER');
CREATE MACRO fn.has_schema_privilege
    (a, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER'),
    (u, a, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER'),
    (u, a, c, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER');
CREATE MACRO fn.has_database_privilege
    (a, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER'),
    (u, a, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER'),
    (u, a, c, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER');
CREATE MACRO fn.has_column_privilege
    (a, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER'),
    (u, a, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER'),
    (u, a, c, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER');
CREATE MACRO fn.pg_has_role
    (a, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER'),
    (u, a, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER'),
    (u, a, c, p) AS upper(p) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER');
CREATE MACRO fn.format_type(o, m) AS (SELECT max(s.name) FROM pgc.spelled AS s WHERE s.oid = o);
CREATE MACRO fn.obj_description
    (o) AS (SELECT max(d.description) FROM pgc.pg_description AS d WHERE d.objoid = o AND d.objsubid = 0),
    (o, c) AS (SELECT max(d.description) FROM pgc.pg_description AS d WHERE d.objoid = o AND d.objsubid = 0);
CREATE MACRO fn.col_description
    (o, n) AS (SELECT max(d.description) FROM pgc.pg_description AS d WHERE d.objoid = o AND d.objsubid = n);
CREATE MACRO fn.current_setting
    (n) AS (SELECT max(s.setting) FROM pgc.pg_settings AS s WHERE lower(s.name) = lower(n)),
    (n, m) AS (SELECT max(s.setting) FROM pgc.pg_settings AS s WHERE lower(s.name) = lower(n));
CREATE MACRO fn.to_regclass
    (n) AS CASE replace(n, 'pg_catalog.', '') WHEN 'pg_class' THEN 1259 WHEN 'pg_type' THEN 1247 WHEN 'pg_namespace' THEN 2615 WHEN 'pg_database' THEN 1262 WHEN 'pg_proc' THEN 1255 ELSE (SELECT max(c.oid) FROM pgc.pg_class AS c JOIN pgc.pg_namespace AS s ON s.oid = c.relnamespace WHERE replace(n, '"', '') IN (c.relname, s.nspname || '.' || c.relname, CAST(c.oid AS VARCHAR))) END;
CREATE MACRO fn.regclass_name
    (o) AS coalesce((SELECT max(c.relname) FROM pgc.pg_class AS c WHERE c.oid = CAST(o AS UINTEGER)), CAST(o AS VARCHAR));
CREATE MACRO fn.to_regtype
    (n) AS (SELECT max(t.oid) FROM pgc.pg_type AS t JOIN pgc.spelled AS s ON s.oid = t.oid WHERE n IN (t.typname, s.name, 'pg_catalog.' || t.typname));
CREATE MACRO fn.to_regnamespace
    (n) AS (SELECT max(s.oid) FROM pgc.pg_namespace AS s WHERE s.nspname = replace(n, '"', ''));
CREATE MACRO fn.regnamespace_name
    (o) AS (SELECT max(s.nspname) FROM pgc.pg_namespace AS s WHERE s.oid = o);
CREATE MACRO fn.quote_ident(n) AS n;
CREATE MACRO fn.quote_literal(n) AS chr(39) || replace(n, chr(39), repeat(chr(39), 2)) || chr(39);
CREATE MACRO fn.array_upper(a, d) AS CASE WHEN len(a) > 0 THEN len(a) END;
CREATE MACRO fn.array_lower(a, d) AS CASE WHEN len(a) > 0 THEN 1 END;

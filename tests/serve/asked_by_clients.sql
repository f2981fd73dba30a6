-- What clients send before an analyst has typed anything, and for their trees of tables: one statement a line, in our own words, with the
-- relations, functions, casts and operators of theirs. A line "-- NAME: .." begins a client; "! CODE" in front: refused with that code.

-- asyncpg: leaves a connection to its pool
SELECT pg_advisory_unlock_all(); CLOSE ALL; UNLISTEN *; RESET ALL
SELECT current_setting('jit') AS now_is, set_config('jit', 'off', false) AS becomes
WITH RECURSIVE up(oid, element, depth) AS (SELECT k.oid, k.typelem, 0 FROM pg_catalog.pg_type AS k WHERE k.oid = any('{1007,25}'::oid[]) UNION ALL SELECT k.oid, k.typelem, up.depth + 1 FROM pg_type AS k, up WHERE up.element IS NOT NULL AND k.oid = up.element) SELECT DISTINCT *, element::regtype::text AS named FROM up ORDER BY depth DESC

-- psycopg: types by name
SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim AS delimiter FROM pg_type AS k WHERE k.oid = to_regtype('int4') ORDER BY k.oid

-- SQLAlchemy: first connection
select pg_catalog.version()
select current_schema()
show standard_conforming_strings
SHOW TRANSACTION ISOLATION LEVEL
SELECT oid, typarray FROM pg_type WHERE typname = 'hstore'

-- JDBC: settings of a connection, and isValid
SET extra_float_digits = 3
SET application_name = 'PostgreSQL JDBC Driver'
SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY
SET TIME ZONE 'UTC'
SHOW TimeZone
SELECT session_user, current_catalog, pg_catalog.current_database()

-- DBeaver: database, schemas, tables, columns, constraints, indexes, types
SELECT b.oid, b.* FROM pg_catalog.pg_database AS b WHERE datname = 'sqlanon'
SELECT s.oid, s.*, t.description FROM pg_catalog.pg_namespace AS s LEFT OUTER JOIN pg_catalog.pg_description AS t ON t.objoid = s.oid AND t.objsubid = 0 AND t.classoid = 'pg_namespace'::regclass ORDER BY nspname
SELECT r.oid, r.*, r.xmin, t.description, pg_catalog.pg_get_expr(r.relpartbound, r.oid) AS part, pg_catalog.pg_get_partkeydef(r.oid) AS by_what FROM pg_catalog.pg_class AS r LEFT OUTER JOIN pg_catalog.pg_description AS t ON t.objoid = r.oid AND t.objsubid = 0 AND t.classoid = 'pg_class'::regclass WHERE r.relnamespace = 16384 AND r.relkind NOT IN ('i', 'I', 'c')
SELECT r.relname, f.*, pg_catalog.pg_get_expr(e.adbin, e.adrelid, true) AS otherwise, t.description FROM pg_catalog.pg_attribute AS f INNER JOIN pg_catalog.pg_class AS r ON f.attrelid = r.oid LEFT OUTER JOIN pg_catalog.pg_attrdef AS e ON f.attrelid = e.adrelid AND f.attnum = e.adnum LEFT OUTER JOIN pg_catalog.pg_description AS t ON r.oid = t.objoid AND f.attnum = t.objsubid LEFT OUTER JOIN pg_depend AS w ON w.refobjid = f.attrelid AND w.deptype = 'i' WHERE NOT f.attisdropped ORDER BY f.attnum
SELECT k.oid, k.*, r.relname, CASE WHEN k.contype = 'c' THEN "substring"(pg_get_constraintdef(k.oid), 7) END FROM pg_catalog.pg_constraint AS k INNER JOIN pg_catalog.pg_class AS r ON r.oid = k.conrelid
SELECT x.*, x.indkey AS parts, pg_catalog.pg_relation_size(x.indexrelid), pg_catalog.pg_stat_get_numscans(x.indexrelid) FROM pg_catalog.pg_index AS x INNER JOIN pg_catalog.pg_class AS r ON r.oid = x.indexrelid
SELECT k.oid, k.*, r.relkind, format_type(nullif(k.typbasetype, 0), k.typtypmod) FROM pg_catalog.pg_type AS k LEFT OUTER JOIN pg_catalog.pg_class AS r ON r.oid = k.typrelid WHERE k.typname IS NOT NULL AND (r.relkind IS NULL OR r.relkind = 'c')
SELECT reltype FROM pg_catalog.pg_class WHERE 1 <> 1 LIMIT 1
SELECT * FROM pg_catalog.pg_enum WHERE 1 <> 1 LIMIT 1

-- Metabase: rights, tables with their rows, columns with comments
SELECT t.schemaname, pg_catalog.has_table_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"."' || t.tablename || '"', 'SELECT') AS reads, has_any_column_privilege(current_user, t.tablename, 'update') AS writes FROM pg_tables AS t
SELECT s.nspname, r.relname, CASE r.relkind WHEN 'r' THEN 'TABLE' WHEN 'v' THEN 'VIEW' END AS kind, NULLIF(z.n_live_tup, 0) AS some FROM pg_catalog.pg_class AS r INNER JOIN pg_catalog.pg_namespace AS s ON r.relnamespace = s.oid LEFT JOIN pg_stat_user_tables AS z ON s.nspname = z.schemaname AND r.relname = z.relname WHERE s.nspname !~ '^pg_' AND r.relkind IN ('r', 'p', 'v', 'f', 'm')
SELECT f.column_name, pg_catalog.col_description(CAST(CAST(pg_catalog.format('%I.%I', CAST(f.table_schema AS TEXT), CAST(f.table_name AS TEXT)) AS REGCLASS) AS OID), f.ordinal_position) AS said FROM information_schema.columns AS f WHERE f.table_schema !~ '^information_schema|catalog_history|pg_'
SHOW timezone

-- Superset: as SQLAlchemy, and
SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg_%' ORDER BY nspname
SELECT 1

-- Grafana: its editor of queries
SELECT current_setting('server_version_num')::int / 100 AS version
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'
SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND quote_ident(table_schema) IN (SELECT CASE WHEN trim(p[i]) = '"$user"' THEN user ELSE trim(p[i]) END FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1), array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i, string_to_array(current_setting('search_path'), ',') p)

-- Npgsql and Power BI: types, then tables by information_schema
SELECT version(); SELECT s.nspname, k.oid, CASE WHEN g.proname = 'array_recv' THEN 'a' ELSE k.typtype END AS kind, CASE WHEN g.proname = 'array_recv' THEN k.typelem WHEN k.typtype = 'r' THEN b.rngsubtype WHEN k.typtype = 'd' THEN k.typbasetype END AS item FROM pg_type AS k JOIN pg_namespace AS s ON s.oid = k.typnamespace LEFT JOIN pg_proc AS g ON g.oid = k.typreceive LEFT JOIN pg_range AS b ON b.rngtypid = k.oid ORDER BY CASE WHEN k.typtype IN ('b', 'e', 'p') THEN 0 ELSE 5 END; SELECT pg_type.oid, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid ORDER BY oid, enumsortorder
SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA NOT IN ('information_schema', 'pg_catalog') ORDER BY TABLE_SCHEMA, TABLE_NAME
SELECT COLUMN_NAME, CASE WHEN (data_type LIKE '%unsigned%') THEN DATA_TYPE || ' unsigned' ELSE DATA_TYPE END AS DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = 'public' ORDER BY ORDINAL_POSITION
SELECT u.TABLE_NAME, u.CONSTRAINT_SCHEMA || '_' || w.CONSTRAINT_NAME AS name FROM (SELECT DISTINCT constraint_schema, constraint_name FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS) w INNER JOIN INFORMATION_SCHEMA.KEY_COLUMN_USAGE u ON w.CONSTRAINT_SCHEMA = u.CONSTRAINT_SCHEMA AND w.CONSTRAINT_NAME = u.CONSTRAINT_NAME ORDER BY name, u.ORDINAL_POSITION
SELECT character_set_name FROM INFORMATION_SCHEMA.character_sets

-- Tableau and ODBC
SET DateStyle = 'ISO'
SET transform_null_equals = off
SET statement_timeout = 30000
SELECT NULL, nspname, NULL FROM pg_catalog.pg_namespace AS n WHERE true ORDER BY nspname
SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.pg_postmaster_start_time()

-- any: settings, transactions, constants, time
SET client_min_messages TO warning
SET search_path TO "$user", public
SET lock_timeout = '5s'
SET idle_session_timeout = 0
SET NAMES 'utf8'
SHOW server_version
SHOW transaction_read_only
SHOW ALL
BEGIN READ ONLY
COMMIT
START TRANSACTION ISOLATION LEVEL REPEATABLE READ
SAVEPOINT a
RELEASE SAVEPOINT a
ROLLBACK
DISCARD ALL
DEALLOCATE ALL
SELECT now(), current_timestamp, current_date, clock_timestamp(), now() - interval '1 day'
SELECT current_user, user, version(), pg_backend_pid(), inet_server_addr()
SELECT 1 AS one, 'a' AS b, NULL, 1.5, true
SELECT 1 LIMIT 0
SELECT 1 WHERE 1 = 0
SELECT 'x'::text, '1'::int + 1, '2020-01-01'::date, DATE '2020-01-01', '1 day'::interval
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(x, y)
SELECT current_schemas(true), array_to_string(current_schemas(false), ',')
SELECT DISTINCT ON (nspname) nspname, oid FROM pg_namespace ORDER BY nspname, oid
SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = '{t}'::regclass
SELECT attname FROM pg_attribute WHERE attrelid = ('public.' || '{t}')::regclass::oid
SELECT coalesce(current_setting('nosuch.x', true), '')
! 42704 SELECT '1'::"read_text"
! 42704 SELECT NULL::nosuch
! 42704 SET nosuch = 1
! 42704 SHOW nosuch
! 42883 SELECT gen_random_uuid()
! 42883 SELECT pg_sleep(10)
! 42P01 SELECT * FROM nosuch
! 42601 SELECT 1 +
! 0A000 DECLARE c CURSOR FOR SELECT 1
! 0A000 EXPLAIN SELECT 1
! 0A000 PREPARE s AS SELECT 1
! 25006 CREATE TEMPORARY TABLE t (a int)
! 25006 BEGIN READ WRITE

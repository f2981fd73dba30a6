-- name: table/labels
-- params: schema, name (of the table, as text binds)
-- returns: column_name text, provider text, label text: the security labels of PostgreSQL
--   Anonymizer on the columns of a table
SELECT a.attname AS column_name, l.provider AS provider, l.label AS label
FROM pg_catalog.pg_seclabels AS l
JOIN pg_catalog.pg_class AS c ON c.oid = l.objoid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = l.objsubid
WHERE l.objtype = 'column' AND l.provider IN ('anon', 'k_anonymity') AND n.nspname = :schema AND c.relname = :name
ORDER BY a.attnum, l.provider

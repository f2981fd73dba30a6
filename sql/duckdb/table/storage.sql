-- name: table/storage
-- params: source (a table, no view), columns (of text), numbered (bool: no column of it is
--   named rowid, which would hide the row numbers), :database, :schema, :name (of the table)
-- returns: dense boolean (its rowids are 0 to rows - 1), bytes boolean (its texts have no collation, so
--   that they sort and compare by bytes), then for every column about how many values it has, bigint
SELECT
    {{ "COALESCE(MAX(s.rowid), -1) + 1 = COUNT(*)" if numbered else "FALSE" }} AS dense
    , CURRENT_SETTING('default_collation') = '' AND (
        SELECT COUNT(*) FROM duckdb_tables() AS t
        WHERE t.database_name = :database
            AND t.schema_name = :schema
            AND t.table_name = :name
            AND NOT CONTAINS(UPPER(t.sql), 'COLLATE')
    ) = 1 AS bytes
{% for column in columns %}
    , APPROX_COUNT_DISTINCT(s.{{ column | ident }}) AS n{{ loop.index }}
{% endfor %}
FROM {{ source | table }} AS s

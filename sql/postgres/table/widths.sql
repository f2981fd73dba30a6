-- name: table/widths
-- params: source (table), columns (text columns)
-- returns: n bigint, then for every column the length of all its values, bigint
-- Bytes, which PostgreSQL knows without reading long values.
SELECT
    COUNT(*) AS n
{% for column in columns %}
    , CAST(COALESCE(SUM(OCTET_LENGTH(CAST(s.{{ column | ident }} AS text))), 0) AS BIGINT) AS c{{ loop.index }}
{% endfor %}
FROM {{ source | table }} AS s

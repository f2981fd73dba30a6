-- name: table/widths
-- params: source (table), columns (text columns)
-- returns: n bigint, then for every column the length of all its values, bigint
SELECT
    COUNT(*) AS n
{% for column in columns %}
    , CAST(COALESCE(SUM(LENGTH(s.{{ column | ident }})), 0) AS BIGINT) AS c{{ loop.index }}
{% endfor %}
FROM {{ source | table }} AS s

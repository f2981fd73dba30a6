-- name: table/lacking
-- params: source (table), columns (names)
-- returns: n bigint: rows in which one of the columns is NULL
SELECT COUNT(*) AS n
FROM {{ source | table }} AS s
WHERE {% for name in columns %}{{ " OR " if not loop.first }}s.{{ name | ident }} IS NULL{% endfor %}


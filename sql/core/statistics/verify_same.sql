-- name: statistics/verify_same
-- params: fresh, kept (tables), columns (names)
-- returns: failing bigint: rows that only one of the tables has
SELECT
    (
        SELECT COUNT(*)
        FROM {{ fresh | table }} AS f
        LEFT JOIN {{ kept | table }} AS k ON
{% for name in columns %}
            {{ " AND " if not loop.first }}k.{{ name }} = f.{{ name }}
{% endfor %}
        WHERE k.{{ columns[0] }} IS NULL
    )
    + ABS((SELECT COUNT(*) FROM {{ fresh | table }} AS g) - (SELECT COUNT(*) FROM {{ kept | table }} AS h)) AS failing

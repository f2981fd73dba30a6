-- name: noisy/joined
-- params: coded (table, as noisy/coded makes it), source (table), person (names)
-- returns: by how much the number of coded rows differs from the number of rows that have a person
SELECT (SELECT COUNT(*) FROM {{ coded | table }} AS k)
    - (
        SELECT COUNT(*)
        FROM {{ source | table }} AS s
        WHERE {% for name in person %}{{ " AND " if not loop.first }}s.{{ name | ident }} IS NOT NULL{% endfor %}
    )

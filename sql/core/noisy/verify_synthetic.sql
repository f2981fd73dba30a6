-- name: noisy/verify_synthetic
-- params: physical (table of synthetic rows), drawn (table of noisy numbers), measure
--   (name of its column), columns (list of {name, shown (table of label, value)})
-- returns: rows (how many synthetic rows there are), undeclared (how many are in no group of the noisy
--   table :name), apart (the sum over its groups of the differences between rows and noisy numbers)
WITH s AS (
    SELECT {% for c in columns %}l{{ loop.index }}.label AS g{{ loop.index }}, {% endfor %}COUNT(*) AS many
    FROM {{ physical | table }} AS p
{% for c in columns %}
    LEFT JOIN {{ c.shown | table }} AS l{{ loop.index }} ON l{{ loop.index }}.value = p.{{ c.name | ident }}
{% endfor %}
    GROUP BY {% for c in columns %}{{ ", " if not loop.first }}l{{ loop.index }}.label{% endfor %}

)
, d AS (
    SELECT
{% for c in columns %}
        r.{{ c.name | ident }} AS g{{ loop.index }},
{% endfor %}
        CAST(r.{{ measure | ident }} AS BIGINT) AS n
    FROM {{ drawn | table }} AS r
    WHERE r.{{ "table" | ident }} = :name
)
SELECT
    (SELECT COUNT(*) FROM {{ physical | table }} AS p) AS rows
    , (
        SELECT COALESCE(SUM(s.many), 0)
        FROM s
        LEFT JOIN d ON {% for c in columns %}d.g{{ loop.index }} = s.g{{ loop.index }} AND {% endfor %}d.n IS NOT NULL
        WHERE d.n IS NULL
    ) AS undeclared
    , (
        SELECT CAST(COALESCE(SUM(ABS(COALESCE(s.many, 0) - d.n)), 0) AS BIGINT)
        FROM d
        LEFT JOIN s ON
{% for c in columns %}
            {{ " AND " if not loop.first }}s.g{{ loop.index }} = d.g{{ loop.index }}
{% endfor %}
    ) AS apart

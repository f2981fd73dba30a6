-- name: audit/persons
-- params: target (table), classes, identifiers (column names), assigned (bool: rows whose
--   first of classes is NULL are left out)
-- returns: average double (mean over rows of 1 / the fewest persons of the row's class), then per identifier fewest
--   bigint: the fewest distinct values in any class; each identifier is counted by itself, and its NULLs are one value
SELECT
    COALESCE(SUM(
        CAST(c.n AS DOUBLE) / CAST(
            LEAST({% for name in identifiers %}{{ ", " if not loop.first }}c.n{{ loop.index }}{% endfor %}) AS DOUBLE
        )
    ) / CAST(SUM(c.n) AS DOUBLE), 0) AS average
{% for name in identifiers %}
    , CAST(COALESCE(MIN(c.n{{ loop.index }}), 0) AS BIGINT) AS fewest{{ loop.index }}
{% endfor %}
FROM (
    SELECT
        COUNT(*) AS n
{% for name in identifiers %}
        , COUNT(DISTINCT t.{{ name | ident }})
            + MAX(CASE WHEN t.{{ name | ident }} IS NULL THEN 1 ELSE 0 END) AS n{{ loop.index }}
{% endfor %}
    FROM {{ target | table }} AS t
{% if assigned %}
    WHERE t.{{ classes[0] | ident }} IS NOT NULL
{% endif %}
{% if classes %}
    GROUP BY {% for name in classes %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}

{% endif %}
    HAVING COUNT(*) > 0
) AS c

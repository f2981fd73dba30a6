-- name: table/varying
-- params: source (table), key (name), columns (names)
-- returns: groups bigint (values of the key that several rows have), for each of the columns
--   v1.. bigint (those of them whose rows have different values of it, NULL not counted)
SELECT
    COUNT(*) AS groups
    {% for _ in columns %}, CAST(COALESCE(SUM(g.v{{ loop.index }}), 0) AS BIGINT) AS v{{ loop.index }}
    {% endfor %}

FROM (
    SELECT
        COUNT(*) AS n
{% for name in columns %}
        , CASE
            WHEN MIN(CAST(s.{{ name | ident }} AS VARCHAR)) < MAX(CAST(s.{{ name | ident }} AS VARCHAR)) THEN 1
            ELSE 0
        END AS v{{ loop.index }}
        {% endfor %}

    FROM {{ source | table }} AS s
    WHERE s.{{ key | ident }} IS NOT NULL
    GROUP BY s.{{ key | ident }}
    HAVING COUNT(*) > 1
) AS g

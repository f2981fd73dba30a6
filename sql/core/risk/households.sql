-- name: risk/households
-- params: target (table), classes (column names; none: all rows are one class), household (column
--   names, at least one), persons (columns that name persons; none: every row is one), weight
--   (column name or none), population (table or none), others (the columns of classes there)
-- returns: alone bigint (1: a column of the household is NULL), h bigint (number of the
--   household), p bigint (number of the person, 0: every row is one), n bigint (rows of the
--   class, or the fewest persons by one of the columns, NULLs being one; of the population,
--   where there is one), w double (the sum of their weights; without weights their number)
{% set group = "PARTITION BY " if classes else "" %}
SELECT r.alone AS alone, r.h AS h, r.p AS p, CAST(r.n AS BIGINT) AS n, CAST(r.w AS DOUBLE PRECISION) AS w
FROM (
    SELECT
        CASE
            WHEN {% for name in household %}{{ " OR " if not loop.first }}c.h{{ loop.index }} IS NULL{% endfor %} THEN 1
            ELSE 0
        END AS alone
        , DENSE_RANK() OVER (
            ORDER BY {% for name in household %}{{ ", " if not loop.first }}c.h{{ loop.index }} NULLS FIRST{% endfor %}
        ) AS h
        ,
{% if persons %}
            DENSE_RANK() OVER (
                ORDER BY
{% for name in persons %}
                    {{ ", " if not loop.first }}c.p{{ loop.index }} NULLS FIRST
{% endfor %}
            )
{% else %}
            0
{% endif %}
            AS p
        ,
{% if persons %}
            LEAST(
{% for name in persons %}
                {{ ", " if not loop.first }}MAX(c.d{{ loop.index }}) OVER (
                    {{ group }}
{% for name in classes %}
                    {{ ", " if not loop.first }}c.g{{ loop.index }}
{% endfor %}
                )
{% endfor %}
            )
{% else %}
            SUM(c.counted) OVER (
                {{ group }}
{% for name in classes %}
                {{ ", " if not loop.first }}c.g{{ loop.index }}
{% endfor %}
            )
{% endif %}
            AS n
        , SUM(c.w) OVER (
            {{ group }}
{% for name in classes %}
            {{ ", " if not loop.first }}c.g{{ loop.index }}
{% endfor %}
        ) AS w
        , c.own AS own
    FROM (
        SELECT
{% for name in classes %}
            t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
{% for name in household %}
            t.{{ name | ident }} AS h{{ loop.index }},
{% endfor %}
{% for name in persons %}
            t.{{ name | ident }} AS p{{ loop.index }},
            DENSE_RANK() OVER (
                {{ group }}
{% for column in classes %}
                {{ ", " if not loop.first }}t.{{ column | ident }}
{% endfor %}
                ORDER BY t.{{ name | ident }} NULLS FIRST
            ) AS d{{ loop.index }}
            ,
{% endfor %}
{% if weight %}
            CAST(t.{{ weight | ident }} AS DOUBLE PRECISION)
{% else %}
            {{ 0 if population else 1 }}
{% endif %}
            AS w
            , {{ 0 if population else 1 }} AS counted
            , 1 AS own
        FROM {{ target | table }} AS t
{% if population %}
        UNION ALL
        SELECT
{% for name in others %}
            p.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
            {% for name in household %}NULL AS h{{ loop.index }}, {% endfor %}1 AS w
            , 1 AS counted
            , 0 AS own
        FROM {{ population | table }} AS p
{% endif %}
    ) AS c
) AS r
WHERE r.own = 1

-- name: statistics/verify_sums
-- params: cells, atoms (tables), columns (list of {levels}), margins, sums (list of {place})
-- returns: failing bigint: sums of atoms, in each margin, that are no cell of the table
--   with as many rows, and other cells
{% macro set(margin) %}
{% set some = [] %}
{% for c in columns %}
{% set level = margin[loop.index0] %}
{% if level < c.levels %}{{ some.append("a.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}
{% endfor %}
({{ some | join(", ") }})
{% endmacro %}
SELECT COUNT(*) AS failing
FROM (
    SELECT
        CAST(SUM(a.n) AS BIGINT) AS n
{% for own in sums %}
        , CAST(SUM(a.s{{ own.place }}) AS BIGINT) AS s{{ own.place }}
{% endfor %}
{% for c in columns %}
{% set i = loop.index %}
        , CASE
{% for level in range(c.levels) %}
            WHEN a.v{{ i }}_{{ level }} IS NOT NULL THEN {{ level }}
{% endfor %}
            ELSE {{ c.levels }}
        END AS l{{ i }}
        , COALESCE({% for level in range(c.levels) %}a.v{{ i }}_{{ level }}, {% endfor %}'*') AS k{{ i }}
{% endfor %}
    FROM {{ atoms | table }} AS a
    GROUP BY GROUPING SETS ({% for margin in margins %}{{ ", " if not loop.first }}{{ set(margin) }}{% endfor %})
) AS f
FULL JOIN {{ cells | table }} AS c
    ON
{% for column in columns %}
        {{ " AND " if not loop.first }}c.l{{ loop.index }} = f.l{{ loop.index }}
        AND c.k{{ loop.index }} = f.k{{ loop.index }}
{% endfor %}
        AND c.n = f.n
{% for own in sums %}
        AND c.s{{ own.place }} = f.s{{ own.place }}
{% endfor %}
WHERE f.n IS NULL OR c.n IS NULL

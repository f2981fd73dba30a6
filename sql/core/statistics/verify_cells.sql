-- name: statistics/verify_cells
-- params: keyed (table, as statistics/verify_rows makes it), cells (table), columns (list
--   of {levels}), sums (list of {place}), margins
-- returns: failing bigint: cells of the staged rows that are not in the table with the
--   same rows, persons and sums, and others that are in it
{% macro set(margin) %}
{% set some = [] %}
{% for c in columns %}
{% set level = margin[loop.index0] %}
{% if level < c.levels %}{{ some.append("s.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}
{% endfor %}
({{ some | join(", ") }})
{% endmacro %}
SELECT COUNT(*) AS failing
FROM (
    SELECT
        COUNT(*) AS n
        , COUNT(DISTINCT s.person) AS persons
{% for own in sums %}
        , SUM(s.s{{ own.place }}) AS s{{ own.place }}
{% endfor %}
{% for c in columns %}
{% set i = loop.index %}
        , COALESCE(
{% for level in range(c.levels) %}
            CASE WHEN s.v{{ i }}_{{ level }} IS NOT NULL THEN {{ level }} END,
{% endfor %}
            {{ c.levels }}
        ) AS l{{ i }}
        , COALESCE({% for level in range(c.levels) %}s.v{{ i }}_{{ level }}, {% endfor %}'*') AS k{{ i }}
{% endfor %}
    FROM {{ keyed | table }} AS s
    GROUP BY GROUPING SETS ({% for margin in margins %}{{ ", " if not loop.first }}{{ set(margin) }}{% endfor %})
) AS f
FULL JOIN {{ cells | table }} AS c
    ON
{% for column in columns %}
        {{ " AND " if not loop.first }}c.l{{ loop.index }} = f.l{{ loop.index }}
        AND c.k{{ loop.index }} = f.k{{ loop.index }}
{% endfor %}
        AND c.n = f.n
        AND c.persons = f.persons
{% for own in sums %}
        AND c.s{{ own.place }} = f.s{{ own.place }}
{% endfor %}
WHERE f.n IS NULL OR c.n IS NULL

-- name: statistics/past_windows
-- params: atoms (as statistics/past_atoms makes it), cells (as statistics/past_cells makes it), columns
--   (list of {levels}), margins, threshold, first (the first version of all), batch (number of the version)
-- returns: of the rows of each version, and of some versions in a row, but not of all:
--   since, upto bigint, first bigint (an atom), small and shown integer (1: few persons;
--   1: readers have the number), levels; the cells that readers know of, and small ones
{% macro set(margin, of) %}
{% set some = [] %}
{% for c in columns %}
{% set level = margin[loop.index0] %}
{% if level < c.levels %}{{ some.append(", a.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}
{% endfor %}
({{ of }}{{ some | join("") }})
{% endmacro %}
SELECT
    g.since AS since
    , g.upto AS upto
    , g.first AS first
    , CASE WHEN g.persons < {{ threshold }} THEN 1 ELSE 0 END AS small
    , CASE WHEN p.hidden = 0 THEN 1 ELSE 0 END AS shown
{% for c in columns %}
    , g.l{{ loop.index }} AS l{{ loop.index }}
{% endfor %}
FROM (
    SELECT
        w.since AS since
        , w.upto AS upto
        , MIN(a.atom) AS first
        , SUM(a.persons) AS persons
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
    JOIN (
        SELECT s.batch AS since, u.batch AS upto
        FROM (SELECT DISTINCT x.batch AS batch FROM {{ atoms | table }} AS x) AS s
        JOIN (SELECT DISTINCT y.batch AS batch FROM {{ atoms | table }} AS y) AS u ON u.batch >= s.batch
    ) AS w ON a.batch >= w.since AND a.batch <= w.upto
    GROUP BY GROUPING SETS (
{% for margin in margins %}
        {{ ", " if not loop.first }}{{ set(margin, "w.since, w.upto") }}
{% endfor %}
    )
) AS g
LEFT JOIN {{ cells | table }} AS p ON p.since = g.since
    AND p.batch = g.upto
{% for c in columns %}
    AND p.l{{ loop.index }} = g.l{{ loop.index }}
    AND p.k{{ loop.index }} = g.k{{ loop.index }}
{% endfor %}
WHERE (g.since <> {{ first }} OR g.upto <> {{ batch }}) AND (g.persons < {{ threshold }} OR p.since IS NOT NULL)
ORDER BY g.since, g.upto, g.first{% for c in columns %}, g.l{{ loop.index }}, g.k{{ loop.index }}{% endfor %}


-- name: statistics/verify_past_cells
-- params: cells (as statistics/past_cells makes it), atoms (as statistics/past_atoms makes
--   it), columns (list of {levels}), margins
-- returns: failing bigint: cells of earlier versions, or of the new rows, that are not the
--   sums of their atoms, or are missing
{% macro set(margin, of) %}
{% set some = [] %}
{% for c in columns %}
{% set level = margin[loop.index0] %}
{% if level < c.levels %}{{ some.append(", a.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}
{% endfor %}
({{ of }}{{ some | join("") }})
{% endmacro %}
SELECT COUNT(*) AS failing
FROM (
    SELECT
        w.since AS since
        , w.batch AS batch
        , SUM(a.n) AS n
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
    JOIN (SELECT DISTINCT x.since AS since, x.batch AS batch FROM {{ cells | table }} AS x) AS w ON a.batch >= w.since
        AND a.batch <= w.batch
    GROUP BY GROUPING SETS (
{% for margin in margins %}
        {{ ", " if not loop.first }}{{ set(margin, "w.since, w.batch") }}
{% endfor %}
    )
) AS g
FULL JOIN {{ cells | table }} AS c ON c.since = g.since
    AND c.batch = g.batch
    AND c.n = g.n
    AND c.persons = g.persons
{% for c in columns %}
    AND c.l{{ loop.index }} = g.l{{ loop.index }}
    AND c.k{{ loop.index }} = g.k{{ loop.index }}
{% endfor %}
WHERE c.n IS NULL OR g.n IS NULL

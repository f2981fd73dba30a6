-- name: statistics/past_moved
-- params: moved (table to make), witness (table of witness, atom, change), atoms (as
--   statistics/past_atoms makes it), columns (list of {levels}), margins
-- returns: witness bigint, since, upto bigint, levels and keys, change bigint: by how much a witness
--   differs from the true table in each cell of the rows of some versions in a row, where it does
{% macro set(margin, of) %}
{% set some = [] %}
{% for c in columns %}
{% set level = margin[loop.index0] %}
{% if level < c.levels %}{{ some.append(", a.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}
{% endfor %}
({{ of }}{{ some | join("") }})
{% endmacro %}
CREATE {{ moved | scratch }} AS
SELECT g.*
FROM (
    SELECT
        t.witness AS witness
        , w.since AS since
        , w.upto AS upto
        , CAST(SUM(t.change) AS BIGINT) AS change
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
    FROM {{ witness | table }} AS t
    JOIN {{ atoms | table }} AS a ON a.atom = t.atom
    JOIN (
        SELECT s.batch AS since, u.batch AS upto
        FROM (SELECT DISTINCT x.batch AS batch FROM {{ atoms | table }} AS x) AS s
        JOIN (SELECT DISTINCT y.batch AS batch FROM {{ atoms | table }} AS y) AS u ON u.batch >= s.batch
    ) AS w ON a.batch >= w.since AND a.batch <= w.upto
    GROUP BY GROUPING SETS (
{% for margin in margins %}
        {{ ", " if not loop.first }}{{ set(margin, "t.witness, w.since, w.upto") }}
{% endfor %}
    )
) AS g
WHERE g.change <> 0

-- name: statistics/cell_noise
-- params: noise (table to make), rows (table, as statistics/rows makes it), keys (table, as
--   statistics/record_keys makes it), cells, chances (tables), columns (list of {levels}), margins,
--   counted (n or persons), last (the last number of the chances), turning (the first that is repeated)
-- returns: of each cell its number cell bigint, key bigint (the sum of the persons' keys
--   modulo 2^32), value bigint (the true number), change bigint (by the chances), marks
--   bigint (the sum of the numbers of its atoms: cells of the same persons have the same)
{% macro set(margin) %}
{% set some = [] %}
{% for c in columns %}
{% set level = margin[loop.index0] %}
{% if level < c.levels %}{{ some.append("x.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}
{% endfor %}
({{ some | join(", ") }})
{% endmacro %}
CREATE {{ noise | scratch }} AS
SELECT z.cell AS cell, z.key AS key, z.value AS value, t.change AS change, z.marks AS marks
FROM (
    SELECT c.cell AS cell, CAST(MOD(g.keys, 4294967296) AS BIGINT) AS key, c.{{ counted }} AS value, g.marks AS marks
    FROM (
        SELECT
            SUM(x.key) AS keys
            , CAST(SUM(x.atom) AS BIGINT) AS marks
{% for c in columns %}
{% set i = loop.index %}
        , CASE
{% for level in range(c.levels) %}
            WHEN x.v{{ i }}_{{ level }} IS NOT NULL THEN {{ level }}
{% endfor %}
            ELSE {{ c.levels }}
        END AS l{{ i }}
        , COALESCE({% for level in range(c.levels) %}x.v{{ i }}_{{ level }}, {% endfor %}'*') AS k{{ i }}
{% endfor %}
        FROM (
            SELECT
                r.atom AS atom
                , SUM(k.key) AS key
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
                , r.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
            FROM (
                SELECT DISTINCT
                    p.atom AS atom
                    , p.person AS person
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
                    , p.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
                FROM {{ rows | table }} AS p
            ) AS r
            JOIN {{ keys | table }} AS k ON k.person = r.person
            GROUP BY
                r.atom
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
                , r.v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
        ) AS x
        GROUP BY GROUPING SETS ({% for margin in margins %}{{ ", " if not loop.first }}{{ set(margin) }}{% endfor %})
    ) AS g
    JOIN {{ cells | table }} AS c ON
{% for column in columns %}
        {{ " AND " if not loop.first }}c.l{{ loop.index }} = g.l{{ loop.index }}
        AND c.k{{ loop.index }} = g.k{{ loop.index }}
{% endfor %}
) AS z
JOIN {{ chances | table }} AS t
    ON t.number = CASE
        WHEN z.value <= {{ last }} THEN z.value
        ELSE {{ turning }} + MOD(z.value - {{ turning }}, {{ last - turning + 1 }})
    END
    AND z.key >= t.first AND z.key < t.until

-- name: statistics/cell_noise
-- params: noise (table to make), rows (table, as statistics/rows makes it), keys (table, as
--   statistics/record_keys makes it), cells, chances (tables), columns (list of {levels}), margins,
--   counted (n or persons), last (the last number of the chances), turning (the first that is repeated)
-- returns: of each cell its number cell bigint, key bigint (the sum of the persons' keys
--   modulo 2^32), value bigint (the true number), change bigint (by the chances), marks
--   bigint (the sum of the numbers of its atoms: cells of the same persons have the same)
{% from "core/statistics/cells.jinja" import columns_of_levels, levels_and_keys, margin_sets, same_cell %}
CREATE {{ noise | scratch }} AS
SELECT z.cell AS cell, z.key AS key, z.value AS value, t.change AS change, z.marks AS marks
FROM (
    SELECT c.cell AS cell, CAST(MOD(g.keys, 4294967296) AS BIGINT) AS key, c.{{ counted }} AS value, g.marks AS marks
    FROM (
        SELECT
            SUM(x.key) AS keys
            , CAST(SUM(x.atom) AS BIGINT) AS marks
{{ levels_and_keys(columns, "x") }}
        FROM (
            SELECT
                r.atom AS atom
                , SUM(k.key) AS key
{{ columns_of_levels(columns, "r") }}
            FROM (
                SELECT DISTINCT
                    p.atom AS atom
                    , p.person AS person
{{ columns_of_levels(columns, "p") }}
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
        GROUP BY {{ margin_sets(columns, margins, "x") }}
    ) AS g
    JOIN {{ cells | table }} AS c ON
        {{ same_cell(columns, "c", "g") }}
) AS z
JOIN {{ chances | table }} AS t
    ON t.number = CASE
        WHEN z.value <= {{ last }} THEN z.value
        ELSE {{ turning }} + MOD(z.value - {{ turning }}, {{ last - turning + 1 }})
    END
    AND z.key >= t.first AND z.key < t.until

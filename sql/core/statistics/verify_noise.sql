-- name: statistics/verify_noise
-- params: keyed (table, as statistics/verify_rows makes it), keys (table, as
--   statistics/record_keys makes it), cells, noise (tables), columns (list of {levels}), margins
-- returns: failing bigint: cells whose kept key is not the sum of the keys of the staged
--   persons in it modulo 2^32, and cells with another number of keys than one
{% from "core/statistics/verify_cells.jinja" import columns_of_levels, levels_and_keys, margin_sets, same_cell %}
SELECT COUNT(*) AS failing
FROM (
    SELECT
        SUM(x.key) AS keys
{{ levels_and_keys(columns, "x") }}
    FROM (
        SELECT
            MIN(k.key) AS key
{{ columns_of_levels(columns, "s") }}
        FROM {{ keyed | table }} AS s
        JOIN {{ keys | table }} AS k ON k.person = s.person
        GROUP BY
            s.person
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
            , s.v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
    ) AS x
    GROUP BY {{ margin_sets(columns, margins, "x") }}
) AS g
JOIN {{ cells | table }} AS c ON
    {{ same_cell(columns, "c", "g") }}
FULL JOIN {{ noise | table }} AS n ON n.cell = c.cell AND n.key = CAST(MOD(g.keys, 4294967296) AS BIGINT)
WHERE n.cell IS NULL OR c.cell IS NULL

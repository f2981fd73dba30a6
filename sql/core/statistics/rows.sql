-- name: statistics/rows
-- params: rows (table to make), stage (table), columns (list of {alias, levels, paths
--   (table, as statistics/paths makes it, or none)}), person (alias of the numbers of the
--   persons in stage), sums (list of {alias, factor}: columns, and units of one)
-- returns: atom bigint (a number, from 1, of each combination of keys), person bigint, rid
--   integer, and of each column keys text of its node at each level: v<column>_<level>, 'v'
--   and the value's text or the label, or 'n' for NULL; s<sum> bigint, the value in units
{% from "core/statistics/cells.jinja" import columns_of_levels %}
CREATE {{ rows | scratch }} AS
SELECT
    DENSE_RANK() OVER (
        ORDER BY {% for c in columns %}{{ ", " if not loop.first }}g.v{{ loop.index }}_0{% endfor %}
    ) AS atom
    , g.person AS person
    , g.rid AS rid
{% for s in sums %}
    , g.s{{ loop.index }} AS s{{ loop.index }}
{% endfor %}
{{ columns_of_levels(columns, "g") }}
FROM (
    SELECT
        s.{{ person }} AS person
        , s.rid AS rid
{% for own in sums %}
        , CAST(s.{{ own.alias }} * {{ own.factor }} AS BIGINT) AS s{{ loop.index }}
{% endfor %}
{% for c in columns %}
{% set i = loop.index %}
{% if c.paths %}
{% for level in range(c.levels) %}
        , COALESCE(p{{ i }}.v{{ level }}, 'n') AS v{{ i }}_{{ level }}
{% endfor %}
{% else %}
        , COALESCE('v' || CAST(s.{{ c.alias }} AS VARCHAR), 'n') AS v{{ i }}_0
{% endif %}
{% endfor %}
    FROM {{ stage | table }} AS s
{% for c in columns if c.paths %}
    LEFT JOIN {{ c.paths | table }} AS p{{ c.place }}
        ON p{{ c.place }}.value = {{ "CAST(s.%s AS VARCHAR)" | format(c.alias) if c.as_text else "s." ~ c.alias }}
{% endfor %}
) AS g

-- name: statistics/whole_atoms
-- params: wholes (table to make), atoms (table of parts, as statistics/part_atoms makes
--   it), columns (list of {levels}), sums (list of {place})
-- returns: the finest combinations: atom bigint (their number), keys, n bigint, persons bigint, owner bigint,
--   s<sum> bigint; those of which parts have unlike numbers or sums are left out, so that they are missed
{% from "core/statistics/cells.jinja" import columns_of_levels %}
{% macro keys() %}
{% for c in columns %}
{% set i = loop.index %}
{% set outer = loop.first %}
{% for level in range(c.levels) %}{{ ", " if not (outer and loop.first) }}a.v{{ i }}_{{ level }}{% endfor %}
{% endfor %}
{% endmacro %}
CREATE {{ wholes | scratch }} AS
SELECT
    MIN(a.whole) AS atom
    , CAST(SUM(a.n) AS BIGINT) AS n
    , MAX(a.persons) AS persons
    , MAX(a.owner) AS owner
{% for s in sums %}
    , MIN(a.s{{ s.place }}) AS s{{ s.place }}
{% endfor %}
{{ columns_of_levels(columns, "a") }}
FROM {{ atoms | table }} AS a
GROUP BY {{ keys() }}
HAVING MIN(a.whole) = MAX(a.whole){% for s in sums %} AND MIN(a.s{{ s.place }}) = MAX(a.s{{ s.place }}){% endfor %}


-- name: statistics/whole_atoms
-- params: wholes (table to make), atoms (table of parts, as statistics/part_atoms makes it), columns (list of {levels})
-- returns: the finest combinations: keys, n bigint, persons bigint, owner bigint
{% macro keys() %}{% for c in columns %}{% set i = loop.index %}{% set outer = loop.first %}{% for level in range(c.levels) %}{{ ", " if not (outer and loop.first) }}a.v{{ i }}_{{ level }}{% endfor %}{% endfor %}{% endmacro %}
CREATE {{ wholes | scratch }} AS
SELECT
    CAST(SUM(a.n) AS BIGINT) AS n
    , MAX(a.persons) AS persons
    , MAX(a.owner) AS owner
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
    , a.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
FROM {{ atoms | table }} AS a
GROUP BY {{ keys() }}

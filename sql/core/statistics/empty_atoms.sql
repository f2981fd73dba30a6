-- name: statistics/empty_atoms
-- params: made (table to make), atoms (table, as statistics/atoms makes it), listed (table of atom and of
--   s<place>: an atom with the value of each column), columns (list of {levels}), sums (list of {place})
-- returns: the same atoms, and those that are listed: with the keys of these values, without rows and persons
{% from "core/statistics/cells.jinja" import columns_of_levels %}
CREATE {{ made | scratch }} AS
SELECT
    a.atom AS atom
{{ columns_of_levels(columns, "a") }}
    , a.n AS n
    , a.persons AS persons
    , a.owner AS owner
{% for own in sums %}
    , a.s{{ own.place }} AS s{{ own.place }}
{% endfor %}
FROM {{ atoms | table }} AS a
UNION ALL
SELECT
    l.atom AS atom
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
    , b{{ i }}.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
    , CAST(0 AS BIGINT) AS n
    , CAST(0 AS BIGINT) AS persons
    , CAST(-1 AS BIGINT) AS owner
{% for own in sums %}
    , CAST(0 AS BIGINT) AS s{{ own.place }}
{% endfor %}
FROM {{ listed | table }} AS l
{% for c in columns %}
JOIN {{ atoms | table }} AS b{{ loop.index }} ON b{{ loop.index }}.atom = l.s{{ loop.index }}
{% endfor %}

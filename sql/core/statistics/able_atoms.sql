-- name: statistics/able_atoms
-- params: every (table to make), atoms, able (tables), columns (list of {levels}), sums (list of {place})
-- returns: the finest combinations that occur, and those without rows of which witnesses
--   have some: of each column they have the value of one that occurs
{% from "core/statistics/cells.jinja" import columns_of_levels %}
CREATE {{ every | scratch }} AS
SELECT
    a.atom AS atom
    , a.n AS n
    , a.persons AS persons
    , a.owner AS owner
{% for s in sums %}
    , a.s{{ s.place }} AS s{{ s.place }}
{% endfor %}
{{ columns_of_levels(columns, "a") }}
FROM {{ atoms | table }} AS a
UNION ALL
SELECT
    b.atom AS atom
    , CAST(0 AS BIGINT) AS n
    , CAST(0 AS BIGINT) AS persons
    , CAST(-1 AS BIGINT) AS owner
{% for s in sums %}
    , CAST(0 AS BIGINT) AS s{{ s.place }}
{% endfor %}
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
    , x{{ i }}.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
FROM {{ able | table }} AS b
{% for c in columns %}
JOIN {{ atoms | table }} AS x{{ loop.index }} ON x{{ loop.index }}.atom = b.a{{ loop.index }}
{% endfor %}

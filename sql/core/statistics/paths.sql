-- name: statistics/paths
-- params: paths (table to make), labels (table of l0, l1, .., texts: the nodes of each leaf, bottom
--   up, without the root), type (SQL type of the column's values), levels (how many labels there are)
-- returns: value (of the column), v0, v1, .. text: the keys of its nodes, each 'v' and the label
CREATE {{ paths | scratch }} AS
SELECT
    CAST(l.l0 AS {{ type }}) AS value
{% for level in range(levels) %}
    , 'v' || l.l{{ level }} AS v{{ level }}
{% endfor %}
FROM {{ labels | table }} AS l

-- name: privacy/below_within
-- params: made, below (tables; the latter has the columns groups and others), groups (columns)
-- returns: the columns of groups: every group that some row of below is of
CREATE {{ made | scratch }} AS
SELECT DISTINCT
{% for name in groups %}
    {{ ", " if not loop.first }}b.{{ name | ident }} AS {{ name | ident }}
{% endfor %}
FROM {{ below | table }} AS b

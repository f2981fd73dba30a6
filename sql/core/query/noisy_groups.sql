-- name: query/noisy_groups
-- params: view (of a release of noisy statistics), columns (names of groups and of
--   numbers), night (rows of this night; none: there are no nights)
-- returns: level, and the columns: the rows of the table :name
SELECT
    v.{{ "level" | ident }} AS {{ "level" | ident }}
{% for name in columns %}
    , v.{{ name | ident }} AS {{ name | ident }}
{% endfor %}
FROM {{ view | table }} AS v
WHERE v.{{ "table" | ident }} = :name{% if night %} AND v.{{ "night" | ident }} = {{ night }}{% endif %}


-- name: table/paths
-- params: source (a hierarchy table), columns (its columns, from the leaf to the root)
-- returns: one text for each column: one row a leaf, ordered from the root down
SELECT
{% for column in columns %}
    {{ ", " if not loop.first }}CAST(s.{{ column | ident }} AS VARCHAR) AS {{ column | ident }}
{% endfor %}
FROM {{ source | table }} AS s
ORDER BY {% for column in columns | reverse %}{{ ", " if not loop.first }}s.{{ column | ident }}{% endfor %}


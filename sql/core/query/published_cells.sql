-- name: query/published_cells
-- params: table (published), columns (names), value (name)
-- returns: of each row its values as text, and its number as text, NULL where it is hidden
SELECT
{% for c in columns %}
    CAST(t.{{ c | ident }} AS VARCHAR) AS c{{ loop.index }},
{% endfor %}
    CAST(t.{{ value | ident }} AS VARCHAR) AS value
FROM {{ table | table }} AS t

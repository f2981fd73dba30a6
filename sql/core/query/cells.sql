-- name: query/cells
-- params: view (of a release of counts), columns (list of {name, level (name)}), totals (list of {level (name), levels}: columns of which only
--   totals are read), measure (name), ends (names of the columns of its bounds, or none)
-- returns: of each column the level of each cell, then of each its label as text, NULL also where it is the total; low and high (with ends); value, NULL
--   where it is hidden
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}v.{{ c.level | ident }} AS l{{ loop.index }}
{% endfor %}
{% for c in columns %}
    , CAST(v.{{ c.name | ident }} AS VARCHAR) AS k{{ loop.index }}
{% endfor %}
{% for end in ends %}
    , v.{{ end | ident }} AS {{ "low" if loop.first else "high" }}
{% endfor %}
    , v.{{ measure | ident }} AS value
FROM {{ view | table }} AS v
{% if totals %}
WHERE {% for t in totals %}{{ " AND " if not loop.first }}v.{{ t.level | ident }} = {{ t.levels }}{% endfor %}

{% endif %}

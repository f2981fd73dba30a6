-- name: query/cells
-- params: view (of a release of counts), columns (list of {name, level (name)}), totals
--   (list of {level (name), levels}: columns of which only totals are read), measure (name),
--   beside (names of other columns to read: those of its bounds, or of its version, or none)
-- returns: of each column the level of each cell, then of each its label as text, NULL
--   also where it is the total; the columns beside; value, NULL where it is hidden
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}v.{{ c.level | ident }} AS l{{ loop.index }}
{% endfor %}
{% for c in columns %}
    , CAST(v.{{ c.name | ident }} AS VARCHAR) AS k{{ loop.index }}
{% endfor %}
{% for name in beside %}
    , v.{{ name | ident }} AS b{{ loop.index }}
{% endfor %}
    , v.{{ measure | ident }} AS value
FROM {{ view | table }} AS v
{% if totals %}
WHERE {% for t in totals %}{{ " AND " if not loop.first }}v.{{ t.level | ident }} = {{ t.levels }}{% endfor %}

{% endif %}

-- name: table/overflow
-- params: source (table), columns (list of {name, type, low, high (names of binds, or
--   none)}: below low and from high on, the column's type cannot hold the rounded value)
-- returns: one row: of each column how many values cannot be rounded
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}COUNT(CASE
        WHEN {% if c.low %}s.{{ c.name | ident }} < CAST(:{{ c.low }} AS {{ c.type }}){% endif %}

            {{ "OR " if c.low and c.high }}
{% if c.high %}
            s.{{ c.name | ident }} >= CAST(:{{ c.high }} AS {{ c.type }})
{% endif %}
            THEN 1
    END)
{% endfor %}
FROM {{ source | table }} AS s

-- name: statistics/verify_pattern_moved
-- params: moved (table, as statistics/pattern_moved makes it), compared (table), bounds
--   (bool), measures (list of {column, place})
-- returns: shown bigint (shown cells in which a witness has other persons, or other rows
--   where rows are published), emptied bigint (published cells in which a witness has
--   nobody), outside bigint (cells that a witness takes out of their published bounds)
SELECT
    CAST(COALESCE(SUM(CASE
        WHEN c.hidden = 0 AND ({% for m in measures %}{{ " OR " if not loop.first }}m.{{ m.column }} <> 0{% endfor %})
            THEN 1
        ELSE 0
    END), 0) AS BIGINT) AS shown
    , CAST(
        COALESCE(SUM(CASE WHEN c.persons + m.persons < 1 OR c.n + m.n < 1 THEN 1 ELSE 0 END), 0) AS BIGINT
    ) AS emptied
    ,
{% if bounds %}
        CAST(COALESCE(SUM(CASE
            WHEN
{% for m in measures %}
                {{ " OR " if not loop.first }}c.{{ m.column }} + m.{{ m.column }} < c.lower{{ m.place }}
                OR c.{{ m.column }} + m.{{ m.column }} > c.upper{{ m.place }}
{% endfor %}
                THEN 1
            ELSE 0
        END), 0) AS BIGINT)
{% else %}
        CAST(0 AS BIGINT)
{% endif %}
        AS outside
FROM {{ moved | table }} AS m
JOIN {{ compared | table }} AS c ON c.cell = m.cell

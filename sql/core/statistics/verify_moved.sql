-- name: statistics/verify_moved
-- params: moved, compared (tables), bounds (bool), sums (list of {place})
-- returns: shown bigint (shown cells that a witness changes), emptied bigint (published cells that a
--   witness makes zero or less), outside bigint (cells that a witness takes out of their published bounds)
SELECT
    CAST(COALESCE(SUM(CASE WHEN c.hidden = 0 THEN 1 ELSE 0 END), 0) AS BIGINT) AS shown
    , CAST(COALESCE(SUM(CASE WHEN c.value + m.change < 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS emptied
    ,
{% if bounds %}
        CAST(COALESCE(SUM(CASE
            WHEN c.value + m.change < c.lower
                OR c.value + m.change > c.upper
{% for s in sums %}
                OR c.s{{ s.place }} + m.s{{ s.place }} < c.least{{ s.place }}
                OR c.s{{ s.place }} + m.s{{ s.place }} > c.most{{ s.place }}
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

-- name: statistics/verify_past_moved
-- params: moved (as statistics/past_moved makes it), past (cells, as statistics/past_cells makes
--   them), cells (of all rows, with hidden), compared (of these, as statistics/compared makes it),
--   bounds (bool), first (the first version of all), batch (number of the version), columns (list)
-- returns: shown bigint (numbers that readers have and a witness changes), emptied bigint (known cells that
--   a witness makes zero or less), outside bigint (cells that a witness takes out of their published bounds)
{% from "core/statistics/verify_cells.jinja" import columns_of_cell %}
SELECT
    CAST(COALESCE(SUM(CASE WHEN c.hidden = 0 THEN 1 ELSE 0 END), 0) AS BIGINT) AS shown
    , CAST(COALESCE(SUM(CASE WHEN c.n + m.change < 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS emptied
    ,
{% if bounds %}
        CAST(
            COALESCE(SUM(CASE WHEN c.n + m.change < c.lower OR c.n + m.change > c.upper THEN 1 ELSE 0 END), 0) AS BIGINT
        )
{% else %}
        CAST(0 AS BIGINT)
{% endif %}
        AS outside
FROM {{ moved | table }} AS m
JOIN (
    SELECT
        p.since AS since
        , p.batch AS batch
        , p.hidden AS hidden
        , p.n AS n{% if bounds %}, CAST(NULL AS BIGINT) AS lower, CAST(NULL AS BIGINT) AS upper{% endif %}

{{ columns_of_cell(columns, "p") }}
    FROM {{ past | table }} AS p
    UNION ALL
    SELECT
        {{ first }} AS since
        , {{ batch }} AS batch
        , w.hidden AS hidden
        , w.n AS n{% if bounds %}, d.lower AS lower, d.upper AS upper{% endif %}

{{ columns_of_cell(columns, "w") }}
    FROM {{ cells | table }} AS w
{% if bounds %}
    JOIN {{ compared | table }} AS d ON d.cell = w.cell
{% endif %}
) AS c ON c.since = m.since
    AND c.batch = m.upto
{% for c in columns %}
    AND c.l{{ loop.index }} = m.l{{ loop.index }}
    AND c.k{{ loop.index }} = m.k{{ loop.index }}
{% endfor %}
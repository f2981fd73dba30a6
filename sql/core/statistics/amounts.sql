-- name: statistics/amounts
-- params: amounts (table to make), rows (table, as statistics/rows makes it), columns (list), sums (list of {place})
-- returns: of each finest combination the rows by their amounts: its finest keys
--   v<column>_0, s<sum> bigint, n bigint (rows)
CREATE {{ amounts | scratch }} AS
SELECT
    COUNT(*) AS n{% for c in columns %}, r.v{{ loop.index }}_0 AS v{{ loop.index }}_0{% endfor %}

{% for s in sums %}
    , r.s{{ s.place }} AS s{{ s.place }}
{% endfor %}
FROM {{ rows | table }} AS r
GROUP BY
    {% for c in columns %}{{ ", " if not loop.first }}r.v{{ loop.index }}_0{% endfor %}
{% for s in sums %}
    , r.s{{ s.place }}
{% endfor %}

-- name: statistics/newcomers
-- params: newcomers (table to make), stage (table), rows (table, as statistics/rows makes
--   it), base (as statistics/base_atoms makes it), columns (list), sums (list of {place})
-- returns: of each finest combination, and amounts, as many staged rows as it has more
--   than in the versions before; which of them does not matter
CREATE {{ newcomers | scratch }} AS
SELECT s.*
FROM {{ stage | table }} AS s
JOIN (
    SELECT
        r.rid AS rid{% for c in columns %}, r.v{{ loop.index }}_0 AS v{{ loop.index }}_0{% endfor %}

{% for s in sums %}
        , r.s{{ s.place }} AS s{{ s.place }}
{% endfor %}
        , ROW_NUMBER() OVER (
            PARTITION BY
                {% for c in columns %}{{ ", " if not loop.first }}r.v{{ loop.index }}_0{% endfor %}
{% for s in sums %}
                , r.s{{ s.place }}
{% endfor %}
            ORDER BY r.rid
        ) AS turn
    FROM {{ rows | table }} AS r
) AS k ON k.rid = s.rid
LEFT JOIN {{ base | table }} AS b
    ON {% for c in columns %}{{ " AND " if not loop.first }}b.v{{ loop.index }}_0 = k.v{{ loop.index }}_0{% endfor %}

{% for s in sums %}
        AND b.s{{ s.place }} = k.s{{ s.place }}
{% endfor %}
WHERE k.turn > COALESCE(b.n, 0)

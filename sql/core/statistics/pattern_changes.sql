-- name: statistics/pattern_changes
-- params: changes (table to make), witness, patterns, paid (tables; the last with sums alone), sums (list of {place})
-- returns: witness bigint, atom bigint, change bigint (rows of the finest combination that
--   the persons of a witness have more), s<sum> bigint (its sums more)
CREATE {{ changes | scratch }} AS
SELECT
    g.witness AS witness
    , g.atom AS atom
    , CAST(SUM(g.change) AS BIGINT) AS change
{% for s in sums %}
    , CAST(SUM(g.s{{ s.place }}) AS BIGINT) AS s{{ s.place }}
{% endfor %}
FROM (
    SELECT
        w.witness AS witness
        , q.atom AS atom
        , w.change * q.times AS change
{% for s in sums %}
        , 0 AS s{{ s.place }}
{% endfor %}
    FROM {{ witness | table }} AS w
    JOIN {{ patterns | table }} AS q ON q.pattern = w.pattern
{% if sums %}
    UNION ALL
    SELECT
        p.witness AS witness
        , p.atom AS atom
        , 0 AS change
{% for s in sums %}
        , p.s{{ s.place }} AS s{{ s.place }}
{% endfor %}
    FROM {{ paid | table }} AS p
{% endif %}
) AS g
GROUP BY g.witness, g.atom

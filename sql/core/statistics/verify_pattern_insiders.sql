-- name: statistics/verify_pattern_insiders
-- params: ends (table, as statistics/pattern_ends makes it), compared, least, witness (tables),
--   touching (table, as statistics/pattern_inside makes it), insiders (table, as
--   statistics/pattern_insiders makes it), least_of (n or persons), threshold, sums (list of
--   {place}), paid (table), known (table, as statistics/pattern_known makes it; both with sums alone)
-- returns: failing bigint: pairs of a small cell and a person alone in another one, for
--   whom no witness that leaves what the person knows has the least, or the threshold
SELECT COUNT(*) AS failing
FROM (
    SELECT
        q.cell AS cell
        , q.owner AS owner
        , MAX(CASE
            WHEN x.owner IS NULL AND e.{{ least_of }} <= q.least{% if least_of == "n" %} + q.excess{% endif %} THEN 1
            ELSE 0
        END) AS low
        , MAX(CASE WHEN x.owner IS NULL AND e.persons >= {{ threshold }} THEN 1 ELSE 0 END) AS high
    FROM (
        SELECT c.cell AS cell, l.least AS least, o.owner AS owner, COALESCE(t.excess, 0) AS excess
        FROM {{ compared | table }} AS c
        JOIN {{ least | table }} AS l ON l.cell = c.cell
        CROSS JOIN (SELECT DISTINCT s.owner AS owner FROM {{ insiders | table }} AS s) AS o
        LEFT JOIN {{ touching | table }} AS t ON t.cell = c.cell AND t.pattern = o.owner
        WHERE c.small = 1 AND NOT (c.persons = 1 AND t.pattern IS NOT NULL)
    ) AS q
    JOIN {{ ends | table }} AS e ON e.cell = q.cell
    LEFT JOIN (
        SELECT w.witness AS witness, s.owner AS owner
        FROM {{ witness | table }} AS w
        JOIN {{ insiders | table }} AS s ON s.pattern = w.pattern
        WHERE w.change <> 0
{% if sums %}
        UNION
        SELECT p.witness AS witness, k.owner AS owner
        FROM {{ paid | table }} AS p
        JOIN {{ known | table }} AS k ON k.atom = p.atom
        WHERE {% for s in sums %}{{ " OR " if not loop.first }}p.s{{ s.place }} <> 0{% endfor %}

{% else %}
        GROUP BY w.witness, s.owner
{% endif %}
    ) AS x ON x.witness = e.witness AND x.owner = q.owner
    GROUP BY q.cell, q.owner
) AS g
WHERE g.low = 0 OR g.high = 0

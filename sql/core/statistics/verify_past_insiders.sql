-- name: statistics/verify_past_insiders
-- params: serving (as statistics/past_serving makes it), witness, atoms (tables), columns (list)
-- returns: failing bigint: ends of small cells, and persons who are alone in another one
--   and know its number, for whom no table reaches them
{% from "core/statistics/verify_cells.jinja" import columns_of_cell, same_cell %}
SELECT COUNT(*) AS failing
FROM (
    SELECT s.high AS high
    FROM {{ serving | table }} AS s
    JOIN {{ witness | table }} AS w ON w.witness = s.witness
    JOIN {{ atoms | table }} AS a ON a.atom = w.atom
    JOIN (SELECT DISTINCT i.sole AS atom FROM {{ serving | table }} AS i WHERE i.atoms = 1) AS o ON o.atom = a.whole
    JOIN (
        SELECT
            COUNT(*) AS many
            , t.since AS since
            , t.upto AS upto
            , t.high AS high
{{ columns_of_cell(columns, "t") }}
        FROM {{ serving | table }} AS t
        WHERE t.witness > -2
        GROUP BY t.since, t.upto, t.high{% for c in columns %}, t.l{{ loop.index }}, t.k{{ loop.index }}{% endfor %}

    ) AS n ON n.since = s.since
        AND n.upto = s.upto
        AND n.high = s.high
        AND {{ same_cell(columns, "n", "s") }}
    WHERE a.owner > 0 AND w.change <> 0 AND (s.atoms > 1 OR s.sole <> a.whole)
    GROUP BY
        s.since, s.upto, s.high, a.whole, n.many
{% for c in columns %}
        , s.l{{ loop.index }}, s.k{{ loop.index }}
{% endfor %}
    HAVING COUNT(DISTINCT s.witness) = n.many
) AS g

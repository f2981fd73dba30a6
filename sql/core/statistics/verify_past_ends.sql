-- name: statistics/verify_past_ends
-- params: serving (as statistics/past_serving makes it), columns (list)
-- returns: failing bigint: ends of small cells that no table reaches
SELECT COUNT(*) AS failing
FROM (
    SELECT s.high AS high
    FROM {{ serving | table }} AS s
    GROUP BY s.since, s.upto, s.high{% for c in columns %}, s.l{{ loop.index }}, s.k{{ loop.index }}{% endfor %}

    HAVING MAX(s.witness) = -2
) AS g

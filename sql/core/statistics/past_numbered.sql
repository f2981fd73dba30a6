-- name: statistics/past_numbered
-- params: numbered (table to make), small (as statistics/past_small makes it), columns (list)
-- returns: the same, each with a number: cell bigint
CREATE {{ numbered | scratch }} AS
SELECT
    ROW_NUMBER() OVER (
        ORDER BY s.since, s.upto{% for c in columns %}, s.l{{ loop.index }}, s.k{{ loop.index }}{% endfor %}
    ) AS cell
    , s.*
FROM {{ small | table }} AS s

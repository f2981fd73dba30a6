-- name: statistics/past_raised
-- params: made (table to make), numbered (as statistics/past_numbered makes it), raised
--   (table of cell and least), columns (list)
-- returns: as statistics/past_small, with the least numbers of the other table
CREATE {{ made | scratch }} AS
SELECT
    s.since AS since
    , s.upto AS upto
    , s.value AS value
    , s.sole AS sole
    , s.atoms AS atoms
    , r.least AS least
{% for c in columns %}
    , s.l{{ loop.index }} AS l{{ loop.index }}
    , s.k{{ loop.index }} AS k{{ loop.index }}
{% endfor %}
FROM {{ numbered | table }} AS s
JOIN {{ raised | table }} AS r ON r.cell = s.cell

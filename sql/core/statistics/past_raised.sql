-- name: statistics/past_raised
-- params: made (table to make), numbered (as statistics/past_numbered makes it), raised
--   (table of cell and least), columns (list)
-- returns: as statistics/past_small, with the least numbers of the other table
{% from "core/statistics/cells.jinja" import columns_of_cell %}
CREATE {{ made | scratch }} AS
SELECT
    s.since AS since
    , s.upto AS upto
    , s.value AS value
    , s.sole AS sole
    , s.atoms AS atoms
    , r.least AS least
{{ columns_of_cell(columns, "s") }}
FROM {{ numbered | table }} AS s
JOIN {{ raised | table }} AS r ON r.cell = s.cell

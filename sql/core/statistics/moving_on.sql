-- name: statistics/moving_on
-- params: cells (table of the new rows, as statistics/cells makes it), before (private
--   cells with batches), columns (list), threshold
-- returns: bigint each: listed (cells that versions before have), stopped (those whose rows were hidden
--   in one of them), few (others, to which fewer persons came), many (others, to which more came)
{% from "core/statistics/cells.jinja" import columns_of_cell, same_cell %}
SELECT
    COUNT(*) AS listed
    , CAST(COALESCE(SUM(e.stopped), 0) AS BIGINT) AS stopped
    , CAST(COALESCE(SUM(CASE WHEN e.stopped = 0 AND c.persons < {{ threshold }} THEN 1 ELSE 0 END), 0) AS BIGINT) AS few
    , CAST(
        COALESCE(SUM(CASE WHEN e.stopped = 0 AND c.persons >= {{ threshold }} THEN 1 ELSE 0 END), 0) AS BIGINT
    ) AS many
FROM (
    SELECT
        MAX(d.hidden) AS stopped
{{ columns_of_cell(columns, "d") }}
    FROM {{ before | table }} AS d
    GROUP BY {% for c in columns %}{{ ", " if not loop.first }}d.l{{ loop.index }}, d.k{{ loop.index }}{% endfor %}

) AS e
LEFT JOIN {{ cells | table }} AS c ON
    {{ same_cell(columns, "c", "e") }}

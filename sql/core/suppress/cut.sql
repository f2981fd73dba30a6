-- name: suppress/cut
-- params: cut (table to make), cells, heights (tables), keys (columns), k
-- returns: the columns of cells, kept bigint: the rows that phase one of TP keeps; of a
--   group that would keep fewer than k none
CREATE {{ cut | scratch }} AS
SELECT
    s.*
    , CASE
        WHEN SUM(s.most) OVER (PARTITION BY {% for key in keys %}{{ ", " if not loop.first }}s.{{ key }}{% endfor %})
            < {{ k }} THEN CAST(0 AS BIGINT)
        ELSE s.most
    END AS kept
FROM (
    SELECT c.*, LEAST(c.n, h.height) AS most
    FROM {{ cells | table }} AS c
    JOIN {{ heights | table }} AS h ON
{% for key in keys %}
        {{ " AND " if not loop.first }}h.{{ key }} = c.{{ key }}
{% endfor %}
) AS s

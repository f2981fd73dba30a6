-- name: statistics/sum_needs
-- params: needs (table to make), rows, cells (tables, as statistics/rows and statistics/cells make them),
--   columns (list of {levels}), margins, threshold, sum ({place, low, high, percent, share, dominant})
-- returns: cell bigint, up, down bigint (by how much the sum must be able to be larger and smaller; 0: not
--   demanded), sensitive integer (1: a rule forbids to show the cell); cells without a demand are left out
{% from "core/statistics/cells.jinja" import levels_and_keys, margin_sets, same_cell %}
CREATE {{ needs | scratch }} AS
WITH g AS (
    SELECT
        CAST(SUM(r.s{{ sum.place }}) AS BIGINT) AS x
        , COUNT(*) AS k
        , r.person AS person
{{ levels_and_keys(columns, "r") }}
    FROM {{ rows | table }} AS r
    GROUP BY {{ margin_sets(columns, margins, "r", "r.person") }}
)
, p AS (
    SELECT
        c.cell AS cell
        , g.x - ({{ sum.low }}) * g.k AS above
        , ({{ sum.high }}) * g.k - g.x AS below
        , ABS(g.x) AS size
        , ROW_NUMBER() OVER (PARTITION BY c.cell ORDER BY g.x - ({{ sum.low }}) * g.k DESC, g.person) AS by_above
        , ROW_NUMBER() OVER (PARTITION BY c.cell ORDER BY ({{ sum.high }}) * g.k - g.x DESC, g.person) AS by_below
        , ROW_NUMBER() OVER (PARTITION BY c.cell ORDER BY ABS(g.x) DESC, g.person) AS by_size
    FROM g
    JOIN {{ cells | table }} AS c
        ON
            {{ same_cell(columns, "c", "g") }}
)
, t AS (
    SELECT
        p.cell AS cell
        , COUNT(*) AS persons
        , CAST(SUM(p.above) AS BIGINT) AS above
        , CAST(SUM(p.below) AS BIGINT) AS below
        , CAST(SUM(p.size) AS BIGINT) AS size
        , CAST(SUM(CASE WHEN p.by_above > 2 THEN p.above ELSE 0 END) AS BIGINT) AS left_above
        , CAST(SUM(CASE WHEN p.by_below > 2 THEN p.below ELSE 0 END) AS BIGINT) AS left_below
        , CAST(SUM(CASE WHEN p.by_size > 2 THEN p.size ELSE 0 END) AS BIGINT) AS left_size
        , MAX(p.above) AS above1
        , MAX(p.below) AS below1
        , (MAX(p.size) * {{ sum.percent }} + 9999) // 10000 AS part
        , CAST(SUM(CASE WHEN p.by_size <= {{ sum.dominant }} THEN p.size ELSE 0 END) AS BIGINT) AS dominant
    FROM p
    GROUP BY p.cell
)
, u AS (
    SELECT
        t.cell AS cell
        , t.above AS above
        , t.below AS below
        , GREATEST(
            LEAST(t.part, t.below1) - LEAST(t.left_above, t.left_size)
            , LEAST(t.part, t.above1) - t.left_below
            ,
{% if sum.share %}
                (t.dominant * 10000 + {{ sum.share - 1 }}) // {{ sum.share }} - t.size
{% else %}
                0
{% endif %}
            , 0
        ) AS ruled
        , CASE
            WHEN t.persons < {{ threshold }} THEN GREATEST(1, (t.size * {{ sum.percent }} + 9999) // 10000)
            ELSE 0
        END AS few
    FROM t
)
SELECT
    u.cell AS cell
    , CAST(LEAST(GREATEST(u.ruled, u.few), u.below) AS BIGINT) AS up
    , CAST(LEAST(GREATEST(u.ruled, u.few), u.above) AS BIGINT) AS down
    , CASE WHEN u.ruled > 0 THEN 1 ELSE 0 END AS sensitive
FROM u
WHERE u.ruled > 0 OR u.few > 0

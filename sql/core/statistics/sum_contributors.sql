-- name: statistics/sum_contributors
-- params: contributors (table to make), contributions (table, as statistics/contributions makes it), sum ({percent,
--   share (parts of 10000; share 0: no dominance rule), dominant (number of contributors of that rule)})
-- returns: person bigint (a number from 1), atom bigint, more_low, more_high, less_low, less_high
--   bigint: of each person who dominates an atom all atoms with rows of the person, and between
--   which changes the person can have p % more, and p % less, for each other contributor
CREATE {{ contributors | scratch }} AS
WITH r AS (
    SELECT
        c.atom AS atom
        , c.person AS person
        , c.above AS above
        , c.below AS below
        , c.size AS size
        , ROW_NUMBER() OVER (PARTITION BY c.atom ORDER BY c.above DESC, c.person) AS by_above
        , ROW_NUMBER() OVER (PARTITION BY c.atom ORDER BY c.below DESC, c.person) AS by_below
        , ROW_NUMBER() OVER (PARTITION BY c.atom ORDER BY c.size DESC, c.person) AS by_size
    FROM {{ contributions | table }} AS c
)
, t AS (
    SELECT
        r.atom AS atom
        , CAST(SUM(r.above) AS BIGINT) AS above
        , CAST(SUM(r.below) AS BIGINT) AS below
        , CAST(SUM(r.size) AS BIGINT) AS size
        , MAX(CASE WHEN r.by_above = 1 THEN r.above ELSE 0 END) AS above1
        , MAX(CASE WHEN r.by_above = 2 THEN r.above ELSE 0 END) AS above2
        , MAX(CASE WHEN r.by_below = 1 THEN r.below ELSE 0 END) AS below1
        , MAX(CASE WHEN r.by_below = 2 THEN r.below ELSE 0 END) AS below2
        , MAX(CASE WHEN r.by_size = 1 THEN r.size ELSE 0 END) AS size1
        , MAX(CASE WHEN r.by_size = 2 THEN r.size ELSE 0 END) AS size2
        , CAST(SUM(CASE WHEN r.by_size < {{ sum.dominant }} THEN r.size ELSE 0 END) AS BIGINT) AS fewer
        , CAST(SUM(CASE WHEN r.by_size <= {{ sum.dominant }} THEN r.size ELSE 0 END) AS BIGINT) AS dominant
    FROM r
    GROUP BY r.atom
)
, o AS (
    SELECT
        r.atom AS atom
        , r.person AS person
        , t.above - r.above - CASE WHEN r.by_above = 1 THEN t.above2 ELSE t.above1 END AS left_above
        , t.below - r.below - CASE WHEN r.by_below = 1 THEN t.below2 ELSE t.below1 END AS left_below
        , t.size - r.size - CASE WHEN r.by_size = 1 THEN t.size2 ELSE t.size1 END AS left_size
        , r.above AS above
        , r.below AS below
        , (r.size * {{ sum.percent }} + 9999) // 10000 AS part
        , t.size AS size
        , CASE WHEN r.by_size < {{ sum.dominant }} THEN t.dominant ELSE t.fewer + r.size END AS dominant
    FROM r
    JOIN t ON t.atom = r.atom
)
, n AS (
    SELECT
        o.atom AS atom
        , o.person AS person
        , LEAST(o.part, o.below) - LEAST(o.left_above, o.left_size) AS more
        ,
{% if sum.share %}
            LEAST((o.dominant * 10000 + {{ sum.share - 1 }}) // {{ sum.share }} - o.size, o.below + o.left_below)
{% else %}
            0
{% endif %}
            AS dominance
        , o.below + o.left_below AS more_high
        , o.left_below - LEAST(o.part, o.above) AS less
        , -(o.above + o.left_above) AS less_low
    FROM o
)
, d AS (
    SELECT
        n.atom AS atom
        , n.person AS person
        , CASE WHEN n.dominance > 0 AND n.dominance > n.more THEN n.dominance ELSE n.more END AS more_low
        , n.more_high AS more_high
        , n.less_low AS less_low
        , n.less AS less
    FROM n
)
, b AS (
    SELECT
        d.atom AS atom
        , d.person AS person
        , d.more_low AS more_low
        , d.more_high AS more_high
        , d.less_low AS less_low
        , CASE WHEN d.more_low > 0 THEN LEAST(d.less, GREATEST(-d.more_low, d.less_low)) ELSE d.less END AS less_high
    FROM d
)
SELECT
    DENSE_RANK() OVER (ORDER BY b.person) AS person
    , b.atom AS atom
    , CAST(b.more_low AS BIGINT) AS more_low
    , CAST(b.more_high AS BIGINT) AS more_high
    , CAST(b.less_low AS BIGINT) AS less_low
    , CAST(b.less_high AS BIGINT) AS less_high
FROM b
WHERE b.person IN (SELECT f.person FROM b AS f WHERE f.more_low > 0 OR f.less_high < 0)

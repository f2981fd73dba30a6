-- name: table/outlying
-- params: domains (tables of ordered columns)
-- returns: place integer (of the domain in the list), outside bigint (rows in the 0.5 % at either end),
--   inside double (the range of the others), spread double (of all): one row a column that has values
SELECT
    q.place AS place
    , CAST(SUM(CASE WHEN q.ord < q.low OR q.ord > q.high THEN q.n ELSE 0 END) AS BIGINT) AS outside
    , MAX(q.high - q.low) AS inside
    , MAX(q.ord) - MIN(q.ord) AS spread
FROM (
    SELECT
        c.place AS place
        , c.ord AS ord
        , c.n AS n
        , MIN(CASE WHEN c.upto * 200 >= c.total THEN c.ord END) OVER (PARTITION BY c.place) AS low
        , MAX(CASE WHEN (c.total - c.upto + c.n) * 200 >= c.total THEN c.ord END) OVER (PARTITION BY c.place) AS high
    FROM (
        SELECT
            d.place AS place
            , d.ord AS ord
            , d.n AS n
            , SUM(d.n) OVER (PARTITION BY d.place ORDER BY d.code) AS upto
            , SUM(d.n) OVER (PARTITION BY d.place) AS total
        FROM (
{% for domain in domains %}
{{ "UNION ALL" if not loop.first }}
            SELECT CAST({{ loop.index }} AS INTEGER) AS place, v.code AS code, v.ord AS ord, v.n AS n
            FROM {{ domain | table }} AS v
            WHERE v.value IS NOT NULL
{% endfor %}
        ) AS d
    ) AS c
) AS q
GROUP BY q.place

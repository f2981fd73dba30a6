-- name: statistics/needs
-- params: needs (table to make), atoms (table of parts), neighbour (list of {place, how, known})
-- returns: class bigint, place integer, rank bigint, known integer (1: readers know it): a rank of a column that
--   occurs in a class of several, so that not all parts of that rank can be 0: both ends, or each member of a
--   set; of a node not all parts of other ranks can. With NULL all are kept, and readers know of NULL alone
CREATE {{ needs | scratch }} AS
{% for c in neighbour %}
{{ "UNION ALL" if not loop.first }}
SELECT DISTINCT
    a.class AS class
    , {{ c.place }} AS place
    , a.r{{ c.place }} AS rank
    , {% if c.known %}CASE WHEN e.low > 0 OR a.r{{ c.place }} = 0 THEN 1 ELSE 0 END{% else %}0{% endif %} AS known
FROM {{ atoms | table }} AS a
JOIN (
    SELECT b.class AS class, MIN(b.r{{ c.place }}) AS low, MAX(b.r{{ c.place }}) AS high
    FROM {{ atoms | table }} AS b
    WHERE b.n > 0 AND b.class >= 0
    GROUP BY b.class
) AS e ON e.class = a.class
WHERE a.n > 0
    AND e.low < e.high
{% if c.how != "members" %}
    AND (a.r{{ c.place }} = e.low OR a.r{{ c.place }} = e.high)
{% endif %}
{% else %}
SELECT a.class AS class, 0 AS place, a.n AS rank, 0 AS known
FROM {{ atoms | table }} AS a
WHERE a.n < 0
{% endfor %}

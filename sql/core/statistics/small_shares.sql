-- name: statistics/small_shares
-- params: cells (table), columns (list), threshold
-- returns: cells bigint, small bigint (of them fewer persons than the threshold), and the level of each column: a row for each margin
SELECT
    COUNT(*) AS cells
    , CAST(SUM(CASE WHEN c.persons < {{ threshold }} THEN 1 ELSE 0 END) AS BIGINT) AS small
{% for column in columns %}
    , c.l{{ loop.index }} AS l{{ loop.index }}
{% endfor %}
FROM {{ cells | table }} AS c
GROUP BY {% for column in columns %}{{ ", " if not loop.first }}c.l{{ loop.index }}{% endfor %}


-- name: statistics/small_shares
-- params: cells (table), columns (list), threshold, needs (tables, as statistics/sum_needs makes them)
-- returns: cells bigint, small bigint (of them fewer persons than the threshold, or a sum
--   that may not be shown), and the level of each column: a row for each margin
SELECT
    COUNT(*) AS cells
    , CAST(SUM(CASE
        WHEN c.persons < {{ threshold }}{% for need in needs %} OR n{{ loop.index }}.sensitive = 1{% endfor %} THEN 1
        ELSE 0
    END) AS BIGINT) AS small
{% for column in columns %}
    , c.l{{ loop.index }} AS l{{ loop.index }}
{% endfor %}
FROM {{ cells | table }} AS c
{% for need in needs %}
LEFT JOIN {{ need | table }} AS n{{ loop.index }} ON n{{ loop.index }}.cell = c.cell
{% endfor %}
GROUP BY {% for column in columns %}{{ ", " if not loop.first }}c.l{{ loop.index }}{% endfor %}


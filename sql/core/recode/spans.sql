-- name: recode/spans
-- params: spans (table to make), work (table), assign (table of rid, class), columns (code columns)
-- returns: class integer, n bigint, lo_<code> and hi_<code> per column: the box of every class in codes
CREATE TEMPORARY TABLE {{ spans | table }} AS
SELECT
    a.class AS class
    , COUNT(*) AS n
{% for column in columns %}
    , MIN(w.{{ column }}) AS lo_{{ column }}
    , MAX(w.{{ column }}) AS hi_{{ column }}
{% endfor %}
FROM {{ work | table }} AS w
JOIN {{ assign | table }} AS a ON a.rid = w.rid
GROUP BY a.class

-- name: recode/spans
-- params: spans (table to make), classed (table of rid, class and codes), columns (code columns), sets (code columns of small nominal domains)
-- returns: class integer, n bigint, lo_<code> and hi_<code> per column: the box of every class in codes; set_<code>: its
--   codes as bits
CREATE {{ spans | scratch }} AS
SELECT
    w.class AS class
    , COUNT(*) AS n
{% for column in columns %}
    , MIN(w.{{ column }}) AS lo_{{ column }}
    , MAX(w.{{ column }}) AS hi_{{ column }}
{% endfor %}
{% for column in sets %}
    , BIT_OR(CAST(1 AS BIGINT) << CAST(w.{{ column }} AS INTEGER)) AS set_{{ column }}
{% endfor %}
FROM {{ classed | table }} AS w
GROUP BY w.class

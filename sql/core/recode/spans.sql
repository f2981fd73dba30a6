-- name: recode/spans
-- params: spans (table to make), classed (table of rid, class and codes), columns (code
--   columns), sets (code columns of small nominal domains), packed (list of {code, word,
--   shift, mask}: the codes that are in words of the table, where it has no columns of them)
-- returns: class integer, n bigint, lo_<code> and hi_<code> per column: the box of every
--   class in codes; set_<code>: its codes as bits
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
{% if packed %}
FROM (
    SELECT
        p.class AS class
{% for column in packed %}
        , CAST((p.{{ column.word }} >> {{ column.shift }}) & {{ column.mask }} AS INTEGER) AS {{ column.code }}
{% endfor %}
    FROM {{ classed | table }} AS p
) AS w
{% else %}
FROM {{ classed | table }} AS w
{% endif %}
GROUP BY w.class

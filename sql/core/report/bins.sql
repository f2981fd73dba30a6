-- name: report/bins
-- params: bins (table to make), domain (table), fine, coarse (how a column of bins is
--   made: {kind: each, line or top, most})
-- returns: code integer, fine integer, coarse integer: each: a bin for every value; line: equal parts
--   of the range, NULL behind them; top: the most frequent values, and the others together behind them
{% macro bin(of) %}
{% if of.kind == "each" %}
d.code
{% elif of.kind == "line" %}
CASE
    WHEN d.value IS NULL THEN {{ of.most }}
    WHEN d.pos >= 1048576 THEN {{ of.most - 1 }}
    ELSE (d.pos * {{ of.most }}) // 1048576
END
{% else %}
CASE WHEN d.place < {{ of.most }} THEN d.place - 1 ELSE {{ of.most - 1 }} END
{% endif %}
{% endmacro %}
CREATE {{ bins | scratch }} AS
SELECT d.code AS code
    , CAST({{ bin(fine) }} AS INTEGER) AS fine
    , CAST({{ bin(coarse) }} AS INTEGER) AS coarse
FROM (
    SELECT
        v.code AS code
        , v.value AS value
        , CAST(v.pos AS BIGINT) AS pos
        , ROW_NUMBER() OVER (ORDER BY v.n DESC, v.code) AS place
    FROM {{ domain | table }} AS v
    WHERE v.n > 0
) AS d

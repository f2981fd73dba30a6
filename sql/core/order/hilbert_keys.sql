-- name: order/hilbert_keys
-- params: keyed (table to make), work (table), axes (list of {code, table}: a QI code column and its small table of code, cell; in
--   the order of the curve's axes), bits (of a cell), functions (schema of the stored functions, as SQL)
-- returns: rid, key0 bigint: where every row lies on the Hilbert curve
CREATE TEMPORARY TABLE {{ keyed | table }} AS
SELECT
    w.rid AS rid
    , {{ functions }}.hilbert_key(
        [{% for axis in axes %}{{ ", " if not loop.first }}a{{ loop.index }}.cell{% endfor %}], {{ bits }}
    ) AS key0
FROM {{ work | table }} AS w
{% for axis in axes %}
JOIN {{ axis.table | table }} AS a{{ loop.index }} ON a{{ loop.index }}.code = w.{{ axis.code }}
{% endfor %}

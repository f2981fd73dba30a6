-- name: order/hilbert
-- params: work (table), quasi (QI code columns), sensitive (SA code columns), axes (list of {code, table}: a QI code column and
--   its small table of code, cell; in the order of the curve's axes), bits (of a cell), functions (schema of the stored
--   functions, as SQL), bytes (bool: the key has more than 63 bits)
-- returns: rid, then one column per code column, QI first: the rows along the Hilbert curve
-- Equal cells may hold different codes, so the codes follow the key; then rows of equal QI codes alternate between
-- sensitive values (the occurrence), as everywhere.
SELECT
    o.rid AS rid
{% for column in quasi + sensitive %}
    , o.{{ column }} AS {{ column }}
{% endfor %}
FROM (
    SELECT
        w.rid AS rid
{% for column in quasi + sensitive %}
        , w.{{ column }} AS {{ column }}
{% endfor %}
        , {{ functions }}.{{ "hilbert_key_bytes" if bytes else "hilbert_key" }}(
            [{% for axis in axes %}{{ ", " if not loop.first }}a{{ loop.index }}.cell{% endfor %}], {{ bits }}
        ) AS hilbert
        , ROW_NUMBER() OVER (
            PARTITION BY {% for column in quasi + sensitive %}{{ ", " if not loop.first }}w.{{ column }}{% endfor %} ORDER BY w.rid
        ) AS occurrence
    FROM {{ work | table }} AS w
{% for axis in axes %}
    JOIN {{ axis.table | table }} AS a{{ loop.index }} ON a{{ loop.index }}.code = w.{{ axis.code }}
{% endfor %}
) AS o
ORDER BY o.hilbert, {% for column in quasi %}o.{{ column }}, {% endfor %}o.occurrence{% for column in sensitive %}, o.{{ column }}{% endfor %}, o.rid

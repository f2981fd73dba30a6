-- name: regular/states
-- params: cell (table), value (published column, whose text says it), null, lo, hi (published
--   columns, or none), text (bool: value says it), flag (published column that is true where any
--   value is possible, or none), empty (the state of a cell without a value; none: it is not read)
-- returns: cell integer, state integer: 0 a value, 1 any value or NULL, 2 NULL, 3 NULL or a value between the ends
SELECT
    r._sqlanon_class AS cell
    , CAST(
{% if text %}
        CASE r.{{ value | ident }} WHEN '*' THEN 1 WHEN 'NULL' THEN 2 ELSE 0 END
{% elif null %}
        CASE r.{{ null | ident }}
            WHEN 'some' THEN
{% if lo %}
                CASE WHEN r.{{ lo | ident }} IS NULL AND r.{{ hi | ident }} IS NULL THEN 1 ELSE 3 END
{% else %}
                1
{% endif %}
            WHEN 'all' THEN 2
            ELSE 0
        END
{% elif flag %}
        CASE WHEN r.{{ flag | ident }} THEN 1 WHEN r.{{ value | ident }} IS NULL THEN 2 ELSE 0 END
{% elif empty %}
        CASE WHEN r.{{ value | ident }} IS NULL THEN {{ empty }} ELSE 0 END
{% else %}
        0
{% endif %}
        AS INTEGER
    ) AS state
FROM {{ cell | table }} AS r
ORDER BY r._sqlanon_class

-- name: control/rows
-- params: work (table of rid and codes), columns (of codes)
-- returns: rid bigint, the columns integer: each row once, in any order
SELECT
    CAST(w.rid AS BIGINT) AS rid
{% for c in columns %}
    , CAST(w.{{ c | ident }} AS INTEGER) AS {{ c | ident }}
{% endfor %}
FROM {{ work | table }} AS w

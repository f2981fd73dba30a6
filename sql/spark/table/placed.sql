-- name: table/placed
-- params: placed (table to make), source (table), columns (names)
-- returns: _sqlanon_at bigint (the number of the task that reads the row, times 2^33, and the row's place there), the columns
-- What is drawn here is drawn anew whenever it is read, so that numbers are made of what was written.
CREATE {{ placed | scratch }} AS
SELECT
    MONOTONICALLY_INCREASING_ID() AS _sqlanon_at
{% for column in columns %}
    , s.{{ column | ident }} AS {{ column | ident }}
{% endfor %}
FROM {{ source | table }} AS s

-- name: control/part
-- params: part (table to make), stage (table), chosen (table of rid and place: rows, and
--   their new row ids), columns (names, without rid)
-- returns: the chosen rows of the stage with their new row ids
CREATE {{ part | scratch }} AS
SELECT
    CAST(i.place AS INTEGER) AS rid
{% for c in columns %}
    , s.{{ c | ident }} AS {{ c | ident }}
{% endfor %}
FROM {{ stage | table }} AS s
JOIN {{ chosen | table }} AS i ON i.rid = s.rid

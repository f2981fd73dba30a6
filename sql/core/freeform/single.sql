-- name: freeform/single
-- params: single (table to make), boxes (table), columns (code columns)
-- returns: the boxes with one row each, which is what is published of them: losses are means over boxes
CREATE {{ single | scratch }} AS
SELECT b.class AS class, 1 AS n
{% for c in columns %}
{% for part in ("lo", "hi", "ncp", "lm") %}
    , b.{{ part }}_{{ c }} AS {{ part }}_{{ c }}
{% endfor %}
{% endfor %}
FROM {{ boxes | table }} AS b

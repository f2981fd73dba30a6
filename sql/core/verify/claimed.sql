-- name: verify/claimed
-- params: claimed (table to make), released (table), said (published columns of sets and nodes)
-- returns: the released columns, and per column of ``said`` said_<place in the list>: a number for what it says
CREATE TEMPORARY TABLE {{ claimed | table }} AS
SELECT
    r.*
{% for name in said %}
    , DENSE_RANK() OVER (ORDER BY r.{{ name | ident }} NULLS FIRST) AS _sqlanon_said{{ loop.index }}
{% endfor %}
FROM {{ released | table }} AS r

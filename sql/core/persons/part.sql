-- name: persons/part
-- params: part (table to make), units, chosen (tables; of chosen: person, block), block (a
--   whole number), columns (all columns of units but rid and person)
-- returns: the units of the persons of a block, with rid from 0 without a gap in the order of units
CREATE {{ part | scratch }} AS
SELECT
    CAST(ROW_NUMBER() OVER (ORDER BY u.rid) - 1 AS INTEGER) AS rid
    , u.person AS person
{% for c in columns %}
    , u.{{ c }} AS {{ c }}
{% endfor %}
FROM {{ units | table }} AS u
JOIN {{ chosen | table }} AS b ON b.person = u.person
WHERE b.block = {{ block }}

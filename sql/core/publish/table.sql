-- name: publish/table
-- params: physical (table to make), classed, released (tables), published (list of {source (r or s), column,
--   name, kind, rank (the column of s of integers from 0 on that are equal where the values are, and look, equal; or
--   none), bits (of these integers)}), dense (bool: the classes are 0, 1, 2, .., each once), alone (bool: no two of
--   them publish the same), hashed (bool: tasks have room in memory for what is published for the
--   classes), repeated (published columns of which the classes have few different values, where
--   the engine writes them by number, each with the place of its numbers: {list, word, shift, mask, base, type},
--   see sqlanon/release/publish/value_numbers.py),
--   declared (bool: publish/declared has made the table, and it is filled; engines with that template only)
-- returns: the released rows, in the order of what a reader sees of their class and then
--   of the columns that are published as they are: rows that are equal in both are equal
--   in every column, so that nothing of the source's order is left, whatever the plan
-- Equal values that look different (-0.0 and 0.0, 30 days and 1 month) are in an order of their own.
{% macro looks(c, of) %}
{% if c.kind == "other" %}
, CAST({{ of }}.{{ c.column | ident }} AS VARCHAR)
{% elif c.kind == "float" %}
, CASE WHEN {{ of }}.{{ c.column | ident }} = 0 THEN CAST({{ of }}.{{ c.column | ident }} AS VARCHAR) END
{% endif %}
{% endmacro %}
CREATE TABLE {{ physical | table }} AS
SELECT
{% for c in published %}
    {{ ", " if not loop.first }}{{ c.source }}.{{ c.column | ident }} AS {{ c.name | ident }}
{% endfor %}
FROM {{ classed | table }} AS s
JOIN {{ released | table }} AS r ON r._sqlanon_class = s.class
ORDER BY
    r._sqlanon_place
{% for c in published if c.source == "s" %}
    , s.{{ c.column | ident }} NULLS FIRST{{ looks(c, "s") }}
{% endfor %}

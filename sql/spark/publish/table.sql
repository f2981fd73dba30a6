-- name: publish/table
-- params: physical (table to make), classed, released (tables), published (list of {source (r or s), column, name, kind}), dense (bool: the
--   classes are 0, 1, 2, .., each once), repeated (names of published arrays of which the classes have at most 32,767 different
--   ones, where the engine writes them by number)
-- returns: the released rows, in the order of what a reader sees of their class and then of the columns that are published as they are:
--   rows that are equal in both are equal in every column, so that nothing of the source's order is left, whatever the plan
-- In ORDER BY Spark looks names up in what is selected first, where a person's column may be called like a table here: so columns that
-- are ordered by are selected under names of ours, and left out again.
CREATE TABLE {{ physical | table }} AS
SELECT {% for c in published %}{{ ", " if not loop.first }}o.{{ c.name | ident }}{% endfor %}

FROM (
    SELECT
        r._sqlanon_place AS _sqlanon_place
{% for c in published %}
        , {{ c.source }}.{{ c.column | ident }} AS {{ c.name | ident }}
{% if c.source == "s" %}
        , s.{{ c.column | ident }} AS _sqlanon_by{{ loop.index }}
        , {% if c.kind == "other" %}CAST(s.{{ c.column | ident }} AS STRING){% elif c.kind == "float" %}CASE WHEN s.{{ c.column | ident }} = 0 THEN CAST(s.{{ c.column | ident }} AS STRING) END{% else %}0{% endif %} AS _sqlanon_look{{ loop.index }}
{% endif %}
{% endfor %}
    FROM {{ classed | table }} AS s
    JOIN {{ released | table }} AS r ON r._sqlanon_class = s.class
    ORDER BY _sqlanon_place{% for c in published %}{% if c.source == "s" %}, _sqlanon_by{{ loop.index }} NULLS FIRST, _sqlanon_look{{ loop.index }}{% endif %}{% endfor %}

) AS o

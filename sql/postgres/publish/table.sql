-- name: publish/table
-- Only what the order is made of is sorted; the columns of the class, most of a row's bytes,
-- join it in that order: to sort whole rows takes twice as long. Looks are columns there: an
-- order by their expressions outside would be one that PostgreSQL has to sort for again.
{% macro look(c) %}
{% if c.kind == "other" %}
CAST(k.{{ c.column | ident }} AS text) COLLATE "C"
{% elif c.kind == "decimal" %}
scale(k.{{ c.column | ident }})
{% elif c.kind == "float" %}
CASE WHEN k.{{ c.column | ident }} = 0 THEN CAST(k.{{ c.column | ident }} AS text) END
{% endif %}
{% endmacro %}
CREATE TABLE {{ physical | table }} AS
SELECT
{% for c in published %}
    {{ ", " if not loop.first }}{{ c.source }}.{{ c.column | ident }} AS {{ c.name | ident }}
{% endfor %}
FROM (
    SELECT
{% if dense %}
        (SELECT array_agg(p._sqlanon_place ORDER BY p._sqlanon_class) FROM {{ released | table }} AS p)[k.class + 1]
{% else %}
        p._sqlanon_place
{% endif %}
        AS _sqlanon_place
{% for c in published if c.source == "s" %}
        , k.{{ c.column | ident }} AS {{ c.column | ident }}
{% if look(c) %}
        , {{ look(c) }} AS _sqlanon_look{{ loop.index }}
{% endif %}
{% endfor %}
    FROM {{ classed | table }} AS k
{% if not dense %}
    JOIN {{ released | table }} AS p ON p._sqlanon_class = k.class
{% endif %}
    ORDER BY
        _sqlanon_place
{% for c in published if c.source == "s" %}
        , k.{{ c.column | ident }} NULLS FIRST
{% if look(c) %}
        , _sqlanon_look{{ loop.index }}
{% endif %}
{% endfor %}
    OFFSET 0
) AS s
JOIN (
    SELECT DISTINCT ON (p._sqlanon_place) p.*
    FROM {{ released | table }} AS p
    ORDER BY p._sqlanon_place
    OFFSET 0
) AS r ON r._sqlanon_place = s._sqlanon_place
ORDER BY
    s._sqlanon_place
{% for c in published if c.source == "s" %}
    , s.{{ c.column | ident }} NULLS FIRST
{% if look(c) %}
    , s._sqlanon_look{{ loop.index }}
{% endif %}
{% endfor %}

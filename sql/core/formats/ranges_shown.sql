-- name: formats/ranges_shown
-- params: shown (table to make), boxes (table), columns (list of {code, kind, domain, members, found, means, key,
--   leveled (bool: boxes have a level), height, names (published names by part), value_places (bool: the values
--   are read in an array in the order of the codes, which are 0, 1, 2, ..), beside_null (table of class, least;
--   or none)}), codes (columns of codes that rank as published ones do: {name, code, key, nulls})
-- returns: _sqlanon_class, codes, the published columns of these quasi columns: one row a class.
--   Planning a join takes an engine more than linear time in its tables, so a statement has few columns.
{% macro value(c, end, joined) %}
{% if c.value_places %}
(SELECT e.value_{{ c.code }} FROM line AS e)[b.{{ end }}_{{ c.code }} + 1]
{% else %}
{{ joined }}{{ c.code }}.value
{% endif %}
{% endmacro %}
CREATE {{ shown | scratch }} AS
{% if columns | selectattr("value_places") | list %}
WITH line AS MATERIALIZED (
    SELECT 1 AS one
{% for c in columns if c.value_places %}
        , (SELECT ARRAY_AGG(d.value ORDER BY d.code) FROM {{ c.domain | table }} AS d) AS value_{{ c.code }}
{% endfor %}
)
{% endif %}
SELECT
    b.class AS _sqlanon_class
{% for k in codes %}
    , {{ "CASE WHEN b.null_%s = 'none' THEN b.%s END" % (k.code, k.key) if k.nulls
        else "b." ~ k.key }} AS {{ k.name | ident }}
{% endfor %}
{% for c in columns %}
{% set known = "b.null_" ~ c.code ~ " = 'none'" %}
{% if c.kind == "ordered" %}
{% set beside = "i" ~ c.code ~ ".least IS NOT NULL" %}
    , CASE
        WHEN {{ known }} THEN {{ value(c, "lo", "l") }}
{% if c.beside_null %}
        WHEN {{ beside }} THEN g{{ c.code }}.value
{% endif %}
    END AS {{ c.names.lo | ident }}
    , CASE
        WHEN {{ known }}{% if c.beside_null %} OR {{ beside }}{% endif %} THEN {{ value(c, "hi", "h") }}
    END AS {{ c.names.hi | ident }}
{% if c.names.mean %}
    , CASE
        WHEN {{ known }}
{% if c.leveled %}
            AND b.at_{{ c.code }} < {{ c.height }}
{% endif %}
            THEN e{{ c.code }}.mean_{{ c.code }}
    END AS {{ c.names.mean | ident }}
{% endif %}
{% elif c.kind == "set" %}
    , CASE WHEN {{ known }} THEN m{{ c.code }}.members END AS {{ c.names.value | ident }}
{% else %}
    , CASE WHEN {{ known }} THEN f{{ c.code }}.label END AS {{ c.names.value | ident }}
{% endif %}
{% if c.names.null %}
    , b.null_{{ c.code }} AS {{ c.names.null | ident }}
{% endif %}
{% endfor %}
FROM {{ boxes | table }} AS b
{% for c in columns %}
{% if c.kind == "ordered" %}
{% if not c.value_places %}
JOIN {{ c.domain | table }} AS l{{ c.code }} ON l{{ c.code }}.code = b.lo_{{ c.code }}
JOIN {{ c.domain | table }} AS h{{ c.code }} ON h{{ c.code }}.code = b.hi_{{ c.code }}
{% endif %}
{% if c.beside_null %}
LEFT JOIN {{ c.beside_null | table }} AS i{{ c.code }} ON i{{ c.code }}.class = b.class
{% if c.leveled %}
    AND b.at_{{ c.code }} < {{ c.height }}
{% endif %}
LEFT JOIN {{ c.domain | table }} AS g{{ c.code }} ON g{{ c.code }}.code = i{{ c.code }}.least
{% endif %}
{% if c.names.mean %}
LEFT JOIN {{ c.means | table }} AS e{{ c.code }} ON e{{ c.code }}.class = b.class
{% endif %}
{% elif c.kind == "set" %}
LEFT JOIN {{ c.members | table }} AS m{{ c.code }} ON m{{ c.code }}.key = b.{{ c.key }}
{% else %}
LEFT JOIN {{ c.found | table }} AS f{{ c.code }} ON f{{ c.code }}.low = b.lo_{{ c.code }}
    AND f{{ c.code }}.high = b.hi_{{ c.code }}
{% if c.leveled %}
    AND f{{ c.code }}.at = LEAST(b.at_{{ c.code }}, {{ c.height }})
{% endif %}
{% endif %}
{% endfor %}

-- name: datacube/parts
-- params: parts (table to make), released (table), number (of the column), names (list of {column,
--   part}: a column there, and whether it is the value, lo or hi), mark (a column there or none),
--   means (what mark says: state, flag, label or value; star: a NULL there means any value)
-- returns: part (the number of what is published), value, lo, hi where there are, state: none
--   (a value is known), all (NULL), some (any value), ends (NULL, or a value from lo to hi)
CREATE {{ parts | scratch }} AS
SELECT DISTINCT
    r.p{{ number }} AS part
{% for name in names %}
    , r.{{ name.column }} AS {{ name.part }}
{% endfor %}
{% if mark %}
{% set m = "r." ~ mark %}
{% if means == "state" %}
{% set lo = names | selectattr("part", "equalto", "lo") | list %}
{% set hi = names | selectattr("part", "equalto", "hi") | list %}
    ,
{% if lo and hi %}
        CASE
            WHEN {{ m }} = 'some' AND r.{{ lo[0].column }} IS NOT NULL AND r.{{ hi[0].column }} IS NOT NULL THEN 'ends'
            ELSE {{ m }}
        END
{% else %}
        {{ m }}
{% endif %}
        AS state
{% elif means == "flag" %}
    , CASE WHEN {{ m }} THEN 'some' WHEN r.{{ names[0].column }} IS NULL THEN 'all' ELSE 'none' END AS state
{% elif means == "label" %}
    , CASE {{ m }} WHEN '*' THEN 'some' WHEN 'NULL' THEN 'all' ELSE 'none' END AS state
{% else %}
    , CASE WHEN {{ m }} IS NULL THEN '{{ "some" if means == "star" else "all" }}' ELSE 'none' END AS state
{% endif %}
{% else %}
    , 'none' AS state
{% endif %}
FROM {{ released | table }} AS r

-- name: noisy/coded
-- params: coded (table to make), source (table), person (list of {name, kind}), dimensions (list of {name,
--   groups (table of code and value, or none), ends (list of texts of numbers), clipped (bool: values beyond
--   are in the first and the last interval), wide (bool: compared as floating-point numbers where the type
--   has few digits)}), measures (list of {name, plain (bool: integers in the unit 1), float (bool), wide,
--   low, high, unit, quarter (texts of numbers; the last of the unit), least, most (the range in units)})
-- returns: person text, the same for equal keys, c1.. integer (the group of each column; NULL:
--   none of those that are declared), m1.. bigint (the value in units, in its range; NULL: none).
--   Rows without a person are left out. No cast, comparison or division fails because of a value
{% if key is not defined %}
{% macro key(one) %}
CAST(
{% if one.kind == "float" %}
    CASE
        WHEN s.{{ one.name | ident }} = 0 THEN 0
        WHEN ISNAN(s.{{ one.name | ident }}) THEN CAST('nan' AS DOUBLE)
        ELSE s.{{ one.name | ident }}
    END
{% else %}
    s.{{ one.name | ident }}
{% endif %}
    AS {{ dialect.text }}
)
{% endmacro %}
{% endif %}
{% macro spelled(one) %}CAST(LENGTH({{ key(one) }}) AS {{ dialect.text }}) || ':' || {{ key(one) }}{% endmacro %}
{% if number is not defined %}
{% macro number(one) %}
{% if one.wide %}CAST(s.{{ one.name | ident }} AS DOUBLE){% else %}s.{{ one.name | ident }}{% endif %}
{% endmacro %}
{% endif %}
{% if clipped is not defined %}
{% macro clipped(m) %}LEAST(GREATEST({{ number(m) }}, {{ m.low }}), {{ m.high }}){% endmacro %}
{% endif %}
{% if valued is not defined %}
{% macro valued(one) %}LOWER(CAST(s.{{ one.name | ident }} AS {{ dialect.text }})) NOT LIKE '%nan'{% endmacro %}
{% endif %}
{% if rounded is not defined %}
{% macro rounded(m) %}ROUND(CAST({{ clipped(m) }} AS DOUBLE) / {{ m.unit }}){% endmacro %}
{% endif %}
CREATE {{ coded | scratch }} AS
SELECT
    {% for one in person %}{{ " || " if not loop.first }}{{ spelled(one) }}{% endfor %} AS person
{% for d in dimensions %}
{% if d.groups %}
    , g{{ loop.index }}.code AS c{{ loop.index }}
{% else %}
    , CAST(CASE
{% for end in d.ends[1:] %}
        WHEN
{% if d.clipped and loop.first and loop.last %}
            {{ valued(d) }}
{% elif d.clipped and loop.first %}
            {{ number(d) }} < {{ end }}
{% elif d.clipped and loop.last %}
            {{ number(d) }} >= {{ d.ends[loop.index0] }} AND {{ valued(d) }}
{% else %}
            {{ number(d) }} >= {{ d.ends[loop.index0] }} AND {{ number(d) }} < {{ end }}
{% endif %}
            THEN {{ loop.index0 }}
{% endfor %}
    END AS INTEGER) AS c{{ loop.index }}
{% endif %}
{% endfor %}
{% for m in measures %}
{% if m.plain %}
    , CASE WHEN s.{{ m.name | ident }} IS NOT NULL THEN CAST({{ clipped(m) }} AS BIGINT) END AS m{{ loop.index }}
{% else %}
    , CASE
        WHEN {{ valued(m) }} THEN LEAST(GREATEST(CAST({{ rounded(m) }} AS BIGINT), {{ m.least }}), {{ m.most }})
    END AS m{{ loop.index }}
{% endif %}
{% endfor %}
FROM {{ source | table }} AS s
{% for d in dimensions %}
{% if d.groups %}
LEFT JOIN {{ d.groups | table }} AS g{{ loop.index }}
    ON g{{ loop.index }}.value = CAST(s.{{ d.name | ident }} AS {{ dialect.text }}) COLLATE {{ dialect.bytes }}
{% endif %}
{% endfor %}
WHERE {% for one in person %}{{ " AND " if not loop.first }}s.{{ one.name | ident }} IS NOT NULL{% endfor %}

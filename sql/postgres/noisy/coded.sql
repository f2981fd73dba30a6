-- name: noisy/coded
-- params: coded (table to make), source (table), person (names), dimensions (list of {name, groups (table of code and value, or none), ends (list of
--   texts of numbers)}), measures (list of {name, plain (bool: integers in the unit 1), low, high, unit (texts of numbers), least, most (the range in
--   units)})
-- returns: person text, c1.. integer (the group of each column; NULL: none of those that are declared), m1.. bigint (the value in units, in its
--   range; NULL: none). Rows without a person are left out. No cast fails because of a value
{% macro spelled(name) %}CAST(LENGTH(CAST(s.{{ name | ident }} AS text)) AS text) || ':' || CAST(s.{{ name | ident }} AS text){% endmacro %}
CREATE {{ coded | scratch }} AS
SELECT
    {% for name in person %}{{ " || " if not loop.first }}{{ spelled(name) }}{% endfor %} AS person
{% for d in dimensions %}
{% if d.groups %}
    , g{{ loop.index }}.code AS c{{ loop.index }}
{% else %}
    , CAST(CASE{% for end in d.ends[1:] %} WHEN s.{{ d.name | ident }} >= {{ d.ends[loop.index0] }} AND s.{{ d.name | ident }} < {{ end }} THEN {{ loop.index0 }}{% endfor %} END AS INTEGER) AS c{{ loop.index }}
{% endif %}
{% endfor %}
{% for m in measures %}
{% if m.plain %}
    , CASE WHEN s.{{ m.name | ident }} IS NOT NULL THEN CAST(LEAST(GREATEST(s.{{ m.name | ident }}, {{ m.low }}), {{ m.high }}) AS BIGINT) END AS m{{ loop.index }}
{% else %}
    , CASE WHEN LOWER(CAST(s.{{ m.name | ident }} AS text)) <> 'nan' THEN LEAST(GREATEST(CAST(ROUND(CAST(LEAST(GREATEST(s.{{ m.name | ident }}, {{ m.low }}), {{ m.high }}) AS double precision) / {{ m.unit }}) AS BIGINT), {{ m.least }}), {{ m.most }}) END AS m{{ loop.index }}
{% endif %}
{% endfor %}
FROM {{ source | table }} AS s
{% for d in dimensions %}
{% if d.groups %}
LEFT JOIN {{ d.groups | table }} AS g{{ loop.index }} ON g{{ loop.index }}.value = CAST(s.{{ d.name | ident }} AS text) COLLATE "C"
{% endif %}
{% endfor %}
WHERE {% for name in person %}{{ " AND " if not loop.first }}s.{{ name | ident }} IS NOT NULL{% endfor %}

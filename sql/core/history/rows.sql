-- name: history/rows
-- params: history (table to make), classed (table), groups ({table, key, group}), marked
--   (aliases whose values make a row what it is), sensitive (aliases), persons (aliases of
--   the numbers of counted identifiers), omitted (table of rows that are left out, or none)
-- returns: person text (keyed hash of the key), class bigint (as a reader sees it; NULL: left out), mark text
--   (keyed hash of the row's quasi and sensitive values, with :secret), s1.. (keyed hash of each sensitive
--   value), p1.. (of each number, which differs from version to version): no value can be read from it
{% macro canon(c) %}
COALESCE(
    CAST(LENGTH(CAST({{ c }} AS {{ dialect.text }})) AS {{ dialect.text }})
        || ':'
        || CAST({{ c }} AS {{ dialect.text }})
    , 'n'
)
{% endmacro %}
{% if hash is not defined %}
{% macro hash(text) %}SUBSTR(SHA256(:secret || {{ text }}), 1, 32){% endmacro %}
{% endif %}
{% macro columns(label) %}
SELECT
    k.person AS person
    , {{ label }} AS class
    , {% set row %}'/row/'{% for c in marked %} || {{ canon("k." ~ c) }}{% endfor %}{% endset %}{{ hash(row) }} AS mark
{% for c in sensitive %}
    , {{ hash("'/%d/' || %s" % (loop.index, canon("k." ~ c))) }} AS s{{ loop.index }}
{% endfor %}
{% for c in persons %}
    , {{ hash("'/%s/' || CAST(k.%s AS %s)" % (c, c, dialect.text)) }} AS {{ c }}
{% endfor %}
{% endmacro %}
CREATE {{ history | scratch }} AS
{{ columns('CAST(p.' ~ groups.group ~ ' AS BIGINT)') }}FROM {{ classed | table }} AS k
JOIN {{ groups.table | table }} AS p ON p.{{ groups.key }} = k.class
{% if omitted %}
UNION ALL
{{ columns('CAST(NULL AS BIGINT)') }}FROM {{ omitted | table }} AS k
{% endif %}

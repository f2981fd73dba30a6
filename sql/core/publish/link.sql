-- name: publish/link
-- params: linked (table to make), classed (table), groups ({table, key, group, dense (bool: the keys are 0, 1,
--   2, .., each once), alone (bool: no two classes publish the same)}), persons (aliases of the counted
--   identifiers' hashes), values (aliases of sensitive columns that are counted over persons), omitted (table
--   of rows that are left out, or none), link (alias of each column that it is the hash of, and whether that
--   is a listed text; none: the column link)
-- returns: link bigint (hash of a source row's identifying columns), class bigint (as a reader
--   sees it: classes that publish the same are one; NULL: left out), a number of each identifier
--   that is counted, a hash of each of values; private: it never leaves the private schema
{% if hashed is not defined %}
{% macro hashed(name) %}HASH(s.{{ name }}){% endmacro %}
{% endif %}
CREATE TABLE {{ linked | table }} AS
SELECT
    {{ link | link_of("s") }} AS link
    , {% block class %}
{{ "CAST(s.class AS BIGINT)" if groups.alone else "r." ~ groups.group }}
{% endblock %} AS class
{% for name in persons %}
    , s.{{ name }} AS {{ name }}
{% endfor %}
{% for name in values %}
    , {{ hashed(name) }} AS {{ name }}
{% endfor %}
FROM {{ classed | table }} AS s
{% block groups_joined %}
{% if not groups.alone %}
JOIN {{ groups.table | table }} AS r ON r.{{ groups.key }} = s.class
{% endif %}
{% endblock %}
{% if omitted %}
UNION ALL
SELECT
    {{ link | link_of("s") }} AS link
    , NULL AS class{% for name in persons %}, s.{{ name }} AS {{ name }}{% endfor %}

{% for name in values %}
    , {{ hashed(name) }} AS {{ name }}
{% endfor %}
FROM {{ omitted | table }} AS s
{% endif %}

-- name: audit/valued
-- params: valued (table to make), linked (a version's private table of link, class and persons), target
--   (the published table), persons (columns of linked), columns (list of {alias: column of linked with
--   hashes of a sensitive column, place: its number, name: that column in target, or none})
-- returns: class, persons, and each alias: the value that has the hash, or without a name
--   the hash; rows of a hash that no value has are not there
CREATE {{ valued | scratch }} AS
SELECT
    t.class AS class{% for name in persons %}, t.{{ name | ident }} AS {{ name | ident }}{% endfor %}

{% for c in columns %}
    , {{ "v%d.value" % c.place if c.name else "t." ~ (c.alias | ident) }} AS {{ c.alias | ident }}
{% endfor %}
FROM {{ linked | table }} AS t
{% for c in columns if c.name %}
JOIN (
    SELECT HASH(d.value) AS mark, d.value AS value
    FROM (SELECT DISTINCT r.{{ c.name | ident }} AS value FROM {{ target | table }} AS r) AS d
) AS v{{ c.place }} ON v{{ c.place }}.mark = t.{{ c.alias | ident }}
{% endfor %}

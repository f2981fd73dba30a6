-- name: publish/sensitive
-- params: physical (table to make), classed, released (tables), published (list of {source
--   (r: the group, s: a value, n: the count), column, name})
-- returns: the sensitive values of every group, and how often each occurs: sorted by all
--   of it, so that no order of the source's is left
CREATE TABLE {{ physical | table }} AS
SELECT
{% for c in published %}
    {{ ", " if not loop.first }}{{ "g.n" if c.source == "n" else "g." ~ (c.column | ident) }} AS {{ c.name | ident }}
{% endfor %}
FROM (
    SELECT
{% for c in published if c.source != "n" %}
        {{ "p" if c.source == "r" else "k" }}.{{ c.column | ident }} AS {{ c.column | ident }},
{% endfor %}
        COUNT(*) AS n
    FROM {{ classed | table }} AS k
    JOIN {{ released | table }} AS p ON p._sqlanon_class = k.class
    GROUP BY
{% for c in published if c.source != "n" %}
        {{ ", " if not loop.first }}{{ "p" if c.source == "r" else "k" }}.{{ c.column | ident }}
{% endfor %}
) AS g
ORDER BY
{% for c in published %}
    {{ ", " if not loop.first }}{{ "g.n" if c.source == "n" else "g." ~ (c.column | ident) ~ " NULLS FIRST" }}
{% endfor %}
-- name: verify/written
-- params: written (table to make), target (table), published (list of {source (r or s), name}), by_mark (bool)
-- returns: mark (a hash of the class columns, as verify/marks makes it), n bigint (rows),
--   total hugeint (the sum of their row hashes, see verify/fingerprint; by_mark: a hash of
--   the mark, n and the sum of the hashes of the kept columns): one row for every mark
{% set kept = published | selectattr("source", "equalto", "s") | list %}
CREATE {{ written | scratch }} AS
{% if by_mark %}
SELECT g.mark AS mark, g.n AS n, CAST(HASH(g.mark, g.n, CAST(g.total AS {{ dialect.text }})) AS HUGEINT) AS total
FROM (
{% endif %}
SELECT
    t.mark AS mark
    , COUNT(*) AS n
    , SUM(CAST(
{% if by_mark and not kept %}
        0
{% else %}
        {% block row %}HASH(
            {{ "t.mark" if not by_mark }}
{% for c in published if c.source == "s" %}
            {{ ", " if not (by_mark and loop.first) }}t.p{{ loop.index }}
{% endfor %}
        ){% endblock %}

{% endif %}
        AS HUGEINT
    )) AS total
FROM (
    SELECT
        HASH(
{% for c in published if c.source == "r" %}
            {{ ", " if not loop.first }}w.{{ c.name | ident }}
{% endfor %}
        ) AS mark
{% for c in kept %}
        , {% block kept_value scoped %}w.{{ c.name | ident }}{% endblock %} AS p{{ loop.index }}
{% endfor %}
    FROM {{ target | table }} AS w
) AS t
GROUP BY t.mark
{% if by_mark %}
) AS g
{% endif %}

-- name: history/failing
-- params: failing (table to make), sets (table), checks (list of {kind: rows, persons, frequency or distinct, p, q, value and within (columns)})
-- returns: person text: every row of a set that does not meet all that is asked
{% macro within(c) %}{% for name in c.within %}, t.{{ name }}{% endfor %}{% endmacro %}
{% macro names(c) %}{% for name in c.within %}, v.{{ name }}{% endfor %}{% endmacro %}
CREATE TEMPORARY TABLE {{ failing | table }} AS
SELECT s.person AS person
FROM {{ sets | table }} AS s
JOIN (
    SELECT f.place AS place, f.beside AS beside
    FROM (
{% for c in checks %}
        {{ "UNION ALL" if not loop.first }}
{% if c.kind == "rows" %}
        SELECT t.place AS place, t.beside AS beside FROM {{ sets | table }} AS t GROUP BY t.place, t.beside HAVING COUNT(*) < {{ c.p }}
{% elif c.kind == "persons" %}
        SELECT t.place AS place, t.beside AS beside FROM {{ sets | table }} AS t GROUP BY t.place, t.beside HAVING COUNT(DISTINCT t.{{ c.value }}) < {{ c.p }}
{% else %}
        SELECT v.place AS place, v.beside AS beside
        FROM (
            SELECT t.place AS place, t.beside AS beside{{ within(c) }}, COUNT(*) AS n
            FROM {{ sets | table }} AS t
            GROUP BY t.place, t.beside{{ within(c) }}, t.{{ c.value }}
        ) AS v
        GROUP BY v.place, v.beside{{ names(c) }}
        HAVING {{ "COUNT(*) < " ~ c.p if c.kind == "distinct" else "MAX(v.n) * " ~ c.p ~ " > SUM(v.n) * " ~ c.q }}
{% endif %}
{% endfor %}
    ) AS f
    GROUP BY f.place, f.beside
) AS b ON b.place = s.place AND b.beside = s.beside

-- name: statistics/verify_values
-- params: listed (table, as statistics/verify_person_rows makes it), patterns, atoms (tables),
--   columns (list of {levels}), classes (bool: atoms are parts, and the class is a further column)
-- returns: failing bigint: columns, by their levels, of which a pattern has several values, and no person has
SELECT
{% for c in columns %}
{% set i = loop.index %}
{% set outer = loop.first %}
{% for level in range(c.levels) %}
    {{ " + " if not (outer and loop.first) }}CASE
        WHEN k.d{{ i }}_{{ level }} > 0 AND r.d{{ i }}_{{ level }} = 0 THEN 1
        ELSE 0
    END
{% endfor %}
{% endfor %}
{% if classes %}
        + CASE WHEN k.classes > 0 AND r.classes = 0 THEN 1 ELSE 0 END
{% endif %}
        AS failing
FROM (
    SELECT
{% for c in columns %}
{% set i = loop.index %}
{% set outer = loop.first %}
{% for level in range(c.levels) %}
        {{ ", " if not (outer and loop.first) }}CAST(
            COALESCE(SUM(CASE WHEN g.lo{{ i }}_{{ level }} <> g.hi{{ i }}_{{ level }} THEN 1 ELSE 0 END), 0) AS BIGINT
        ) AS d{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
{% if classes %}
        , CAST(COALESCE(SUM(CASE WHEN g.first <> g.last THEN 1 ELSE 0 END), 0) AS BIGINT) AS classes
{% endif %}
    FROM (
        SELECT
            c.person AS person
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
            , MIN(a.v{{ i }}_{{ level }}) AS lo{{ i }}_{{ level }}
            , MAX(a.v{{ i }}_{{ level }}) AS hi{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
{% if classes %}
            , MIN(a.class) AS first
            , MAX(a.class) AS last
{% endif %}
        FROM {{ listed | table }} AS c
        JOIN {{ atoms | table }} AS a ON a.atom = c.atom
        GROUP BY c.person
    ) AS g
) AS r
CROSS JOIN (
    SELECT
{% for c in columns %}
{% set i = loop.index %}
{% set outer = loop.first %}
{% for level in range(c.levels) %}
        {{ ", " if not (outer and loop.first) }}CAST(
            COALESCE(SUM(CASE WHEN h.lo{{ i }}_{{ level }} <> h.hi{{ i }}_{{ level }} THEN 1 ELSE 0 END), 0) AS BIGINT
        ) AS d{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
{% if classes %}
        , CAST(COALESCE(SUM(CASE WHEN h.first <> h.last THEN 1 ELSE 0 END), 0) AS BIGINT) AS classes
{% endif %}
    FROM (
        SELECT
            p.pattern AS pattern
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
            , MIN(b.v{{ i }}_{{ level }}) AS lo{{ i }}_{{ level }}
            , MAX(b.v{{ i }}_{{ level }}) AS hi{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
{% if classes %}
            , MIN(b.class) AS first
            , MAX(b.class) AS last
{% endif %}
        FROM {{ patterns | table }} AS p
        JOIN {{ atoms | table }} AS b ON b.atom = p.atom
        GROUP BY p.pattern
    ) AS h
) AS k

-- name: recode/middle
-- params: middle (table to make), classed, domain (tables), column (code column), frequent (bool)
-- returns: class, code: the lower median of an ordered column, or the most frequent value of another (ties by bytes)
CREATE {{ middle | scratch }} AS
{% if frequent %}
SELECT r.class AS class, r.code AS code
FROM (
    SELECT c.class AS class, c.code AS code
        , ROW_NUMBER() OVER (PARTITION BY c.class ORDER BY c.n DESC, d.value NULLS FIRST) AS place
    FROM (
        SELECT w.class AS class, w.{{ column }} AS code, COUNT(*) AS n
        FROM {{ classed | table }} AS w
        GROUP BY w.class, w.{{ column }}
    ) AS c
    JOIN {{ domain | table }} AS d ON d.code = c.code
) AS r
WHERE r.place = 1
{% else %}
SELECT r.class AS class, r.code AS code
FROM (
    SELECT w.class AS class, w.{{ column }} AS code
        , ROW_NUMBER() OVER (PARTITION BY w.class ORDER BY w.{{ column }}, w.rid) AS place
        , COUNT(*) OVER (PARTITION BY w.class) AS n
    FROM {{ classed | table }} AS w
) AS r
WHERE 2 * r.place IN (r.n, r.n + 1)
{% endif %}

-- name: privacy/below_entropy
-- params: made (table to make), sizes (table of g1.., n, total), numbers (table of n, log), groups (columns
--   to name, of the first of places), places (all columns g1..), least (logarithm of l), error (of a row)
-- returns: the columns of groups: every group in which, for some combination of the other places,
--   total log total - sum of n log n is neither total times least nor beyond it by the error
CREATE {{ made | scratch }} AS
SELECT DISTINCT
{% for name in groups %}
    {{ ", " if not loop.first }}f.g{{ loop.index }} AS {{ name | ident }}
{% endfor %}
FROM (
    SELECT
{% for place in places %}
        e.{{ place }} AS {{ place }},
{% endfor %}
        e.total AS total
        , w.log AS log
        , e.own AS own
    FROM (
        SELECT
{% for place in places %}
            s.{{ place }} AS {{ place }},
{% endfor %}
            s.total AS total
            , SUM(s.n * v.log) AS own
        FROM {{ sizes | table }} AS s
        JOIN {{ numbers | table }} AS v ON v.n = s.n
        GROUP BY {% for place in places %}s.{{ place }}, {% endfor %}s.total
    ) AS e
    JOIN {{ numbers | table }} AS w ON w.n = e.total
) AS f
WHERE f.total * (f.log - CAST({{ least }} AS BIGINT)) - f.own <> 0
    AND f.total * (f.log - CAST({{ least }} AS BIGINT)) - f.own < f.total * CAST({{ error }} AS BIGINT)

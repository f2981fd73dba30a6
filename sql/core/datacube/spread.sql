-- name: datacube/spread
-- params: spread (table to make), runs, domain (tables), members (table or none)
-- returns: part, code, share: for every value that the source holds and the part may
--   cover, the share of the part's rows that has it
CREATE {{ spread | scratch }} AS
SELECT u.part AS part, u.code AS code, 1 / u.size AS share
FROM (
    SELECT
        r.part AS part
        , {% block series %}UNNEST(RANGE(CAST(r.low AS BIGINT), CAST(r.high AS BIGINT) + 1)){% endblock %} AS code
        , r.size AS size
    FROM {{ runs | table }} AS r
) AS u
JOIN {{ domain | table }} AS d ON d.code = u.code AND d.n > 0
{% if members %}
UNION ALL
SELECT m.part AS part, m.code AS code, 1 / m.size AS share
FROM {{ members | table }} AS m
{% endif %}

-- name: frozen/in_source
-- params: rows (the lineage's), stage (the source's rows, each with a key of its own), erased (table),
--   version, exact (bool: keys are compared, not numbers that are hashes of them, which takes twice as long)
-- returns: published bigint: rows of the source that the version publishes; early bigint: rows of the source whose
--   class left in this version, although none of its keys is erased; twice bigint: rows of the lineage more than keys
{% macro key(name) %}{% if exact %}{{ name }}{% else %}HASH({{ name }}){% endif %}{% endmacro %}
SELECT
    COUNT(CASE WHEN t.rid IS NOT NULL AND t.class IS NOT NULL AND t.gone IS NULL THEN 1 END) AS published
    , COUNT(CASE WHEN t.rid IS NOT NULL AND t.class IS NOT NULL AND t.gone = {{ version }} AND t.class NOT IN (
        SELECT x._sqlanon_class
        FROM {{ rows | table }} AS x
        JOIN {{ erased | table }} AS e ON e._sqlanon_key = x._sqlanon_key
        WHERE x._sqlanon_class IS NOT NULL
    ) THEN 1 END) AS early
    -- Of the keys that the source has: pairs more than the rows that it has of them. Of
    -- the others: rows more than keys.
    , COUNT(*) - (SELECT COUNT(*) FROM {{ stage | table }} AS n) - COUNT(DISTINCT t.away) AS twice
FROM (
    SELECT s.rid AS rid, l.class AS class, l.gone AS gone, CASE WHEN s.rid IS NULL THEN l.person END AS away
    FROM (
        SELECT {{ key("x._sqlanon_key") }} AS person, x._sqlanon_class AS class, x._sqlanon_gone AS gone
        FROM {{ rows | table }} AS x
    ) AS l
    FULL JOIN (
        SELECT {{ key("x.person") }} AS person, x.rid AS rid
        FROM {{ stage | table }} AS x
    ) AS s ON s.person = l.person
) AS t

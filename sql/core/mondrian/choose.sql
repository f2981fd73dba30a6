-- name: mondrian/choose
-- params: cuts (table to make), candidates (list of tables)
-- returns: part, dim, cut, n_left bigint: the first candidate of every partition by key1, key2, attribute, key3
CREATE {{ cuts | scratch }} AS
SELECT r.part AS part, r.dim AS dim, r.cut AS cut, r.n_left AS n_left
FROM (
    SELECT c.part AS part, c.dim AS dim, c.cut AS cut, c.n_left AS n_left
        , ROW_NUMBER() OVER (PARTITION BY c.part ORDER BY c.key1, c.key2, c.dim, c.key3) AS place
    FROM (
{% for table in candidates %}
        {{ "UNION ALL" if not loop.first }}
        SELECT
            t{{ loop.index }}.part AS part
            , t{{ loop.index }}.dim AS dim
            , t{{ loop.index }}.cut AS cut
            , t{{ loop.index }}.n_left AS n_left
            , t{{ loop.index }}.key1 AS key1, t{{ loop.index }}.key2 AS key2, t{{ loop.index }}.key3 AS key3
        FROM {{ table | table }} AS t{{ loop.index }}
{% endfor %}
    ) AS c
) AS r
WHERE r.place = 1

-- name: blocks/borders
-- params: keyed (table of rid and keys), keys (its key columns), blocks (how many)
-- returns: the keys, rid: by key, then by rid, the first row of each of so many equal
--   parts but the first part, in their order
SELECT {% for key in keys %}o.{{ key }} AS {{ key }}, {% endfor %}o.rid AS rid
FROM (
    SELECT
        k.rid AS rid
{% for key in keys %}
        , k.{{ key }} AS {{ key }}
{% endfor %}
        , ROW_NUMBER() OVER (ORDER BY {% for key in keys %}k.{{ key }}, {% endfor %}k.rid) - 1 AS place
        , COUNT(*) OVER () AS n
    FROM {{ keyed | table }} AS k
) AS o
WHERE o.place > 0 AND MOD(o.place * {{ blocks }}, o.n) < {{ blocks }}
ORDER BY place

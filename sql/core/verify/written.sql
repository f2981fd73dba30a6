-- name: verify/written
-- params: written (table to make), target (table), published (list of {source (r or s), name})
-- returns: mark (a hash of the class columns, as verify/marks makes it), n bigint (rows), total hugeint (the sum of their row hashes; see
--   verify/fingerprint): one row for every mark
CREATE {{ written | scratch }} AS
SELECT t.mark AS mark, COUNT(*) AS n, SUM(CAST(HASH(t.mark{% for c in published if c.source == "s" %}, t.p{{ loop.index }}{% endfor %}) AS HUGEINT)) AS total
FROM (
    SELECT HASH({% for c in published if c.source == "r" %}{{ ", " if not loop.first }}w.{{ c.name | ident }}{% endfor %}) AS mark{% for c in published if c.source == "s" %}, w.{{ c.name | ident }} AS p{{ loop.index }}{% endfor %}

    FROM {{ target | table }} AS w
) AS t
GROUP BY t.mark

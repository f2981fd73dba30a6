-- name: verify/staged
-- params: classed, marks (tables), published (list of {source (r or s), column})
-- returns: n bigint, mark text: the fingerprint that the staged rows must leave in the table (verify/fingerprint says how)
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(hash_numeric_extended(CAST(hash_record_extended(ROW(r.mark{% for c in published if c.source == "s" %}, s.{{ c.column | ident }}{% endfor %}), 0) AS numeric), 0)), 0) AS text) AS mark
FROM {{ classed | table }} AS s
JOIN {{ marks | table }} AS r ON r.class = s.class

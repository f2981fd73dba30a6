-- name: verify/population_matched
-- params: matched (table to make), people, groups (tables), pairs (tables of seen, said; one a quasi column)
-- returns: cell bigint, n bigint (rows of the population), grp bigint: the published cells
--   that each combination of values lies in
CREATE {{ matched | scratch }} AS
SELECT p.cell AS cell, p.n AS n, g._sqlanon_grp AS grp
FROM {{ people | table }} AS p
{% for table in pairs %}
JOIN {{ table | table }} AS m{{ loop.index }} ON m{{ loop.index }}.seen = p.seen{{ loop.index }}
{% endfor %}
JOIN {{ groups | table }} AS g ON
{% for table in pairs %}
    {{ " AND " if not loop.first }}g._sqlanon_said{{ loop.index }} = m{{ loop.index }}.said
{% endfor %}

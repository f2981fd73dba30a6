-- name: recode/sets
-- params: members (table to make), spans, domain (tables), column (code column), labels (table of code, label; or none)
-- returns: key bigint (a set of codes as bits), size bigint, members (array sorted by
--   bytes), label text (if labels), NULL left out
CREATE {{ members | scratch }} AS
SELECT
    p.key AS key
    , COUNT(*) AS size
    , ARRAY_AGG(d.value ORDER BY d.value) AS members
{% if labels %}
    , CASE
        WHEN COUNT(*) = 1 THEN MIN(l.label)
        ELSE '{' || STRING_AGG(l.label, ', ' ORDER BY d.value) || '}'
    END AS label
{% endif %}
FROM (SELECT DISTINCT s.set_{{ column }} AS key FROM {{ spans | table }} AS s) AS p
JOIN {{ domain | table }} AS d ON (p.key & (CAST(1 AS BIGINT) << CAST(d.code AS INTEGER))) <> 0
{% if labels %}
JOIN {{ labels | table }} AS l ON l.code = d.code
{% endif %}
WHERE d.value IS NOT NULL
GROUP BY p.key

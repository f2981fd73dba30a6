-- name: query/labels_of
-- params: view (table), column (an enum column of it)
-- returns: label text: every value of the enum's type, in its order; nothing is read of the rows
SELECT CAST(u.label AS TEXT) AS label
FROM (
    SELECT UNNEST(ENUM_RANGE(e.one)) AS label
    FROM (SELECT NULL AS one UNION ALL (SELECT v.{{ column | ident }} AS one FROM {{ view | table }} AS v LIMIT 0)) AS e
) AS u

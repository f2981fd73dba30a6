-- name: verify/of_written
-- params: written, marks, released (tables), names (all published QI-derived columns; verify/shared_marks counts them)
-- returns: n bigint, mark text: the fingerprint of the written table, as verify/fingerprint makes it; apart
--   boolean: every class has a mark of its own, so that the groups of a mark are those of the class columns
SELECT
    CAST(COALESCE(SUM(w.n), 0) AS BIGINT) AS n
    , CAST(COALESCE(SUM(w.total), 0) AS {{ dialect.text }}) AS mark
    , {% block apart %}(SELECT COUNT(DISTINCT m.mark) = COUNT(*) FROM {{ marks | table }} AS m){% endblock %} AS apart
FROM {{ written | table }} AS w
